/**
 * Proofs of single receipts and events out of the database: documents that a holder can check with
 * the public key alone (proofs.ts).
 */
import type { Queryable } from '../database/connection.js';
import { readRows } from '../database/gate.js';
import { isUuid } from '../database/uuid.js';
import { WritError, WritRefusal } from '../errors/index.js';
import { systemLog } from './container.js';
import {
  CompactRange,
  consistencyProof,
  inclusionProof,
  leafHash,
  rootOf,
  type Sha256,
  sameBytes,
} from './merkle.js';
import { parseCheckpoint, parseNote, parseOrigin } from './note.js';
import {
  type EntryProof,
  type EventProof,
  eventProofFormat,
  type GrowthProof,
  growthProofFormat,
  type ReceiptProof,
  receiptProofFormat,
} from './proofs.js';
import { DatabaseReader, type LogHead } from './reader.js';
import { toBase64, toHex, utf8 } from './text.js';
import { tileSource } from './tiles.js';

type Row = Record<string, unknown>;

export class Prover {
  readonly #db: Queryable;
  readonly #sha256: Sha256;

  constructor(db: Queryable, sha256: Sha256) {
    this.#db = db;
    this.#sha256 = sha256;
  }

  async receipt(receiptId: string): Promise<ReceiptProof> {
    const reader = new DatabaseReader(this.#db);
    const [row] = await readRows(
      this.#db,
      'select log_id, leaf_index, entry from writ.receipt where receipt_id = $1',
      [receiptId],
    );
    if (!row) throw new WritRefusal('receipt_not_found', receiptId);
    const { head, proof } = await this.#entry(reader, String(row.log_id), row);
    return { format: receiptProofFormat, ...proof, checkpoint: head.note };
  }

  /** An event of writ.event_outbox, or, as RUN/NUMBER, one of writ.run_events. */
  async event(eventId: string): Promise<EventProof> {
    const [run, seq] = eventId.split('/');
    return seq === undefined ? this.#event(eventId) : this.#runEvent(String(run), Number(seq));
  }

  async #runEvent(run: string, seq: number): Promise<EventProof> {
    const [row] =
      isUuid(run) && Number.isInteger(seq) && seq > 0
        ? await readRows(
            this.#db,
            'select batch_id, document from writ.fn_ledger_run_event($1, $2)',
            [run, seq],
          )
        : [];
    if (!row) throw new WritRefusal('event_not_sealed', `${run}/${seq}`);
    return {
      ...(await this.#event(`${String(row.batch_id).slice(0, -6)}000001`)),
      runEvent: String(row.document),
    };
  }

  async #event(eventId: string): Promise<EventProof> {
    const [found] = await readRows(this.#db, 'select writ.fn_ledger_segment_of($1) as segment', [
      eventId,
    ]);
    const segment = found?.segment;
    if (segment === null || segment === undefined)
      throw new WritRefusal('event_not_sealed', eventId);
    const documents = await readRows(
      this.#db,
      'select batch_id, document from writ.fn_ledger_segment($1)',
      [segment],
    );
    const index = documents.findIndex(
      ({ batch_id }) => String(batch_id).slice(0, -6) === eventId.slice(0, -6),
    );
    const [seal] = await readRows(
      this.#db,
      `select s.root, e.leaf_index, e.entry from writ.event_seal s join writ.ledger_entry e on e.log_id = '_system' and e.leaf_index = s.leaf_index where s.segment = $1`,
      [segment],
    );
    if (!seal || index < 0) throw new WritRefusal('event_not_sealed', eventId);
    const leaves = documents.map(({ document }) => leafHash(utf8(String(document)), this.#sha256));
    // What is in the record must be what was sealed: a proof that nobody can follow would be found
    // out by the wrong person.
    if (toHex(this.#root(leaves)) !== seal.root)
      throw new WritError('ledger_replaced', `segment ${segment} is not as it was sealed`);
    const inclusion = await inclusionProof(
      index,
      leaves.length,
      (subtrees) =>
        subtrees.map(({ level, index: at }) =>
          this.#root(leaves.slice(at * 2 ** level, (at + 1) * 2 ** level)),
        ),
      this.#sha256,
    );
    const { head, proof } = await this.#entry(new DatabaseReader(this.#db), systemLog, seal);
    return {
      format: eventProofFormat,
      event: String(documents[index]?.document),
      ordinal: Number.parseInt(eventId.slice(-6), 16),
      segment: { index, inclusion: inclusion.map(toBase64) },
      seal: proof,
      checkpoint: head.note,
    };
  }

  /** That the log of a checkpoint has only grown since. */
  async growth(before: string): Promise<GrowthProof> {
    const { origin, size, root } = parseCheckpoint(parseNote(before).text);
    const { log } = parseOrigin(origin);
    const reader = new DatabaseReader(this.#db);
    const head = await this.#head(reader, log);
    if (size > head.size)
      throw new WritRefusal(
        'not_yet_signed',
        `${head.size} receipts of ${log} are signed, and the checkpoint has ${size}`,
      );
    const tiles = this.#tiles(reader, head);
    if (!sameBytes(await rootOf(size, tiles, this.#sha256), root))
      throw new WritError('ledger_replaced', `${size} receipts of ${log}`);
    const consistency = await consistencyProof(size, head.size, tiles, this.#sha256);
    return {
      format: growthProofFormat,
      before,
      checkpoint: head.note,
      consistency: consistency.map(toBase64),
    };
  }

  async #head(reader: DatabaseReader, log: string): Promise<LogHead> {
    const heads = await reader.heads();
    if (heads.length === 0) throw new WritError('no_checkpoint');
    const head = heads.find((one) => one.log === log);
    if (!head) throw new WritRefusal('not_yet_signed', log);
    return head;
  }

  #tiles(reader: DatabaseReader, head: LogHead) {
    return tileSource((path) => reader.read(`${head.directory}/${path}`), head.size, this.#sha256);
  }

  async #entry(
    reader: DatabaseReader,
    log: string,
    row: Row,
  ): Promise<{ head: LogHead; proof: EntryProof }> {
    const head = await this.#head(reader, log);
    if (row.leaf_index === null || Number(row.leaf_index) >= head.size)
      throw new WritRefusal('not_yet_signed', log);
    const index = Number(row.leaf_index);
    const inclusion = await inclusionProof(
      index,
      head.size,
      this.#tiles(reader, head),
      this.#sha256,
    );
    return { head, proof: { entry: String(row.entry), index, inclusion: inclusion.map(toBase64) } };
  }

  #root(leaves: readonly Uint8Array[]): Uint8Array {
    const tree = new CompactRange(this.#sha256);
    for (const leaf of leaves) tree.append(leaf);
    return tree.root();
  }
}
