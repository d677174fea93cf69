/** `writ.ledger`: signing, checking, proving and handing out the ledger of this database. Reading needs the role writ_auditor, the rest workflow_admin. */
import type { Queryable } from '../database/connection.js';
import { gate } from '../database/gate.js';
import { isUuid } from '../database/uuid.js';
import { WritRefusal } from '../errors/index.js';
import {
  acceptRestore,
  assertNotOlder,
  type Published,
  publishCheckpoints,
  rotateKey,
} from './checkpoints.js';
import { type Exported, type ExportProgress, folderReader, writeExport } from './exports.js';
import { parsePrivateKey, parsePublicKey } from './note.js';
import { placeOf } from './places.js';
import type { EventProof, GrowthProof, ReceiptProof } from './proofs.js';
import { Prover } from './prover.js';
import { DatabaseReader } from './reader.js';
import { nodeSha256 } from './sha256.js';
import type { Verdict } from './verdict.js';
import { type VerifyOptions, verifyExport } from './verify.js';

export interface Outside {
  /** Places that keep a checkpoint outside: paths or http addresses. */
  readonly places: readonly string[];
  /** Public keys of this deployment. */
  readonly keys: readonly string[];
}

export class Ledger {
  readonly #db: Queryable;
  readonly #actor: string;

  constructor(db: Queryable, actor: string) {
    this.#db = db;
    this.#actor = actor;
  }

  /** Signs what there is, and publishes it. `key` is the text of the private key's file. */
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
  rotateKey(keys: { old: string; next: string }): Promise<void> {
    return rotateKey(
      this.#db,
      { old: parsePrivateKey(keys.old), next: parsePrivateKey(keys.next) },
      this.#actor,
    );
  }

  /** Throws unless this database has everything that is known outside. */
  async assertNotOlder({ places, keys }: Outside): Promise<void> {
    await assertNotOlder(this.#db, places.map(placeOf), keys.map(parsePublicKey));
  }

  /** Goes on with a restored database, on the record. */
  acceptRestore({
    places,
    keys,
    reason,
  }: Outside & { reason: string }): Promise<{
    logs: { log: string; epoch: number; size: number }[];
  }> {
    return acceptRestore(this.#db, {
      places: places.map(placeOf),
      keys: keys.map(parsePublicKey),
      reason,
      actor: this.#actor,
    });
  }

  /**
   * Checks the ledger as the database has it now, up to its newest signed checkpoints: the same check as that of an export. `archive` is a folder of an export that has
   * what has been dropped here.
   */
  verify(
    options: Omit<VerifyOptions, 'sha256'> & { events?: boolean; archive?: string },
  ): Promise<Verdict> {
    const archive = options.archive === undefined ? {} : { archive: folderReader(options.archive) };
    const reader = new DatabaseReader(this.#db, { events: options.events ?? true, ...archive });
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
  async erase(receiptId: string, reason: string): Promise<number> {
    if (!isUuid(receiptId)) throw new WritRefusal('receipt_not_found', receiptId);
    const { erased } = await gate<{ erased: number }>(this.#db, 'fn_receipt_erase($1, $2, $3)', [
      receiptId,
      reason,
      this.#actor,
    ]);
    return erased;
  }
}
