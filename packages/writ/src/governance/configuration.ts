/** `writ.configuration`: values that contracts change, by scope and key. */
import { readJson } from '../database/gate.js';
import { type Page, type PageOptions, readPage } from '../database/listing.js';
import { WritRefusal } from '../errors/index.js';
import { type ActingHost, type Reading, tenantRead } from './actor.js';
import { nameOf } from './steps.js';

/** A value of a configuration. A scope without values is one row, whose key is null. */
export interface ConfigurationValue {
  readonly tenant_id: string;
  readonly scope: string;
  /** The capability whose health counts for it. */
  readonly owner_capability: string;
  /** The contract at work on the scope. */
  readonly held_by: string | null;
  readonly key: string | null;
  readonly value: unknown;
  readonly version: number | null;
  readonly updated_by: string | null;
  readonly updated_at: string | null;
}

const columns = `s.tenant_id, s.scope, s.owner_capability, s.held_by,
  v.key, v.value, v.version, v.updated_by, v.updated_at`;
const from = `writ.configuration_scope s
  left join writ.configuration v on v.tenant_id = s.tenant_id and v.scope = s.scope`;

export class Configuration {
  readonly #host: ActingHost;

  constructor(host: ActingHost) {
    this.#host = host;
  }

  /** Values by tenant, scope and key. */
  list(
    filter: Reading & PageOptions & { readonly scope?: string | undefined } = {},
  ): Promise<Page<ConfigurationValue>> {
    return readPage<ConfigurationValue>(
      this.#host.db,
      {
        columns,
        from,
        where: [
          ['s.tenant_id = ?', tenantRead(this.#host, filter)],
          ['s.scope = ?', filter.scope],
        ],
        key: [
          ['s.tenant_id', 'text'],
          ['s.scope', 'text'],
          [`coalesce(v.key, '')`, 'text'],
        ],
        order: 'asc',
      },
      filter,
    );
  }

  /** One value. */
  async get(scope: string, key: string, options: Reading = {}): Promise<ConfigurationValue> {
    const [found] = await readJson<ConfigurationValue>(
      this.#host.db,
      `select ${columns} from ${from} where s.tenant_id = $1 and s.scope = $2 and v.key = $3`,
      [tenantRead(this.#host, options) ?? 'default', nameOf(scope), nameOf(key)],
    );
    if (!found) throw new WritRefusal('unknown_target', `${scope}#${key}`);
    return found;
  }
}
