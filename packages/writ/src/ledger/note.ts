/**
 * Signed notes, as Go's sumdb writes them, and the checkpoints of C2SP tlog-checkpoint in them: a
 * text, an empty line, and a line per signature. Keys are one line of text each. The name of a key
 * is the deployment's; the origin of a checkpoint is `<deployment>/<log, percent-encoded>/<epoch>`.
 */
import { ed25519 } from '@noble/curves/ed25519.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { WritRefusal } from '../errors/index.js';
import { canonicalize } from './canonical.js';
import { fromBase64, fromHex, fromUtf8, toBase64, toHex, utf8 } from './text.js';

/**
 * A public key, `name+id+base64`. Its id only finds it; that it is trusted is the caller's word.
 */
export interface VerifierKey {
  readonly name: string;
  readonly id: string;
  readonly publicKey: Uint8Array;
}

export interface SignerKey extends VerifierKey {
  readonly seed: Uint8Array;
}

export interface NoteSignature {
  readonly name: string;
  readonly id: string;
  readonly signature: Uint8Array;
}

export interface Note {
  /** What is signed; it ends with a line end. */
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

export interface Checkpoint {
  readonly origin: string;
  readonly size: number;
  readonly root: Uint8Array;
}

/** What an origin says. */
export interface Origin {
  readonly deployment: string;
  readonly log: string;
  readonly epoch: number;
}

const ed25519Algorithm = 1;
const noteLimit = 1_000_000;
const signatureLimit = 100;
const signatureStart = '— ';

const badNote = (detail: string) => new WritRefusal('invalid_note', detail);
const badKey = (detail: string) => new WritRefusal('invalid_ledger_key', detail);

export function publicKeyText(key: VerifierKey): string {
  return `${key.name}+${key.id}+${toBase64(tagged(key.publicKey))}`;
}

/** Keep it outside the database: who has it can sign another history. */
export function privateKeyText(key: SignerKey): string {
  return `PRIVATE+KEY+${key.name}+${key.id}+${toBase64(tagged(key.seed))}`;
}

/** The key that a seed of 32 random bytes stands for. */
export function keyOfSeed(name: string, seed: Uint8Array): SignerKey {
  if (!isName(name)) throw badKey('the name is empty, or has a blank or a + in it');
  if (seed.length !== 32) throw badKey('the seed does not have 32 bytes');
  const publicKey = ed25519.getPublicKey(seed);
  return { name, id: keyId(name, publicKey), publicKey, seed };
}

export function parsePublicKey(text: string): VerifierKey {
  // base64 may have a + of its own: only the first two part the text.
  const parts = /^([^+]*)\+([^+]*)\+(.*)$/.exec(text);
  if (!parts) throw badKey('it does not have three parts');
  const [name, id, publicKey] = keyParts(parts);
  if (keyId(name, publicKey) !== id) throw badKey('its id is not that of its name and bytes');
  return { name, id, publicKey };
}

export function parsePrivateKey(text: string): SignerKey {
  const parts = /^PRIVATE\+KEY\+([^+]*)\+([^+]*)\+(.*)$/.exec(text.trimEnd());
  if (!parts) throw badKey('it does not begin with PRIVATE+KEY and go on with three parts');
  const [name, id, seed] = keyParts(parts);
  const key = keyOfSeed(name, seed);
  if (key.id !== id) throw badKey('its id is not that of its name and bytes');
  return key;
}

function keyParts([, name = '', id = '', encoded = '']: RegExpExecArray): [
  name: string,
  id: string,
  bytes: Uint8Array,
] {
  if (!isName(name)) throw badKey('its name is empty, or has a blank in it');
  if (!/^[0-9a-f]{8}$/.test(id)) throw badKey('its id is not 8 hexadecimal digits');
  const bytes = fromBase64(encoded);
  if (bytes?.length !== 33 || bytes[0] !== ed25519Algorithm)
    throw badKey('it is not an Ed25519 key in base64');
  return [name, id, bytes.slice(1)];
}

function keyId(name: string, publicKey: Uint8Array): string {
  const line = utf8(`${name}\n`);
  const bytes = new Uint8Array(line.length + 33);
  bytes.set(line);
  bytes.set(tagged(publicKey), line.length);
  return toHex(sha256(bytes).subarray(0, 4));
}

function tagged(bytes: Uint8Array): Uint8Array {
  return Uint8Array.of(ed25519Algorithm, ...bytes);
}

const isName = (name: string) => name !== '' && name.isWellFormed() && !/[\s+\u0085]/u.test(name);

/** Signs bytes as they are; signed notes are made with signNote. */
export const sign = (key: SignerKey, text: string): Uint8Array =>
  ed25519.sign(utf8(text), key.seed);

/** Strict: one signature has one form. */
export const isSignedBy = (key: VerifierKey, text: string, signature: Uint8Array): boolean =>
  signature.length === 64 &&
  ed25519.verify(signature, utf8(text), key.publicKey, { zip215: false });

export function signNote(text: string, keys: readonly SignerKey[]): string {
  if (!text.endsWith('\n') || !isNoteText(text))
    throw badNote('the text does not end with a line end, or has control characters');
  const lines = keys.map((key) => {
    const bytes = Uint8Array.of(...fromHex(key.id)!, ...sign(key, text));
    return `${signatureStart}${key.name} ${toBase64(bytes)}\n`;
  });
  return `${text}\n${lines.join('')}`;
}

/** The parts of a note, whoever signed it. */
export function parseNote(note: string | Uint8Array): Note {
  if (note.length > noteLimit) throw badNote('longer than a million bytes');
  const whole = typeof note === 'string' ? note : fromUtf8(note);
  if (whole === undefined || !isNoteText(whole))
    throw badNote('not UTF-8, or with control characters in it');
  const end = whole.lastIndexOf('\n\n');
  if (end < 0) throw badNote('no empty line before the signatures');
  const lines = whole.slice(end + 2).split('\n');
  if (lines.pop() !== '' || lines.length === 0)
    throw badNote('no line end after the last signature');
  if (lines.length > signatureLimit) throw badNote(`more than ${signatureLimit} signatures`);
  return { text: whole.slice(0, end + 1), signatures: lines.map(parseSignature) };
}

function parseSignature(line: string): NoteSignature {
  const [name, encoded, ...more] = line.startsWith(signatureStart)
    ? line.slice(signatureStart.length).split(' ')
    : [];
  if (name === undefined || encoded === undefined || more.length > 0 || !isName(name))
    throw badNote('a signature line cannot be read');
  const bytes = fromBase64(encoded);
  if (!bytes || bytes.length < 5)
    throw badNote(`the signature of ${name} is not base64, or too short`);
  return { name, id: toHex(bytes.subarray(0, 4)), signature: bytes.slice(4) };
}

const isNoteText = (text: string) =>
  text.isWellFormed() && ![...text].some((character) => character < ' ' && character !== '\n');

/**
 * The note, and the known keys that have signed it: at least one. Signatures of others are passed
 * over, as the format says; one of a known key that does not fit is an error, even beside others
 * that do.
 */
export function openNote(
  note: string | Uint8Array,
  keys: readonly VerifierKey[],
): Note & { readonly signers: readonly VerifierKey[] } {
  const parsed = parseNote(note);
  const signers = new Set<VerifierKey>();
  for (const { name, id, signature } of parsed.signatures) {
    for (const key of keys.filter((known) => known.name === name && known.id === id)) {
      if (!isSignedBy(key, parsed.text, signature))
        throw new WritRefusal('invalid_signature', `${name}+${id}`);
      signers.add(key);
    }
  }
  if (signers.size === 0) {
    throw new WritRefusal(
      'untrusted_note',
      `signed by ${parsed.signatures.map(({ name, id }) => `${name}+${id}`).join(', ')}`,
    );
  }
  return { ...parsed, signers: [...signers] };
}

export function checkpointText({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${toBase64(root)}\n`;
}

/** Lines after the third are extensions: signed, and for others. */
export function parseCheckpoint(text: string): Checkpoint {
  const [origin, size, encoded, ...extensions] = text.split('\n');
  if (extensions.pop() !== '') throw badNote('a checkpoint has three lines: origin, size, root');
  if (!origin) throw badNote('the origin is empty');
  if (!/^(?:0|[1-9][0-9]*)$/.test(size!) || !Number.isSafeInteger(Number(size)))
    throw badNote('the size is not a whole number up to 2^53 - 1');
  const root = fromBase64(encoded!);
  if (root?.length !== 32) throw badNote('the root is not 32 bytes in base64');
  if (extensions.includes('')) throw badNote('an extension line is empty');
  return { origin, size: Number(size), root };
}

export function originText({ deployment, log, epoch }: Origin): string {
  return `${deployment}/${encodeURIComponent(log)}/${epoch}`;
}

export function parseOrigin(origin: string): Origin {
  const parts = /^(.+)\/([^/]+)\/([1-9][0-9]*)$/.exec(origin);
  const log = parts && decoded(parts[2]!);
  if (!parts || log === undefined) throw badNote('the origin is not deployment/log/epoch');
  return { deployment: parts[1]!, log: log as string, epoch: Number(parts[3]) };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined; // A percent sign that encodes nothing.
  }
}

/** A checkpoint of a ledger, signed: what the sequencer's host writes. */
export function signCheckpoint(
  origin: Origin,
  size: number,
  root: Uint8Array,
  keys: readonly SignerKey[],
): string {
  return signNote(checkpointText({ origin: originText(origin), size, root }), keys);
}

/**
 * What both keys sign when one takes the place of the other; without an old one the new key signs
 * alone.
 */
export function rotationText(oldKey: string | null, newKey: string): string {
  return `writ key rotation\n${oldKey ?? ''}\n${newKey}\n`;
}

/** What a ledger key signs when somebody accepts a restored database. */
export interface RestoreStatement {
  /** The epoch of _system that begins. */
  readonly epoch: number;
  /** The tree of _system that was found. */
  readonly size: number;
  readonly root: string;
  readonly known_checkpoint: string | null;
  readonly reason: string;
  readonly actor: string;
}

export const restoreText = (
  deployment: string,
  { epoch, size, root, known_checkpoint, reason, actor }: RestoreStatement,
): string =>
  `writ accept restore\n${canonicalize({ deployment, epoch, size, root, known_checkpoint, reason, actor })}\n`;

/** What a ledger key signs when a month of receipts has been archived and may be dropped. */
export interface ArchiveStatement {
  /** YYYY-MM */
  readonly month: string;
  /** Where the archive is. */
  readonly place: string;
  /** The tree of _system whose checkpoint the archive holds. */
  readonly size: number;
  readonly root: string;
}

export const archiveText = (
  deployment: string,
  { month, place, size, root }: ArchiveStatement,
): string => `writ archive\n${canonicalize({ deployment, month, place, size, root })}\n`;
