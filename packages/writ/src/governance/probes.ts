/** `writ.probes`: how the health of capabilities is found out. */
import { readJson } from '../database/gate.js';
import { type Page, type PageOptions, readPage } from '../database/listing.js';
import { WritRefusal } from '../errors/index.js';
import { refuseSecrets } from '../secrets/redaction.js';
import { type ActingHost, type In, put, type Reading, tenantRead } from './actor.js';
import type { Status } from './health.js';

export interface ProbeOptions {
  readonly name: string;
  readonly capability?: string | undefined;
  /** Workers ask the first three; the others wait for `report`. */
  readonly type?: 'http' | 'sql' | 'prometheus' | 'heartbeat' | 'reported' | undefined;
  readonly config?: Readonly<Record<string, unknown>> | undefined;
  readonly every_ms?: number | undefined;
  readonly timeout_ms?: number | undefined;
}

type AllOf<Options> = { readonly [Name in keyof Options]-?: NonNullable<Options[Name]> };

/** A probe with its last answer, as the view `probe` has it. */
export interface Probe extends AllOf<ProbeOptions> {
  readonly tenant_id: string;
  readonly status: Status | null;
  readonly detail: string | null;
  readonly checked_at: string | null;
  /** When a worker asks it again. */
  readonly due_at: string | null;
  readonly put_by: string;
  readonly put_at: string;
}

const numbers = ['below', 'above', 'warnBelow', 'warnAbove'] as const;

/** What each type reads of its config; the first have to be there. */
const configs: Readonly<
  Record<Probe['type'], readonly [must: readonly string[], may: readonly string[]]>
> = {
  http: [['url'], ['expect']],
  sql: [['query'], numbers],
  prometheus: [['url', 'query'], numbers],
  heartbeat: [[], []],
  reported: [[], []],
};

/** Refuses a config without what its type needs, or with what its type does not read. */
function checkConfig({ type, config = {} }: ProbeOptions): void {
  if (type === undefined || !Object.hasOwn(configs, type)) return; // the gate refuses it
  const [must, may] = configs[type];
  const missing = must.find((name) => config[name] === undefined);
  const unread = Object.keys(config).find((name) => ![...must, ...may].includes(name));
  if (missing !== undefined || unread !== undefined)
    throw new WritRefusal(
      'invalid_probe',
      `A probe of type ${type} ${missing ? `needs ${missing}` : `does not read ${unread}`}.`,
    );
}

export class Probes {
  readonly #host: ActingHost;

  constructor(host: ActingHost) {
    this.#host = host;
  }

  /** Probes by tenant and name. */
  list(
    filter: Reading & PageOptions & { readonly capability?: string | undefined } = {},
  ): Promise<Page<Probe>> {
    return readPage<Probe>(
      this.#host.db,
      {
        columns: 'p.*',
        from: 'writ.probe p',
        where: [
          ['p.tenant_id = ?', tenantRead(this.#host, filter)],
          ['p.capability = ?', filter.capability],
        ],
        key: [
          ['p.tenant_id', 'text'],
          ['p.name', 'text'],
        ],
        order: 'asc',
      },
      filter,
    );
  }

  async get(name: string, options: Reading = {}): Promise<Probe> {
    const [found] = await readJson<Probe>(
      this.#host.db,
      'select * from writ.probe where tenant_id = $1 and name = $2',
      [tenantRead(this.#host, options) ?? 'default', name],
    );
    if (!found) throw new WritRefusal('probe_not_found', name);
    return found;
  }

  /** Adds a probe of a capability, or changes it. */
  async put(probe: ProbeOptions, options: In = {}): Promise<void> {
    checkConfig(probe);
    await put(this.#host, 'fn_probe_put', probe, options);
  }

  /** Takes a probe away; its capability stays monitored. */
  async remove(name: string, options: In = {}): Promise<void> {
    await put(this.#host, 'fn_probe_put', { name, removed: true }, options);
  }

  /**
   * What a heartbeat, or somebody outside, says about a probe of type heartbeat or reported. For
   * principals with the right to report.
   */
  async report(
    name: string,
    status: Status,
    { detail, ...options }: In & { readonly detail?: string | undefined } = {},
  ): Promise<void> {
    refuseSecrets(detail, 'the detail');
    await put(this.#host, 'fn_probe_report', { name, status, detail }, options);
  }
}
