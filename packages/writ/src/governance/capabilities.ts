/** `writ.capabilities`: what contracts can switch, and making it and configurations known. */
import { readJson } from '../database/gate.js';
import { type Page, type PageOptions, readPage } from '../database/listing.js';
import { WritRefusal } from '../errors/index.js';
import { type ActingHost, type In, put, type Reading, tenantRead } from './actor.js';
import { nameOf } from './steps.js';

export interface CapabilityItem {
  readonly capability_name?: string;
  readonly domain?: string;
  readonly lifecycle?: string;
  readonly monitored?: boolean;
  readonly frozen?: string | null;
  readonly disqualified?: string | null;
  readonly scope?: string;
  readonly owner_capability?: string;
  readonly values?: Readonly<Record<string, unknown>>;
}

/** A capability, as the view `capability` has it. */
export interface Capability {
  readonly tenant_id: string;
  readonly capability_name: string;
  readonly domain: string;
  readonly lifecycle: 'DISABLED' | 'PREVIEW' | 'LAUNCHED' | 'DEPRECATED';
  readonly version: number;
  readonly monitored: boolean;
  readonly frozen: string | null;
  readonly disqualified: string | null;
  readonly updated_by: string;
  readonly updated_at: string;
  /** The contract at work on it. */
  readonly held_by: string | null;
}

export class Capabilities {
  readonly #host: ActingHost;

  constructor(host: ActingHost) {
    this.#host = host;
  }

  /** Capabilities by tenant and name. */
  list(
    filter: Reading & PageOptions & { readonly domain?: string | undefined } = {},
  ): Promise<Page<Capability>> {
    return readPage<Capability>(
      this.#host.db,
      {
        columns: 'c.*',
        from: 'writ.capability c',
        where: [
          ['c.tenant_id = ?', tenantRead(this.#host, filter)],
          ['c.domain = ?', filter.domain],
        ],
        key: [
          ['c.tenant_id', 'text'],
          ['c.capability_name', 'text'],
        ],
        order: 'asc',
      },
      filter,
    );
  }

  async get(name: string, options: Reading = {}): Promise<Capability> {
    const [found] = await readJson<Capability>(
      this.#host.db,
      'select * from writ.capability where tenant_id = $1 and capability_name = $2',
      [tenantRead(this.#host, options) ?? 'default', nameOf(name)],
    );
    if (!found) throw new WritRefusal('unknown_target', name);
    return found;
  }

  /** Makes capabilities and configurations known. Values that exist are changed by contracts. */
  async put(items: readonly CapabilityItem[], options: In = {}): Promise<void> {
    for (const [n, item] of items.entries()) checkItem(item, `Item ${n + 1}`);
    await put(this.#host, 'fn_capability_put', items.map(namedItem), options);
  }
}

const fields = ['capability_name', 'domain', 'lifecycle', 'monitored', 'frozen', 'disqualified'];
const scopeFields = ['scope', 'owner_capability', 'values'];

/** Refuses an item without a name, or with something that nobody reads. */
function checkItem(item: CapabilityItem, which: string): void {
  if (typeof item !== 'object' || item === null) throw new WritRefusal('invalid_target', which);
  const isScope = item.scope !== undefined;
  const allowed = isScope ? scopeFields : fields;
  const unread = Object.entries(item).find(
    ([key, value]) => value !== undefined && !allowed.includes(key),
  )?.[0];
  if (unread !== undefined)
    throw new WritRefusal(
      'invalid_target',
      `${which} says ${unread}, which nobody reads. It may say ${allowed.join(', ')}.`,
    );
  if (!isScope && typeof item.capability_name !== 'string')
    throw new WritRefusal('invalid_target', `${which} has no name.`);
}

/** An item with its keys in the form in which they are compared. The other names are ASCII. */
const namedItem = ({ values, ...rest }: CapabilityItem): CapabilityItem => ({
  ...rest,
  ...(values && {
    values: Object.fromEntries(Object.entries(values).map(([key, value]) => [nameOf(key), value])),
  }),
});
