/**
 * A database as an export: whoever asks for a file of one gets the bytes that an export made now
 * would have. Verification reads it as it reads a folder, so there is one verification; and an
 * export is every file of it, written down.
 */
import type { Queryable } from '../database/connection.js';
import { readRows } from '../database/gate.js';
import { canonicalize } from './canonical.js';
import { systemLog } from './container.js';
import { contractsPerFile, type ExportedGovernance, governedPath, valuesPath } from './governed.js';
import {
  type ExportedGovernor,
  eventsPerFile,
  fileOf,
  governorPath,
  headerOf,
  parseGovernorPath,
} from './governor-events.js';
import { fromUtf8, utf8 } from './text.js';
import {
  decodeBundle,
  encodeBundle,
  logFolder,
  tilePath,
  tileWidth,
  tileWidthAt,
} from './tiles.js';
import type { Reader } from './verification/log.js';
import { exportFormat } from './verification/manifest.js';
import { segmentPath } from './verification/segment.js';

export interface LogHead {
  readonly log: string;
  readonly directory: string;
  readonly epoch: number;
  /** What its newest signed checkpoint covers: no more is exported. */
  readonly size: number;
  readonly note: string;
}

/** Of a contract `c`: it was signed, or is an instance of a template. */
const isGoverned = `(c.template_id is not null
  or exists (select from writ.contract_document d where d.contract_id = c.contract_id))`;

/**
 * Tiles and bundles that are fetched at a time: one by one, the way there and back would be most of
 * it.
 */
const ahead = 16;

export interface ReaderOptions {
  /** Whether sealed events, and those of governors, belong to it. */
  readonly events?: boolean | undefined;
  /** An export that may have what has been dropped here since. */
  readonly archive?: Reader | undefined;
}

export class DatabaseReader {
  readonly #db: Queryable;
  readonly #options: ReaderOptions;
  #heads: Promise<LogHead[]> | undefined;
  #last: Promise<number> | undefined;
  #first: Promise<number> | undefined;
  #governors: Promise<ExportedGovernor[]> | undefined;
  #governance: Promise<ExportedGovernance> | undefined;
  readonly #fetched = new Map<string, Promise<Map<number, Uint8Array>>>();

  constructor(db: Queryable, options: ReaderOptions = {}) {
    this.#db = db;
    this.#options = options;
  }

  /** The logs that have a signed checkpoint, as they were when first asked. */
  heads(): Promise<LogHead[]> {
    this.#heads ??= readRows(
      this.#db,
      // Whoever signs beside another may be the last to say so, and not the one who knows most.
      `select distinct on (log_id) log_id, epoch, size, note from writ.ledger_checkpoint order by log_id, epoch desc, size desc, checkpoint_no`,
    ).then((rows) =>
      rows.map((row) => ({
        log: String(row.log_id),
        directory: logFolder(String(row.log_id)),
        epoch: Number(row.epoch),
        size: Number(row.size),
        note: String(row.note),
      })),
    );
    return this.#heads;
  }

  /** The first segment whose rows are here, or in the archive. */
  async firstSegment(): Promise<number> {
    return (await this.#options.archive?.(segmentPath(1))) ? 1 : this.#firstHere();
  }

  /** The first whose rows are all within the retention of the record. */
  #firstHere(): Promise<number> {
    this.#first ??= readRows(this.#db, 'select writ.fn_ledger_first_segment() as first').then(
      ([row]) => Number(row?.first ?? Number.MAX_SAFE_INTEGER),
    );
    return this.#first;
  }

  /**
   * The last segment whose receipt the signed part of `_system` holds. It follows from the heads,
   * and every segment asks.
   */
  lastSegment(): Promise<number> {
    this.#last ??= this.#readLast();
    return this.#last;
  }

  async #readLast(): Promise<number> {
    const system = (await this.heads()).find(({ log }) => log === systemLog);
    const [row] = await readRows(
      this.#db,
      'select max(segment) as last from writ.event_seal where leaf_index < $1',
      [system?.size ?? 0],
    );
    return Number(row?.last ?? 0);
  }

  /**
   * The governors of these logs, and how many events each has: at least those whose receipts are
   * covered, because they are counted after.
   */
  governors(): Promise<ExportedGovernor[]> {
    this.#governors ??= this.#readGovernors();
    return this.#governors;
  }

  async #readGovernors(): Promise<ExportedGovernor[]> {
    const logs = (await this.heads()).map(({ log }) => log);
    const rows = await readRows(
      this.#db,
      `select g.governor_id::text as governor_id, g.tenant_id as tenant, g.sku_id as sku, g.events, e.event_seq as first, e.document is not null as whole
       from writ.governor g cross join lateral writ.fn_governor_events(g.governor_id, 0, 1) e where g.tenant_id = any ($1) order by 2, 3`,
      [logs],
    );
    return Promise.all(
      rows.map(async ({ governor_id, tenant, sku, events, first, whole }) => {
        const governor = {
          governor_id: String(governor_id),
          tenant: String(tenant),
          sku: String(sku),
          first: 1,
          events: Number(events),
        };
        return Number(first) === 1 && whole
          ? governor
          : { ...governor, first: await this.#firstEvent(governor, Number(first)) };
      }),
    );
  }

  /**
   * The first event of a file that is whole, here or in the archive, when months have been dropped
   * here.
   */
  async #firstEvent(governor: ExportedGovernor, here: number): Promise<number> {
    if (await this.#governor(governor, 1)) return 1;
    const last = fileOf(governor.events);
    for (let file = fileOf(here); file <= last; file++)
      if (await this.#governor(governor, file)) return (file - 1) * eventsPerFile + 1;
    return last * eventsPerFile + 1;
  }

  /** A file of a governor's events. */
  async #governor(governor: ExportedGovernor, file: number): Promise<Uint8Array | null> {
    const before = (file - 1) * eventsPerFile;
    const n = Math.min(eventsPerFile, governor.events - before);
    if (n < 1) return null;
    const rows = await readRows(
      this.#db,
      'select event_seq, document from writ.fn_governor_events($1, $2, $3)',
      [governor.governor_id, before, n],
    );
    const here = rows.filter(
      ({ event_seq, document }) => document !== null && Number(event_seq) <= before + n,
    );
    const missing = n - here.length;
    const lines = here.map(({ document }) => canonicalize(JSON.parse(String(document))));
    const archived = missing > 0 ? await this.#archived(governor, file, missing) : [];
    return (
      archived &&
      utf8([headerOf(governor), ...archived, ...lines].map((line) => `${line}\n`).join(''))
    );
  }

  /**
   * What has been dropped is at the beginning: a file of the archive has it, perhaps one that was
   * partial then.
   */
  async #archived(governor: ExportedGovernor, file: number, n: number): Promise<string[] | null> {
    for (const full of [true, false]) {
      const found = await this.#options.archive?.(governorPath(governor, file, full));
      const lines = found ? (fromUtf8(found) ?? '').split('\n').slice(1, -1) : [];
      if (lines.length >= n) return lines.slice(0, n);
    }
    return null;
  }

  /** The contracts of these logs that were signed, or are instances of a template, in files. */
  governance(): Promise<ExportedGovernance> {
    this.#governance ??= this.#readGovernance();
    return this.#governance;
  }

  async #readGovernance(): Promise<ExportedGovernance> {
    const rows = await readRows(
      this.#db,
      `select x.contract_id::text as first
       from (
         select c.contract_id, row_number() over (order by c.contract_id) as n
         from writ.system_contracts c
         where c.tenant_id = any ($1) and ${isGoverned}
       ) x
       where (x.n - 1) % $2 = 0
       order by x.n`,
      [(await this.heads()).map(({ log }) => log), contractsPerFile],
    );
    return { contracts: rows.map(({ first }) => String(first)) };
  }

  /** A file of contracts: what was signed of each, and how it was filled in. */
  async #contracts(file: number): Promise<Uint8Array | null> {
    const { contracts } = await this.governance();
    const first = contracts[file - 1];
    if (first === undefined) return null;
    const rows = await readRows(
      this.#db,
      `select jsonb_build_object(
         'contract', c.contract_id, 'params', c.template_params,
         'pre_state', (select jsonb_object_agg(p.key, p.value::text) from jsonb_each(case when jsonb_typeof(c.pre_state::jsonb) = 'object' then c.pre_state::jsonb end) p),
         'documents', (
           select coalesce(jsonb_agg(d.document order by d.kept_at, d.hash), '[]')
           from writ.contract_document d where d.contract_id = c.contract_id)
       )::text as line
       from writ.system_contracts c
       where c.tenant_id = any ($1) and c.contract_id >= $2 and ($3::uuid is null or c.contract_id < $3) and ${isGoverned}
       order by c.contract_id`,
      [(await this.heads()).map(({ log }) => log), first, contracts[file] ?? null],
    );
    return utf8(rows.map(({ line }) => `${line}\n`).join(''));
  }

  /** The governed values of the database. `later`: a receipt behind the checkpoint is about it. */
  async #values(): Promise<Uint8Array> {
    const heads = await this.heads();
    const rows = await readRows(
      this.#db,
      `with head as (
         select h.log, h.size, k.at
         from unnest($1::text[], $2::bigint[]) h(log, size)
         cross join lateral (
           select min(c.at) - interval '1 day' as at
           from writ.ledger_checkpoint c where c.log_id = h.log and c.size = h.size) k
       ), later as (
         select distinct r.log_id as tenant, s.slot
         from head h
         join writ.receipt r on r.log_id = h.log and r.at >= h.at
         cross join lateral (
           select r.receipt #>> '{context,slot}' as slot
           where r.receipt ->> 'reason' in ('change_applied', 'change_reverted', 'rollback_conflict')
           union all
           select r.receipt #>> '{context,name}'
           where r.receipt ->> 'reason' = 'control_changed' and r.receipt #> '{context,was}' is null
             and r.receipt #>> '{context,control}' = 'capability'
           union all
           select v.scope || '#' || v.key from writ.configuration v
           where r.receipt ->> 'reason' = 'control_changed' and r.receipt #> '{context,was}' is null
             and r.receipt #>> '{context,control}' = 'configuration_scope'
             and v.tenant_id = r.log_id and v.scope = r.receipt #>> '{context,name}'
         ) s
         where r.leaf_index is null or r.leaf_index >= h.size
       ), value as (
         select c.tenant_id as tenant, c.capability_name as slot, to_jsonb(c.lifecycle) as value
         from writ.capability c
         union all
         select v.tenant_id, v.scope || '#' || v.key, v.value from writ.configuration v
       )
       select jsonb_strip_nulls(jsonb_build_object(
         'tenant', coalesce(v.tenant, l.tenant), 'slot', coalesce(v.slot, l.slot),
         'state', case when v.slot is not null then jsonb_build_object(v.slot, v.value)::text end, 'later', case when l.slot is not null then true end
       ))::text as line
       from value v
       full join later l on l.tenant = v.tenant and l.slot = v.slot
       where coalesce(v.tenant, l.tenant) = any ($1)
       order by coalesce(v.tenant, l.tenant), coalesce(v.slot, l.slot)`,
      [heads.map(({ log }) => log), heads.map(({ size }) => size)],
    );
    return utf8(rows.map(({ line }) => `${line}\n`).join(''));
  }

  /** The bytes of a file; null if an export would not have it. */
  async read(path: string): Promise<Uint8Array | null> {
    if (path === 'export.json') return utf8(JSON.stringify(await this.#description(), null, 2));
    const segment = /^events\/(\d{9,})\.(jsonl|hashes|runs\.jsonl)$/.exec(path);
    if (segment)
      return this.#options.events ? this.#segment(Number(segment[1]), segment[2] as 'jsonl') : null;
    const events = parseGovernorPath(path);
    if (events) {
      const { tenant, sku, file, full } = events;
      const governor = this.#options.events
        ? (await this.governors()).find((one) => one.tenant === tenant && one.sku === sku)
        : undefined;
      return governor && full === file * eventsPerFile <= governor.events
        ? this.#governor(governor, file)
        : null;
    }
    if (path === valuesPath) return this.#values();
    const contracts = /^governance\/(\d{9,})\.jsonl$/.exec(path);
    if (contracts)
      return path === governedPath(Number(contracts[1]))
        ? this.#contracts(Number(contracts[1]))
        : null;
    const head = (await this.heads()).find(({ directory }) => path.startsWith(`${directory}/`));
    if (!head) return null;
    const file = path.slice(head.directory.length + 1);
    if (file === 'checkpoint') return utf8(head.note);
    const tile = /^tile\/(entries|\d+)\/((?:x\d{3}\/)*\d{3})(?:\.p\/(\d+))?$/.exec(file);
    if (!tile) return null;
    const level = tile[1] === 'entries' ? 'entries' : Number(tile[1]);
    const index = Number(tile[2]?.replaceAll(/\D/g, ''));
    const width = tileWidthAt(level === 'entries' ? 0 : level, index, head.size);
    if (width === 0 || file !== tilePath(level, index, width)) return null;
    return this.#tile(head, level, index, width);
  }

  async #tile(
    head: LogHead,
    level: number | 'entries',
    index: number,
    width: number,
  ): Promise<Uint8Array | null> {
    const { log, size } = head;
    const first = Math.floor(index / ahead) * ahead;
    const key = `${log} ${level} ${first}`;
    let fetching = this.#fetched.get(key);
    if (!fetching) {
      // Read once, mostly in order: what was fetched before the last few is not asked for again.
      if (this.#fetched.size > 8) this.#fetched.delete(this.#fetched.keys().next().value as string);
      fetching = this.#fetch(
        head,
        level,
        first * tileWidth,
        Math.min(
          (first + ahead) * tileWidth,
          Math.floor(size / (level === 'entries' ? 1 : tileWidth ** level)),
        ),
      );
      this.#fetched.set(key, fetching);
    }
    const bytes = (await fetching).get(index);
    return bytes && level !== 'entries' && bytes.length !== width * 32 ? null : (bytes ?? null);
  }

  async #fetch(
    { log, directory }: LogHead,
    level: number | 'entries',
    from: number,
    end: number,
  ): Promise<Map<number, Uint8Array>> {
    const tiles = new Map<number, Uint8Array>();
    if (level === 'entries') {
      const rows = await readRows(
        this.#db,
        'select leaf_index / 256 as tile, array_agg(entry order by leaf_index) as entries from writ.ledger_entry where log_id = $1 and leaf_index >= $2 and leaf_index < $3 group by 1',
        [log, from, end],
      );
      for (const row of rows) {
        const bundle = await this.#bundle(
          directory,
          Number(row.tile),
          row.entries as (string | null)[],
        );
        if (bundle) tiles.set(Number(row.tile), bundle);
      }
      return tiles;
    }
    const rows =
      level === 0
        ? await readRows(
            this.#db,
            `select leaf_index / 256 as tile, string_agg(leaf_hash, ''::bytea order by leaf_index) as hashes from writ.ledger_entry_hash where log_id = $1 and leaf_index >= $2 and leaf_index < $3 group by 1`,
            [log, from, end],
          )
        : await readRows(
            this.#db,
            `select node_index / 256 as tile, string_agg(hash, ''::bytea order by node_index) as hashes from writ.ledger_node where log_id = $1 and level = $4 and node_index >= $2 and node_index < $3 group by 1`,
            [log, from, end, level * 8],
          );
    for (const row of rows) tiles.set(Number(row.tile), new Uint8Array(row.hashes as Buffer));
    return tiles;
  }

  /**
   * Entries that have been dropped are at the beginning: a bundle of the archive has them, perhaps
   * one that was partial then.
   */
  async #bundle(
    directory: string,
    index: number,
    entries: readonly (string | null)[],
  ): Promise<Uint8Array | null> {
    const missing = entries.lastIndexOf(null) + 1;
    const here = entries.slice(missing).map((entry) => utf8(entry as string));
    if (missing === 0) return encodeBundle(here);
    for (let width = tileWidth; width >= missing && this.#options.archive; width--) {
      const found = await this.#options.archive(
        `${directory}/${tilePath('entries', index, width)}`,
      );
      if (found) return encodeBundle([...decodeBundle(found).slice(0, missing), ...here]);
    }
    return null;
  }

  async #segment(
    segment: number,
    what: 'jsonl' | 'hashes' | 'runs.jsonl',
  ): Promise<Uint8Array | null> {
    if (segment < 1 || segment > (await this.lastSegment())) return null;
    if (what === 'hashes') {
      const [row] = await readRows(
        this.#db,
        'select leaves from writ.event_seal where segment = $1',
        [segment],
      );
      return row ? new Uint8Array(row.leaves as Buffer) : null;
    }
    // Past the retention only the archive has all of it; within, a row that is missing here was
    // taken away, and that has to show.
    if (segment < (await this.#firstHere()))
      return (await this.#options.archive?.(segmentPath(segment, what))) ?? null;
    if (what === 'runs.jsonl') {
      const events = await readRows(
        this.#db,
        'select kept, document from writ.fn_ledger_segment_runs($1)',
        [segment],
      );
      const lines = events.map(({ kept, document }) => String(document ?? (kept ? '' : 'null')));
      const archive = lines.includes('null')
        ? await this.#options.archive?.(segmentPath(segment, what))
        : null;
      const archived = archive ? (fromUtf8(archive) ?? '').split('\n') : [];
      return utf8(
        lines.map((line, at) => `${line === 'null' ? archived[at] || line : line}\n`).join(''),
      );
    }
    const rows = await readRows(this.#db, 'select document from writ.fn_ledger_segment($1)', [
      segment,
    ]);
    return utf8(rows.map(({ document }) => `${document}\n`).join(''));
  }

  async #description(): Promise<object> {
    const heads = await this.heads();
    const last = this.#options.events ? await this.lastSegment() : 0;
    const first = last > 0 ? await this.firstSegment() : 1;
    const keys = await readRows(this.#db, 'select key from writ.ledger_key order by key_no');
    const origin = heads.find(({ log }) => log === systemLog)?.note.split('\n')[0] ?? '';
    return {
      format: exportFormat,
      deployment: origin.replace(/\/[^/]*\/[^/]*$/, ''),
      exported_at: new Date().toISOString(),
      keys: keys.map(({ key }) => key),
      logs: heads.map(({ log, directory, epoch, size }) => ({ log, directory, epoch, size })),
      segments: last >= first ? { first, last } : null,
      governors: this.#options.events ? await this.governors() : null,
      governance: await this.governance(),
    };
  }
}
