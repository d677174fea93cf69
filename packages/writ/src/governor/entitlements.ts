/** What tenants are entitled to, and what they have used of it this month. */
import { readJson } from '../database/gate.js';
import { type Page, type PageOptions, readPage } from '../database/listing.js';
import { WritRefusal } from '../errors/index.js';
import { actAs, type In } from '../governance/actor.js';
import type { EntitlementStatus } from './events.js';
import type { Governors, GovernorsHost } from './governors.js';
import type { TenantEntitlement } from './rows.js';

export interface EntitlementChange {
  readonly entitlementId?: string | undefined;
  readonly status?: EntitlementStatus | undefined;
  readonly tier?: 'free' | 'starter' | 'professional' | 'enterprise' | undefined;
  /** Actions per UTC month; null: without limit; that of the tier unless given. */
  readonly quota?: number | null | undefined;
  readonly expiresAt?: Date | string | null | undefined;
  /**
   * When it was told, by the clock of the sender: what was told before that is not taken any more.
   */
  readonly toldAt?: Date | string | undefined;
}

const columns = `e.tenant_id, e.entitlement_id, e.status, e.tier, e.quota_limit, e.quota_used,
  e.expires_at, e.put_by, e.put_at`;

export class Entitlements {
  readonly #governors: Governors;
  readonly #host: GovernorsHost;

  constructor(governors: Governors, host: GovernorsHost) {
    this.#governors = governors;
    this.#host = host;
  }

  /** By tenant. */
  list({
    status,
    ...page
  }: { readonly status?: EntitlementStatus | undefined } & PageOptions = {}): Promise<
    Page<TenantEntitlement>
  > {
    return readPage(
      this.#host.db,
      {
        columns,
        from: 'writ.entitlement e',
        where: [['e.status = ?', status]],
        key: [['e.tenant_id', 'text']],
        order: 'asc',
      },
      page,
    );
  }

  /** What a tenant is entitled to. */
  async get(options: { readonly tenant?: string | undefined } = {}): Promise<TenantEntitlement> {
    const tenant = this.#governors.tenantOf(options);
    const [row] = await readJson<TenantEntitlement>(
      this.#host.db,
      `select ${columns} from writ.entitlement e where e.tenant_id = $1`,
      [tenant],
    );
    if (!row) throw new WritRefusal('entitlement_not_found', tenant);
    return row;
  }

  /**
   * What a tenant is entitled to from now on; what is left out stays. For principals with the right
   * to operate.
   */
  async put(change: EntitlementChange, options: In = {}): Promise<TenantEntitlement> {
    const { entitlementId, status, tier, quota, expiresAt, toldAt } = change;
    const tenant = this.#governors.tenantOf(options);
    const content = {
      ...(entitlementId !== undefined && { entitlement_id: entitlementId }),
      ...(status !== undefined && { status }),
      ...(tier !== undefined && { tier }),
      ...(quota !== undefined && { quota_limit: quota }),
      ...(expiresAt !== undefined && {
        expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
      }),
      ...(toldAt !== undefined && { told_at: new Date(toldAt).toISOString() }),
    };
    await actAs(
      this.#host,
      'fn_entitlement_put($1, $2::text::jsonb, $3)',
      [JSON.stringify(content), tenant],
      { ...options, tenant },
    );
    this.#governors.poke();
    return this.get({ tenant });
  }
}
