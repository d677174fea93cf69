/**
 * Signing, and comparing with what was signed before. Before anything is signed, the database is held against every place that keeps a checkpoint: one that is
 * older than what is known outside, or another, is not signed over. The tree is committed first, then signed, kept beside it, and published: a crash between two of
 * these leaves a tree that the next checkpoint covers.
 */
import type { Queryable } from '../database/connection.js';
import { gate, readRows } from '../database/gate.js';
import { WritError, WritRefusal } from '../errors/index.js';
import { systemLog } from './container.js';
import {
  type Checkpoint,
  openNote,
  parseCheckpoint,
  parseOrigin,
  publicKeyText,
  rotationText,
  type SignerKey,
  sign,
  signCheckpoint,
  type VerifierKey,
} from './note.js';
import type { Place } from './places.js';
import { fromHex, toBase64, toHex } from './text.js';

export interface Head {
  readonly log: string;
  readonly epoch: number;
  readonly size: number;
  readonly root: string;
}

export interface Published extends Head {
  readonly note: string;
}

export interface CheckpointOptions {
  readonly key: SignerKey;
  readonly places: readonly Place[];
  readonly actor: string;
  /** Keys of earlier checkpoints, when the places may still hold one. */
  readonly trusted?: readonly VerifierKey[];
}

/** Signs every log that has grown, and publishes `_system` everywhere. A place that cannot be reached does not keep the others from theirs. */
export async function publishCheckpoints(
  db: Queryable,
  options: CheckpointOptions,
): Promise<Published[]> {
  const { key, places, actor, trusted = [] } = options;
  await assertNotOlder(db, places, [key, ...trusted]);
  await introduceKey(db, key, actor);
  const heads = await gate<Head[]>(db, 'fn_ledger_heads($1)', [actor]);
  const published = heads.map((head) => {
    const origin = { deployment: key.name, log: head.log, epoch: head.epoch };
    return {
      ...head,
      note: signCheckpoint(origin, head.size, fromHex(head.root) as Uint8Array, [key]),
    };
  });
  await gate(db, 'fn_ledger_checkpoint_record($1::text::jsonb, $2)', [
    JSON.stringify(published),
    actor,
  ]);
  const system = published.find(({ log }) => log === systemLog);
  if (system) {
    const outcomes = await Promise.allSettled(
      places.map((place) => publish(place, system.note, [key, ...trusted])),
    );
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed) throw failed.reason;
  }
  return published;
}

/** A place keeps the newest: somebody else may have signed more of the same log in the meantime. */
async function publish(place: Place, note: string, keys: readonly VerifierKey[]): Promise<void> {
  const there = await place.read();
  const [ours, theirs] = [note, there ?? note].map((text) =>
    parseCheckpoint(openNote(text, keys).text),
  ) as [Checkpoint, Checkpoint];
  if (theirs.origin !== ours.origin || theirs.size <= ours.size) await place.write(note);
}

/** The first key says so by itself; every later one is introduced by `rotateKey`. */
async function introduceKey(db: Queryable, key: SignerKey, actor: string): Promise<void> {
  const text = publicKeyText(key);
  const current = await signingKey(db);
  if (current === text) return;
  if (current !== null)
    throw new WritRefusal('key_mismatch', `the ledger is signed with ${current}`);
  const signature = toBase64(sign(key, rotationText(null, text)));
  await gate(db, 'fn_ledger_key_add($1, $2, $3, $4, $5)', [text, null, signature, null, actor]);
}

/** Puts a key in the place of another: both sign that. */
export async function rotateKey(
  db: Queryable,
  keys: { old: SignerKey; next: SignerKey },
  actor: string,
): Promise<void> {
  const [old, next] = [publicKeyText(keys.old), publicKeyText(keys.next)];
  if (keys.old.name !== keys.next.name)
    throw new WritRefusal('key_mismatch', `${keys.next.name} is not ${keys.old.name}`);
  const text = rotationText(old, next);
  await gate(db, 'fn_ledger_key_add($1, $2, $3, $4, $5)', [
    next,
    old,
    toBase64(sign(keys.next, text)),
    toBase64(sign(keys.old, text)),
    actor,
  ]);
}

/** The public key that signs at the moment; null before the first checkpoint. */
export async function signingKey(db: Queryable): Promise<string | null> {
  const [newest] = await readRows(
    db,
    'select key from writ.ledger_key order by key_no desc limit 1',
  );
  return newest ? String(newest.key) : null;
}

/**
 * Refuses a database that falls short of, or differs from, a checkpoint known outside. Answers the newest that it was compared with. A place that cannot be read
 * is passed over, as long as another can: otherwise nothing would be known.
 */
export async function assertNotOlder(
  db: Queryable,
  places: readonly Place[],
  keys: readonly VerifierKey[],
): Promise<string | null> {
  let newest: { note: string; size: number } | null = null;
  const read = await Promise.allSettled(places.map((place) => place.read()));
  const unread = read.find((outcome) => outcome.status === 'rejected');
  if (unread && read.every(({ status }) => status === 'rejected')) throw unread.reason;
  for (const [n, place] of places.entries()) {
    const outcome = read[n];
    const note = outcome?.status === 'fulfilled' ? outcome.value : null;
    if (note === null) continue;
    const checkpoint = parseCheckpoint(openNote(note, keys).text);
    const { log, epoch } = parseOrigin(checkpoint.origin);
    const now = await rootAt(db, log, checkpoint.size, epoch);
    // After an accepted restore the tree may be smaller than what an earlier epoch had: the new epoch says by how much.
    if (now.epoch > epoch && now.accepted) continue;
    if (now.size < checkpoint.size || now.epoch < epoch) {
      throw new WritError(
        'database_older_than_checkpoint',
        `${place.name} knows ${checkpoint.size} receipts of ${log}, epoch ${epoch}; the database has ${now.size}, epoch ${now.epoch}`,
      );
    }
    if (now.root !== toHex(checkpoint.root))
      throw new WritError(
        'ledger_replaced',
        `${place.name}, ${checkpoint.size} receipts of ${log}`,
      );
    if (!newest || checkpoint.size > newest.size) newest = { note, size: checkpoint.size };
  }
  return newest?.note ?? null;
}

export interface RootAt {
  readonly epoch: number;
  readonly size: number;
  /** Null when the log has never been so large. */
  readonly root: string | null;
  /** Somebody has gone on without what the checkpoint covers. */
  readonly accepted: boolean;
}

/** What the database has of a log, to be held against a checkpoint. */
export const rootAt = (db: Queryable, log: string, size: number, epoch: number): Promise<RootAt> =>
  gate(db, 'fn_ledger_root_at($1, $2, $3)', [log, size, epoch]);

/** Goes on with a restored database, in a new epoch that names the newest checkpoint known outside. */
export async function acceptRestore(
  db: Queryable,
  options: {
    places: readonly Place[];
    keys: readonly VerifierKey[];
    reason: string;
    actor: string;
  },
): Promise<{ logs: { log: string; epoch: number; size: number }[] }> {
  const notes = (await Promise.all(options.places.map((place) => place.read()))).filter(
    (note) => note !== null,
  );
  const known = notes
    .map((note) => {
      const { origin, size } = parseCheckpoint(openNote(note, options.keys).text);
      return { note, size, epoch: parseOrigin(origin).epoch };
    })
    .sort((a, b) => b.epoch - a.epoch || b.size - a.size)[0];
  return gate(db, 'fn_ledger_accept_restore($1, $2, $3, $4, $5)', [
    known?.note ?? null,
    known?.epoch ?? null,
    known?.size ?? null,
    options.reason,
    options.actor,
  ]);
}
