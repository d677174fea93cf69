/** `writ.principals`: who may act, and what each may do. */
import { type Acting, act } from '../database/acting.js';
import { readJson } from '../database/gate.js';
import { type Page, type PageOptions, readPage } from '../database/listing.js';
import { WritRefusal } from '../errors/index.js';
import { type ActingHost, type Reading, tenantRead } from './actor.js';
import { newKey, principal } from './keys.js';
import type { Right } from './rights.js';

export interface NewPrincipal {
  readonly id: string;
  readonly kind: 'person' | 'service' | 'agent';
  /** Of an agent: for whom it acts. */
  readonly onBehalfOf?: string | undefined;
  readonly rights?: readonly Right[] | undefined;
  /**
   * What it may have done by a governor: names that the actions of policies require. None unless
   * given.
   */
  readonly permissions?: readonly string[] | undefined;
  /** In one tenant only; in every one unless given. */
  readonly tenant?: string | undefined;
  /** What `newKey` made, where it has to be kept before it is valid; otherwise one is made here. */
  readonly key?: string | undefined;
}

export interface PrincipalChange {
  readonly rights?: readonly Right[] | undefined;
  /** All of them from now on. */
  readonly permissions?: readonly string[] | undefined;
  /** What `newKey` made: the one before is no longer valid. */
  readonly key?: string | undefined;
  readonly disabled?: boolean | undefined;
}

/** A principal, as the view `principal` has it. */
export interface KnownPrincipal {
  readonly principal_id: string;
  /** The one tenant that it may act in; null stands for every one. */
  readonly tenant_id: string | null;
  readonly kind: NewPrincipal['kind'];
  readonly on_behalf_of: string | null;
  readonly rights: readonly Right[];
  readonly public_key: string;
  readonly added_by: string;
  readonly added_at: string;
  readonly disabled_at: string | null;
  readonly permissions: readonly string[];
}

export class Principals {
  readonly #host: ActingHost;

  constructor(host: ActingHost) {
    this.#host = host;
  }

  /** Principals by name; of a tenant: those that may act in it. */
  list(
    filter: Reading & PageOptions & { readonly kind?: NewPrincipal['kind'] | undefined } = {},
  ): Promise<Page<KnownPrincipal>> {
    return readPage<KnownPrincipal>(
      this.#host.db,
      {
        columns: 'p.*',
        from: 'writ.principal p',
        where: [
          ['(p.tenant_id is null or p.tenant_id = ?)', tenantRead(this.#host, filter)],
          ['p.kind = ?', filter.kind],
        ],
        key: [['p.principal_id', 'text']],
        order: 'asc',
      },
      filter,
    );
  }

  async get(id: string): Promise<KnownPrincipal> {
    const sql = 'select * from writ.principal where principal_id = $1';
    const [found] = await readJson<KnownPrincipal>(this.#host.db, sql, [id]);
    if (!found) throw new WritRefusal('principal_not_found', id);
    return found;
  }

  /** Adds a principal and answers its key, which is shown once. */
  async add(
    { id, kind, onBehalfOf, tenant, key = newKey(id), ...rest }: NewPrincipal,
    options: Acting = {},
  ): Promise<string> {
    const about = { kind, on_behalf_of: onBehalfOf, tenant, ...rest };
    await this.#put({ principal_id: id, ...about, ...kept(id, key), new: true }, options);
    return key;
  }

  /**
   * Gives a principal other rights, permissions or another key, or says that it may no longer act.
   */
  async change(
    id: string,
    { key, ...change }: PrincipalChange,
    options: Acting = {},
  ): Promise<void> {
    const about = { ...change, ...(key !== undefined && kept(id, key)) };
    await this.#put({ principal_id: id, ...about, new: false }, options);
  }

  async #put(put: object, options: Acting): Promise<void> {
    const params = [JSON.stringify(put), options.actor ?? this.#host.actor];
    await act(this.#host, 'fn_principal_put($1::text::jsonb, $2)', params, options);
  }
}

/** What the database keeps of a key. */
function kept(id: string, key: string): { auth_sha256: string; public_key: string } {
  const { id: of, authSha256, publicKey } = principal(key);
  if (of !== id)
    throw new WritRefusal('invalid_principal', `this is a key for ${of}, and not for ${id}`);
  return { auth_sha256: authSha256, public_key: publicKey };
}
