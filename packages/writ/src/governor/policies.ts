/**
 * The policies of governors: their versions, what a new one would change, publishing, withdrawing.
 */
import { readJson } from '../database/gate.js';
import type { Page, PageOptions } from '../database/listing.js';
import { WritRefusal } from '../errors/index.js';
import { plain } from '../errors/words.js';
import { actAs, type In } from '../governance/actor.js';
import { outOfBounds } from './decide/acts.js';
import type { Governors, GovernorsHost } from './governors.js';
import { policyHash, validatePolicy } from './policy.js';
import { changesOf, type PolicyChange, permissionsOf } from './policy-changes.js';
import type { ActionRule, GovernorPolicy, Parameters } from './policy-document.js';
import type { PublishedVersion } from './rows.js';
import { readWindow } from './window.js';

export interface Publishing extends In {
  /** It decides and writes receipts, and acts on nothing. */
  readonly shadow?: boolean | undefined;
  /** The newest version that the caller knows, 0 for none; another one refuses the call. */
  readonly version?: number | undefined;
}

export interface PolicyPreview {
  /** The newest version; null: none was published. */
  readonly before: PublishedVersion | null;
  readonly document: GovernorPolicy;
  readonly hash: string;
  readonly changes: readonly PolicyChange[];
  /** The newest version has the same document, and is a shadow or not as this one. */
  readonly same: boolean;
  /** Permissions that the principal of the policy may use now; null: there is no such principal. */
  readonly permissions: readonly string[] | null;
  /** Permissions that the policy needs and its principal does not have. */
  readonly missing_permissions: readonly string[];
}

const columns = `p.tenant_id, p.sku_id, p.governor_id, p.version, p.policy_id, p.shadow, p.hash,
  p.document, p.published_by, p.published_at`;

export class Policies {
  readonly #governors: Governors;
  readonly #host: GovernorsHost;

  constructor(governors: Governors, host: GovernorsHost) {
    this.#governors = governors;
    this.#host = host;
  }

  /** The versions of a governor's policy, the newest first. */
  async list(
    sku: string,
    { tenant, ...page }: { readonly tenant?: string | undefined } & PageOptions = {},
  ): Promise<Page<PublishedVersion>> {
    const { id } = await this.#governors.find({
      tenant: this.#governors.tenantOf({ tenant }),
      sku,
    });
    const newest = await this.#newest(id);
    return readWindow<PublishedVersion>(
      this.#host.db,
      {
        columns,
        from: 'writ.governor_policy p',
        where: [['p.governor_id = ?::uuid', id]],
        number: 'p.version',
        type: 'integer',
        last: newest?.version ?? 0,
      },
      page,
    );
  }

  /** The newest version of a governor's policy, or an older one. */
  async get(
    sku: string,
    {
      version,
      tenant,
    }: { readonly version?: number | undefined; readonly tenant?: string | undefined } = {},
  ): Promise<PublishedVersion> {
    const { id } = await this.#governors.find({
      tenant: this.#governors.tenantOf({ tenant }),
      sku,
    });
    const row = await this.#newest(id, version);
    if (!row) throw new WritRefusal('policy_not_found', this.#governors.tenantOf({ tenant }));
    return row;
  }

  /** Refuses a document that cannot be published. Needs no database. */
  async check(
    policy: unknown,
  ): Promise<{ readonly document: GovernorPolicy; readonly hash: string }> {
    const document = validatePolicy(policy);
    return { document, hash: policyHash(document) };
  }

  /** What publishing a policy would change, for a governor that need not be there yet. */
  async preview(
    sku: string,
    policy: unknown,
    {
      shadow = false,
      tenant: given,
    }: { readonly shadow?: boolean | undefined; readonly tenant?: string | undefined } = {},
  ): Promise<PolicyPreview> {
    const { document, hash } = await this.check(policy);
    const tenant = this.#governors.tenantOf({ tenant: given });
    const [row] = await readJson<{
      before: PublishedVersion | null;
      permissions: readonly string[] | null;
    }>(
      this.#host.db,
      `select (
           select to_json(v) from (
             select ${columns} from writ.governor_policy p
             where p.tenant_id = $1 and p.sku_id = $2 order by p.version desc limit 1) v
         ) as before, (
           select x.permissions from writ.principal x
           where x.principal_id = $3 and x.disabled_at is null and coalesce(x.tenant_id, $1) = $1
         ) as permissions`,
      [tenant, sku, document.principal],
    );
    const { before = null, permissions = null } = row ?? {};
    return {
      before,
      document,
      hash,
      changes: changesOf(before?.document ?? null, document),
      same: before?.document != null && before.hash === hash && before.shadow === shadow,
      permissions,
      missing_permissions: permissionsOf(document).filter(
        (permission) => !permissions?.includes(permission),
      ),
    };
  }

  /**
   * Publishes the next version of a policy; the governor is made if there is none. For principals
   * with the right to operate.
   */
  async publish(
    sku: string,
    policy: unknown,
    { shadow = false, ...options }: Publishing = {},
  ): Promise<{ readonly version: number; readonly duplicate?: true }> {
    const { document, hash } = await this.check(policy);
    await this.#governors.open({ tenant: this.#governors.tenantOf(options), sku });
    return this.#publish(sku, document.policy_id, document, hash, shadow, options);
  }

  /**
   * Takes the policy away: the governor acts on nothing any more, and what is in flight is undone.
   */
  async withdraw(
    sku: string,
    options: In & { readonly version?: number | undefined } = {},
  ): Promise<{ readonly version: number; readonly duplicate?: true }> {
    const { policy_id } = await this.get(sku, options.tenant ? { tenant: options.tenant } : {});
    return this.#publish(sku, policy_id, null, '0'.repeat(64), false, options);
  }

  /**
   * The parameters of an action that may be asked for so; refuses one that the policy does not
   * allow.
   */
  async allowed(
    sku: string,
    type: string,
    asked: Parameters = {},
    options: { readonly tenant?: string | undefined } = {},
  ): Promise<Parameters> {
    const { document } = await this.get(sku, options);
    const rule =
      document && Object.hasOwn(document.actions, type) ? document.actions[type] : undefined;
    if (!rule) {
      const known = Object.keys(document?.actions ?? {}).join(', ') || 'none';
      throw new WritRefusal(
        'action_not_allowed',
        plain(`the policy has no action ${type}; it has ${known}`),
      );
    }
    const parameters = { ...rule.parameters, ...asked };
    const [beyond] = outOfBounds(rule, parameters);
    if (beyond !== undefined)
      throw new WritRefusal(
        'action_not_allowed',
        plain(`${type} with ${beyond}=${parameters[beyond]}: ${boundOf(rule, beyond)}`),
      );
    return parameters;
  }

  async #newest(governorId: string, version?: number): Promise<PublishedVersion | undefined> {
    const [row] = await readJson<PublishedVersion>(
      this.#host.db,
      `select ${columns} from writ.governor_policy p
       where p.governor_id = $1 and ($2::text is null or p.version = $2::text::integer)
       order by p.version desc limit 1`,
      [governorId, version === undefined ? null : String(version)],
    );
    return row;
  }

  async #publish(
    sku: string,
    id: string,
    document: GovernorPolicy | null,
    hash: string,
    shadow: boolean,
    { version, ...options }: Publishing,
  ): Promise<{ readonly version: number; readonly duplicate?: true }> {
    const answer = await actAs<{ version: number; duplicate?: true }>(
      this.#host,
      `fn_governor_policy_publish($1, $2, $3, $4, $5::text::jsonb, $6, $7::text::boolean,
        $8::text::integer)`,
      [
        this.#governors.tenantOf(options),
        sku,
        id,
        document && JSON.stringify(document),
        hash,
        String(shadow),
        version === undefined ? null : String(version),
      ],
      options,
    );
    this.#governors.poke();
    return answer;
  }
}

/** What the policy says of a parameter. */
function boundOf({ bounds, parameters }: ActionRule, name: string): string {
  const bound = Object.hasOwn(bounds, name) ? bounds[name] : undefined;
  if (bound)
    return `the policy allows ${'in' in bound ? bound.in.join(', ') : `${bound.min} to ${bound.max}`}`;
  return Object.hasOwn(parameters, name)
    ? `the policy has ${name}=${parameters[name]}, without bounds`
    : 'the policy has no such parameter';
}
