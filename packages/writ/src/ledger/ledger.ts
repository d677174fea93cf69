/**
 * `writ.ledger`: signing, checking, proving and handing out the ledger of this database. Reading
 * needs the role writ_auditor, the rest workflow_admin.
 */
import { type Acting, act, actorOf, type Host, tenantOf } from '../database/acting.js';
import type { Queryable } from '../database/connection.js';
import { gate, readJson } from '../database/gate.js';
import { type Page, type PageOptions, readPage } from '../database/listing.js';
import { isUuid } from '../database/uuid.js';
import { WritRefusal } from '../errors/index.js';
import {
  type AcceptedRestore,
  acceptRestore,
  assertNotOlder,
  type Comparison,
  compare,
  type Published,
  publishCheckpoints,
  recordArchive,
  rotateKey,
} from './checkpoints.js';
import { type Exported, type ExportProgress, folderReader, writeExport } from './exports.js';
import { parsePrivateKey, parsePublicKey } from './note.js';
import { placeOf } from './places.js';
import type { EventProof, GrowthProof, ReceiptProof } from './proofs.js';
import { Prover } from './prover.js';
import { DatabaseReader } from './reader.js';
import { type ListedReceipt, listReceipts, type ReceiptFilter, readReceipt } from './receipts.js';
import { nodeSha256 } from './sha256.js';
import type { Verdict } from './verdict.js';
import { type VerifyOptions, verifyExport } from './verify.js';

export interface Outside {
  /** Places that keep a checkpoint outside: paths or http addresses. */
  readonly places: readonly string[];
  /** Public keys of this deployment. */
  readonly keys: readonly string[];
}

/** How far the ledger is, and what waits. Ages are in seconds. */
export interface LedgerStatus {
  /** Receipts that are not in their log yet; at most about a hundred thousand are counted. */
  readonly waiting: number;
  readonly waiting_s: number | null;
  readonly sealing: boolean;
  readonly segments: number;
  readonly unsealed: number;
  readonly unsealed_s: number | null;
  readonly signed_epoch: number | null;
  readonly signed_size: number | null;
  readonly signed_at: string | null;
  readonly signed_s: number | null;
  readonly key: string | null;
  /** The first month that receipts could not go into. */
  readonly months_until: string;
  readonly months_s: number;
}

export interface ListedLog {
  readonly log: string;
  readonly epoch: number;
  readonly size: number;
  /** What its newest checkpoint covers. */
  readonly signed: number | null;
  readonly signed_s: number | null;
}

export interface ListedCheckpoint {
  readonly log: string;
  readonly epoch: number;
  readonly size: number;
  readonly root: string;
  readonly note: string;
  readonly at: string;
}

/** A month of receipts, as an export would archive it. */
export interface LedgerMonth {
  readonly receipts: number;
  /** Of these, how many the exported checkpoints do not cover. */
  readonly uncovered: number;
  readonly droppedFrom: string;
}

export const ledgerStatus = (db: Queryable): Promise<LedgerStatus> =>
  gate<LedgerStatus>(db, 'fn_ledger_health()', []);

export class Ledger {
  readonly #host: Host;
  readonly #db: Queryable;
  readonly #actor: string;

  constructor(host: Host) {
    this.#host = host;
    this.#db = host.db;
    this.#actor = host.actor;
  }

  /** How far the ledger is signed and sealed, and what waits. */
  status(): Promise<LedgerStatus> {
    return ledgerStatus(this.#db);
  }

  /** The log of the deployment, then the largest first. */
  logs(
    options: PageOptions & { readonly tenant?: string | undefined } = {},
  ): Promise<Page<ListedLog>> {
    return readPage<ListedLog>(
      this.#db,
      {
        columns: `l.log_id as log, l.epoch, l.size, c.size as signed,
          extract(epoch from writ.now() - c.at) as signed_s`,
        from: `writ.ledger_log l
          left join lateral (
            select k.size, k.at from writ.ledger_checkpoint k
            where k.log_id = l.log_id order by k.checkpoint_no desc limit 1) c on true`,
        where: [['l.log_id = ?', tenantOf(this.#host, options)]],
        key: [
          [`(l.log_id = '_system')`, 'boolean'],
          ['l.size', 'bigint'],
          ['l.log_id', 'text'],
        ],
      },
      options,
    );
  }

  /** Signed checkpoints, the newest first. */
  checkpoints(
    options: PageOptions & { readonly log?: string | undefined } = {},
  ): Promise<Page<ListedCheckpoint>> {
    return readPage<ListedCheckpoint>(
      this.#db,
      {
        columns: 'log_id as log, epoch, size, root, note, at',
        from: 'writ.ledger_checkpoint',
        where: [['log_id = ?', options.log ?? this.#host.tenant]],
        key: [['checkpoint_no', 'bigint']],
      },
      options,
    );
  }

  /** Receipts by tenant, subject, person, reason and time, the newest first. */
  receipts(filter: ReceiptFilter = {}): Promise<Page<ListedReceipt>> {
    const tenant = tenantOf(this.#host, filter);
    return listReceipts(this.#db, { ...filter, ...(tenant !== undefined && { tenant }) });
  }

  receipt(
    receiptId: string,
    options: { readonly tenant?: string | undefined } = {},
  ): Promise<ListedReceipt> {
    return readReceipt(this.#db, receiptId, tenantOf(this.#host, options));
  }

  /** Compares the database with each place that holds a checkpoint. */
  async compare({ places, keys }: Outside): Promise<Comparison[]> {
    const known = keys.map(parsePublicKey);
    const compared: Comparison[] = [];
    for (const place of places.map(placeOf)) {
      const one = await compare(this.#db, place, known);
      if (one) compared.push(one);
    }
    return compared;
  }

  /** How many receipts of a month (YYYY-MM) there are, and how many of them an export has. */
  async month(month: string, exported: Pick<Exported, 'logs'>): Promise<LedgerMonth> {
    const [row] = await readJson<LedgerMonth>(
      this.#db,
      `with month as (select ($1 || '-01')::date as first)
       select count(r.log_id) as receipts,
         count(r.log_id) filter (
           where r.leaf_index is null or r.leaf_index >= coalesce(h.size, 0)) as uncovered,
         to_char((m.first + interval '1 month') + (
             select (value #>> '{}')::integer from writ.dot_config
             where key = 'ledger.retention.receipts_days') * interval '1 day',
           'YYYY-MM-DD') as "droppedFrom"
       from month m
       left join writ.receipt r
         on r.at >= m.first::timestamp at time zone 'UTC'
         and r.at < (m.first + interval '1 month') at time zone 'UTC'
       left join unnest($2::text[], $3::bigint[]) h(log, size) on h.log = r.log_id
       group by m.first`,
      [month, exported.logs.map(({ log }) => log), exported.logs.map(({ size }) => size)],
    );
    return row as LedgerMonth;
  }

  /** The reader of this database as an export; `verify` and `export` go by it. */
  reader(
    options: { readonly events?: boolean | undefined; readonly archive?: string | undefined } = {},
  ): DatabaseReader {
    return new DatabaseReader(this.#db, {
      events: options.events ?? true,
      ...(options.archive !== undefined && { archive: folderReader(options.archive) }),
    });
  }

  /**
   * Signs what there is, and publishes it. `key` is the text of the private key's file. A tree is
   * stored and published once, however often this is called, so it needs no `once`.
   */
  checkpoint(options: {
    key: string;
    places: readonly string[];
    trusted?: readonly string[];
  }): Promise<Published[]> {
    return publishCheckpoints(this.#db, {
      key: parsePrivateKey(options.key),
      places: options.places.map(placeOf),
      actor: this.#actor,
      trusted: (options.trusted ?? []).map(parsePublicKey),
    });
  }

  /** Puts a new key in the place of the one that signs now; both sign that. */
  rotateKey(keys: { old: string; next: string }, options: Acting = {}): Promise<void> {
    return rotateKey(
      this.#host,
      { old: parsePrivateKey(keys.old), next: parsePrivateKey(keys.next) },
      options,
    );
  }

  /** Throws unless this database has everything that is known outside. */
  async assertNotOlder({ places, keys }: Outside): Promise<void> {
    await assertNotOlder(this.#db, places.map(placeOf), keys.map(parsePublicKey));
  }

  /**
   * Goes on with a restored database, on the record. `key` is the text of the private key's file,
   * which signs the acceptance.
   */
  acceptRestore(
    { places, keys, reason, key }: Outside & { reason: string; key: string },
    options: Acting = {},
  ): Promise<AcceptedRestore> {
    return acceptRestore(this.#host, {
      ...options,
      places: places.map(placeOf),
      keys: keys.map(parsePublicKey),
      key: parsePrivateKey(key),
      reason,
    });
  }

  /**
   * Allows a month of receipts (YYYY-MM) to be dropped once its retention has passed: `exported` is
   * in `place`, and the key signs that. Verify the export first.
   */
  archived(
    archive: { key: string; month: string; place: string; exported: Exported },
    options: Acting = {},
  ): Promise<{ month: string }> {
    const key = parsePrivateKey(archive.key);
    return recordArchive(this.#host, { ...options, ...archive, key });
  }

  /**
   * Checks the ledger as the database has it now, up to its newest signed checkpoints: the same
   * check as that of an export. `archive` is a folder of an export that has what has been dropped
   * here.
   */
  verify(
    options: Omit<VerifyOptions, 'sha256'> & { events?: boolean; archive?: string },
  ): Promise<Verdict> {
    const reader = this.reader(options);
    return verifyExport((path) => reader.read(path), { ...options, sha256: nodeSha256 });
  }

  /** Writes an export into a folder; one that is there is brought up to date. */
  export(
    folder: string,
    options: { events?: boolean; progress?: (at: ExportProgress) => void } = {},
  ): Promise<Exported> {
    const events = options.events ?? true;
    return writeExport(
      new DatabaseReader(this.#db, { events, archive: folderReader(folder) }),
      folder,
      { ...options, events },
    );
  }

  proveReceipt(receiptId: string): Promise<ReceiptProof> {
    if (!isUuid(receiptId)) throw new WritRefusal('receipt_not_found', receiptId);
    return new Prover(this.#db, nodeSha256).receipt(receiptId);
  }

  proveEvent(eventId: string): Promise<EventProof> {
    if (!isUuid(eventId.split('/')[0] ?? '')) throw new WritRefusal('event_not_sealed', eventId);
    return new Prover(this.#db, nodeSha256).event(eventId);
  }

  /** That the log of a checkpoint, which somebody has kept, has only grown since. */
  proveGrowth(checkpoint: string): Promise<GrowthProof> {
    return new Prover(this.#db, nodeSha256).growth(checkpoint);
  }

  /** Erases what a receipt keeps out of line. The receipt and its proofs stay. */
  async erase(receiptId: string, reason: string, options: Acting = {}): Promise<number> {
    if (!isUuid(receiptId)) throw new WritRefusal('receipt_not_found', receiptId);
    const { erased } = await act<{ erased: number }>(
      this.#host,
      'fn_receipt_erase($1, $2, $3)',
      [receiptId, reason, actorOf(this.#host, options)],
      options,
    );
    return erased;
  }
}
