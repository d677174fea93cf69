/**
 * Signing, and comparing with what was signed before. Before anything is signed, the database is
 * compared with every place that keeps a checkpoint: one that is older than what is known outside,
 * or another, is not signed over. The tree is committed first, then signed, kept beside it, and
 * published: a crash between two of these leaves a tree that the next checkpoint covers.
 */
import { type Acting, act, actorOf, type Host } from '../database/acting.js';
import type { Queryable } from '../database/connection.js';
import { gate, readRows } from '../database/gate.js';
import { WritError, WritRefusal } from '../errors/index.js';
import { systemLog } from './container.js';
import type { Exported } from './exports.js';
import {
  archiveText,
  type Checkpoint,
  openNote,
  parseCheckpoint,
  parseNote,
  parseOrigin,
  publicKeyText,
  restoreText,
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
  readonly trusted?: readonly VerifierKey[] | undefined;
}

/** A call records 10,000 checkpoints at most. */
const atOnce = 10_000;

/**
 * Signs every log that has grown, and publishes `_system` everywhere. A place that cannot be
 * reached does not keep the others from theirs.
 */
export async function publishCheckpoints(
  db: Queryable,
  options: CheckpointOptions,
): Promise<Published[]> {
  const { key, places, actor, trusted = [] } = options;
  await assertNotOlder(db, places, [key, ...trusted]);
  await introduceKey(db, key, actor);
  const heads = await act<Head[]>({ db }, 'fn_ledger_heads($1)', [actor]);
  const published = heads.map((head) => {
    const origin = { deployment: key.name, log: head.log, epoch: head.epoch };
    return {
      ...head,
      note: signCheckpoint(origin, head.size, fromHex(head.root) as Uint8Array, [key]),
    };
  });
  for (let at = 0; at < published.length; at += atOnce)
    await act({ db }, 'fn_ledger_checkpoint_record($1::text::jsonb, $2)', [
      JSON.stringify(published.slice(at, at + atOnce)),
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
  await act({ db }, 'fn_ledger_key_add($1, $2, $3, $4, $5)', [text, null, signature, null, actor]);
}

/** Puts a key in the place of another: both sign that. */
export async function rotateKey(
  host: ActingHost,
  keys: { old: SignerKey; next: SignerKey },
  options: Acting,
): Promise<void> {
  const [old, next] = [publicKeyText(keys.old), publicKeyText(keys.next)];
  if (keys.old.name !== keys.next.name)
    throw new WritRefusal('key_mismatch', `${keys.next.name} is not ${keys.old.name}`);
  const text = rotationText(old, next);
  await act(
    host,
    'fn_ledger_key_add($1, $2, $3, $4, $5)',
    [
      next,
      old,
      toBase64(sign(keys.next, text)),
      toBase64(sign(keys.old, text)),
      actorOf(host, options),
    ],
    options,
  );
}

/** The public key that signs at the moment; null before the first checkpoint. */
export async function signingKey(db: Queryable): Promise<string | null> {
  const [newest] = await readRows(
    db,
    'select key from writ.ledger_key order by key_no desc limit 1',
  );
  return newest ? String(newest.key) : null;
}

/** What a place outside knows, against what this database has. */
export interface Comparison {
  readonly place: string;
  readonly log: string;
  readonly epoch: number;
  readonly known: number;
  readonly here: number;
  readonly hereEpoch: number;
  /**
   * `same`: everything that the place knows is here. `accepted`: it is not, and somebody has gone
   * on without it on the record.
   */
  readonly outcome: 'same' | 'accepted' | 'shorter' | 'different';
}

/** Null where the place holds no checkpoint yet. */
export async function compare(
  db: Queryable,
  place: Place,
  keys: readonly VerifierKey[],
): Promise<Comparison | null> {
  const note = await place.read();
  return note === null ? null : compareNote(db, place.name, note, keys);
}

async function compareNote(
  db: Queryable,
  place: string,
  note: string,
  keys: readonly VerifierKey[],
): Promise<Comparison> {
  const { origin, size, root } = parseCheckpoint(openNote(note, keys).text);
  const { log, epoch } = parseOrigin(origin);
  const here = await rootAt(db, log, size, epoch);
  const matches =
    here.size < size || here.epoch < epoch
      ? 'shorter'
      : here.root === toHex(root)
        ? 'same'
        : 'different';
  const outcome = matches !== 'same' && here.epoch > epoch && here.accepted ? 'accepted' : matches;
  return {
    place,
    log,
    epoch,
    known: size,
    here: here.size,
    hereEpoch: here.epoch,
    outcome,
  };
}

/** Whether the database falls short of what a place knows, and nobody has accepted that. */
export const fallsShort = ({ outcome }: Comparison): boolean =>
  outcome === 'shorter' || outcome === 'different';

/**
 * Refuses a database that falls short of, or differs from, a checkpoint known outside. A place that
 * cannot be read is passed over, as long as another can: otherwise nothing would be known.
 */
export async function assertNotOlder(
  db: Queryable,
  places: readonly Place[],
  keys: readonly VerifierKey[],
): Promise<void> {
  const notes = await Promise.allSettled(places.map((place) => place.read()));
  const unread = notes.find((outcome) => outcome.status === 'rejected');
  if (unread && notes.every(({ status }) => status === 'rejected')) throw unread.reason;
  for (const [n, { name }] of places.entries()) {
    const read = notes[n];
    if (read?.status !== 'fulfilled' || read.value === null) continue;
    const found = await compareNote(db, name, read.value, keys);
    if (found.outcome === 'shorter')
      throw new WritError(
        'database_older_than_checkpoint',
        `${name} knows ${found.known} receipts of ${found.log}, epoch ${found.epoch}; ` +
          `the database has ${found.here}, epoch ${found.hereEpoch}`,
      );
    if (found.outcome === 'different')
      throw new WritError('ledger_replaced', `${name}, ${found.known} receipts of ${found.log}`);
  }
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
export const rootAt = (
  db: Queryable,
  log: string,
  size?: number,
  epoch?: number,
): Promise<RootAt> => gate(db, 'fn_ledger_root_at($1, $2, $3)', [log, size ?? null, epoch ?? null]);

type ActingHost = Omit<Host, 'tenant'>;

export interface AcceptedRestore {
  readonly logs: readonly { readonly log: string; readonly epoch: number; readonly size: number }[];
}

/**
 * Goes on with a restored database, in a new epoch that names the newest checkpoint known outside.
 * A ledger key signs that, and which tree of _system was found.
 */
export async function acceptRestore(
  host: ActingHost,
  options: Acting & {
    places: readonly Place[];
    keys: readonly VerifierKey[];
    key: SignerKey;
    reason: string;
  },
): Promise<AcceptedRestore> {
  const { key, keys } = options;
  const actor = actorOf(host, options);
  const reason = [...options.reason.trim()].slice(0, 1_000).join('');
  if (!keys.some((known) => publicKeyText(known) === publicKeyText(key))) {
    throw new WritRefusal(
      'key_mismatch',
      `${key.name}+${key.id} is not among the public keys that were given`,
    );
  }
  const notes = (await Promise.all(options.places.map((place) => place.read()))).filter(
    (note) => note !== null,
  );
  const known = notes
    .map((note) => {
      const { origin, size } = parseCheckpoint(openNote(note, keys).text);
      return { note, size, epoch: parseOrigin(origin).epoch };
    })
    .sort((a, b) => b.epoch - a.epoch || b.size - a.size)[0];
  const found = await rootAt(host.db, systemLog);
  const statement = {
    epoch: Math.max(found.epoch, known?.epoch ?? 0) + 1,
    size: found.size,
    root: String(found.root),
    known_checkpoint: known?.note ?? null,
    reason,
    actor,
  };
  return act(
    host,
    'fn_ledger_accept_restore($1, $2, $3, $4, $5, $6, $7, $8, $9)',
    [
      statement.known_checkpoint,
      known?.epoch ?? null,
      known?.size ?? null,
      reason,
      actor,
      statement.epoch,
      statement.size,
      statement.root,
      toBase64(sign(key, restoreText(key.name, statement))),
    ],
    options,
    { means: [reason, publicKeyText(key)] },
  );
}

/** Records that an export holds the receipts of a month; the key signs which and where. */
export async function recordArchive(
  host: ActingHost,
  options: Acting & { key: SignerKey; month: string; place: string; exported: Exported },
): Promise<{ month: string }> {
  const { key, month, place, exported } = options;
  const system = exported.logs.find(({ log }) => log === systemLog);
  if (!system) throw new WritRefusal('not_yet_signed', month);
  const { size, root } = parseCheckpoint(parseNote(system.note).text);
  const text = archiveText(key.name, { month, place, size, root: toHex(root) });
  return act(
    host,
    'fn_ledger_archived($1::text::date, $2, $3, $4, $5)',
    [`${month}-01`, place, actorOf(host, options), size, toBase64(sign(key, text))],
    options,
  );
}
