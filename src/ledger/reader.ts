/**
 * A database as an export: whoever asks for a file of one gets the bytes that an export made now would have. Verification reads it as it reads a folder, so
 * there is one verification; and an export is every file of it, written down.
 */
import type { Queryable } from '../database/connection.js';
import { readRows } from '../database/gate.js';
import { systemLog } from './container.js';
import { utf8 } from './text.js';
import { decodeBundle, encodeBundle, logFolder, tilePath, tileWidth, tileWidthAt } from './tiles.js';
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

/** Tiles and bundles that are fetched at a time: one by one, the way there and back would be most of it. */
const ahead = 16;

export interface ReaderOptions {
  /** Whether sealed events belong to it. */
  readonly events?: boolean;
  /** An export that may have what has been dropped here since. */
  readonly archive?: Reader;
}

export class DatabaseReader {
  readonly #db: Queryable;
  readonly #options: ReaderOptions;
  #heads: Promise<LogHead[]> | undefined;
  #first: Promise<number> | undefined;
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
    this.#first ??= readRows(this.#db, 'select writ.fn_ledger_first_segment() as first').then(([row]) =>
      Number(row?.first ?? Number.MAX_SAFE_INTEGER),
    );
    return this.#first;
  }

  /** The last segment whose receipt the signed part of `_system` holds. */
  async lastSegment(): Promise<number> {
    const system = (await this.heads()).find(({ log }) => log === systemLog);
    const [row] = await readRows(this.#db, 'select max(segment) as last from writ.event_seal where leaf_index < $1', [system?.size ?? 0]);
    return Number(row?.last ?? 0);
  }

  /** The bytes of a file; null if an export would not have it. */
  async read(path: string): Promise<Uint8Array | null> {
    if (path === 'export.json') return utf8(JSON.stringify(await this.#description(), null, 2));
    const segment = /^events\/(\d{9,})\.(jsonl|hashes|runs\.jsonl)$/.exec(path);
    if (segment) return this.#options.events ? this.#segment(Number(segment[1]), segment[2] as 'jsonl') : null;
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

  async #tile(head: LogHead, level: number | 'entries', index: number, width: number): Promise<Uint8Array | null> {
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
        Math.min((first + ahead) * tileWidth, Math.floor(size / (level === 'entries' ? 1 : tileWidth ** level))),
      );
      this.#fetched.set(key, fetching);
    }
    const bytes = (await fetching).get(index);
    return bytes && level !== 'entries' && bytes.length !== width * 32 ? null : (bytes ?? null);
  }

  async #fetch({ log, directory }: LogHead, level: number | 'entries', from: number, end: number): Promise<Map<number, Uint8Array>> {
    const tiles = new Map<number, Uint8Array>();
    if (level === 'entries') {
      const rows = await readRows(
        this.#db,
        'select leaf_index / 256 as tile, array_agg(entry order by leaf_index) as entries from writ.ledger_entry where log_id = $1 and leaf_index >= $2 and leaf_index < $3 group by 1',
        [log, from, end],
      );
      for (const row of rows) {
        const bundle = await this.#bundle(directory, Number(row.tile), row.entries as (string | null)[]);
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

  /** Entries that have been dropped are at the beginning: a bundle of the archive has them, perhaps one that was partial then. */
  async #bundle(directory: string, index: number, entries: readonly (string | null)[]): Promise<Uint8Array | null> {
    const missing = entries.lastIndexOf(null) + 1;
    const here = entries.slice(missing).map((entry) => utf8(entry as string));
    if (missing === 0) return encodeBundle(here);
    for (let width = tileWidth; width >= missing && this.#options.archive; width--) {
      const found = await this.#options.archive(`${directory}/${tilePath('entries', index, width)}`);
      if (found) return encodeBundle([...decodeBundle(found).slice(0, missing), ...here]);
    }
    return null;
  }

  async #segment(segment: number, what: 'jsonl' | 'hashes' | 'runs.jsonl'): Promise<Uint8Array | null> {
    if (segment < 1 || segment > (await this.lastSegment())) return null;
    if (what === 'hashes') {
      const [row] = await readRows(this.#db, 'select leaves from writ.event_seal where segment = $1', [segment]);
      return row ? new Uint8Array(row.leaves as Buffer) : null;
    }
    // Past the retention only the archive has all of it; within, a row that is missing here was taken away, and that has to show.
    if (segment < (await this.#firstHere())) return (await this.#options.archive?.(segmentPath(segment, what))) ?? null;
    if (what === 'runs.jsonl') {
      const events = await readRows(this.#db, 'select kept, document from writ.fn_ledger_segment_runs($1)', [segment]);
      return utf8(events.map(({ kept, document }) => `${document ?? (kept ? '' : 'null')}\n`).join(''));
    }
    const rows = await readRows(this.#db, 'select document from writ.fn_ledger_segment($1)', [segment]);
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
    };
  }
}
