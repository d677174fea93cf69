/**
 * A proof that one receipt, or one event of the record, is in the ledger, or that a log has only
 * grown since a checkpoint: a JSON document that carries everything but the public key. Who holds
 * it needs neither the database nor an export.
 */
import { WritRefusal } from '../errors/index.js';
import { readCanonical } from './canonical.js';
import {
  faultOfReceipt,
  isCount,
  isObject,
  type ReceiptContainer,
  systemLog,
} from './container.js';
import { type EventRow, eventOf, faultOfEventRow, type SealedEvent } from './event-row.js';
import {
  leafHash,
  portableSha256,
  type Sha256,
  verifyConsistency,
  verifyInclusion,
} from './merkle.js';
import { openNote, parseCheckpoint, parseOrigin, parsePublicKey } from './note.js';
import { fromBase64, fromHex, toHex, utf8 } from './text.js';

export const receiptProofFormat = 'writ-receipt-proof-1';
export const eventProofFormat = 'writ-event-proof-1';
export const growthProofFormat = 'writ-growth-proof-1';

/** An entry, where it stands, and the hashes from it up to the root, in base64. */
export interface EntryProof {
  readonly entry: string;
  readonly index: number;
  readonly inclusion: readonly string[];
}

export interface ReceiptProof extends EntryProof {
  readonly format: typeof receiptProofFormat;
  /** The signed checkpoint of the receipt's log. */
  readonly checkpoint: string;
}

export interface EventProof {
  readonly format: typeof eventProofFormat;
  /** The row of the record, and which of its events, from 1. */
  readonly event: string;
  readonly ordinal: number;
  /**
   * An event of a run that the row seals, as the bytes that were hashed: then it is this that is
   * proven.
   */
  readonly runEvent?: string;
  /** Where the row stands in its segment, from 0. */
  readonly segment: { readonly index: number; readonly inclusion: readonly string[] };
  /** The receipt of the seal, in _system. */
  readonly seal: EntryProof;
  /** A signed checkpoint of _system. */
  readonly checkpoint: string;
}

export interface GrowthProof {
  readonly format: typeof growthProofFormat;
  /** The signed checkpoint of before, and one of now. */
  readonly before: string;
  readonly checkpoint: string;
  /** The hashes that lead from the one root to the other, in base64. */
  readonly consistency: readonly string[];
}

export interface ProvenGrowth extends Omit<ProvenReceipt, 'receipt' | 'index'> {
  readonly before: { readonly epoch: number; readonly size: number };
}

export interface ProofOptions {
  readonly keys: readonly string[];
  readonly sha256?: Sha256 | undefined;
}

export interface ProvenReceipt {
  readonly receipt: ReceiptContainer;
  readonly deployment: string;
  readonly log: string;
  readonly epoch: number;
  readonly index: number;
  readonly size: number;
  readonly signers: readonly string[];
}

export interface ProvenEvent extends Omit<ProvenReceipt, 'receipt' | 'log'> {
  readonly event: SealedEvent;
  readonly row: EventRow;
  readonly seal: ReceiptContainer;
  /**
   * Of a proof of an event of a run: [run, number, type, step, attempt, engine's attempt, data,
   * signal, microseconds since 1970].
   */
  readonly runEvent?: readonly unknown[];
}

/** What the proof shows; throws a WritRefusal if it shows nothing. */
export function verifyReceiptProof(proof: unknown, options: ProofOptions): ProvenReceipt {
  demand(
    isObject(proof) && proof.format === receiptProofFormat,
    `it is not of the format ${receiptProofFormat}`,
  );
  return provenEntry(proof, proof.checkpoint, options);
}

/** The same for an event: by the seal of its segment. */
export function verifyEventProof(proof: unknown, options: ProofOptions): ProvenEvent {
  demand(
    isObject(proof) && proof.format === eventProofFormat,
    `it is not of the format ${eventProofFormat}`,
  );
  const { event: document, ordinal, segment } = proof;
  demand(
    isObject(proof.seal) && isObject(segment) && typeof document === 'string',
    'it lacks a part',
  );
  const { receipt: seal, log, ...rest } = provenEntry(proof.seal, proof.checkpoint, options);
  const { rows, root } = seal.context;
  const sealedRoot = typeof root === 'string' ? fromHex(root) : undefined;
  demand(
    log === systemLog &&
      seal.reason === 'events_sealed' &&
      isCount(rows) &&
      sealedRoot !== undefined,
    'its seal is not one',
  );
  const bytes = utf8(document);
  const row = readCanonical(bytes);
  const fault = row === undefined ? 'it is not canonical JSON' : faultOfEventRow(row);
  demand(fault === undefined, `the row: ${fault}`);
  const sha256 = options.sha256 ?? portableSha256;
  verifyInclusion(
    leafHash(bytes, sha256),
    wholeNumber(segment.index),
    rows,
    hashList(segment.inclusion),
    sealedRoot,
    sha256,
  );
  const event = eventOf(row as EventRow, wholeNumber(ordinal));
  demand(event !== undefined, `the row has no event ${ordinal}`);
  const runEvent =
    proof.runEvent === undefined
      ? undefined
      : provenRunEvent(proof.runEvent, row as EventRow, sha256);
  return { ...rest, event, row: row as EventRow, seal, ...(runEvent && { runEvent }) };
}

/** An event of a run, if the row has its hash. */
function provenRunEvent(
  document: unknown,
  { run_events: sealed = [] }: EventRow,
  sha256: Sha256,
): unknown[] {
  demand(typeof document === 'string', 'its event of a run is not a text');
  const hash = toHex(leafHash(utf8(document), sha256));
  demand(
    sealed.some(([, , known]) => known === hash),
    'the row does not seal this event of a run',
  );
  return JSON.parse(document) as unknown[];
}

/** That a log of now begins with everything that a checkpoint of before had. */
export function verifyGrowthProof(
  proof: unknown,
  { keys, sha256 = portableSha256 }: ProofOptions,
): ProvenGrowth {
  demand(
    isObject(proof) && proof.format === growthProofFormat,
    `it is not of the format ${growthProofFormat}`,
  );
  const [before, now] = [opened(proof.before, keys), opened(proof.checkpoint, keys)];
  demand(
    before.deployment === now.deployment && before.log === now.log,
    'its checkpoints are not of one log',
  );
  verifyConsistency(
    before.size,
    now.size,
    hashList(proof.consistency),
    before.root,
    now.root,
    sha256,
  );
  const { deployment, log, epoch, size, signers } = now;
  return {
    deployment,
    log,
    epoch,
    size,
    signers,
    before: { epoch: before.epoch, size: before.size },
  };
}

/** A signed checkpoint, by a key of its own deployment. */
function opened(note: unknown, keys: readonly string[]) {
  demand(typeof note === 'string', 'it lacks a checkpoint');
  const { text, signers } = openNote(note, keys.map(parsePublicKey));
  const { origin, size, root } = parseCheckpoint(text);
  const { deployment, log, epoch } = parseOrigin(origin);
  demand(
    signers.every(({ name }) => name === deployment),
    `it is signed by a key that is not of ${deployment}`,
  );
  return {
    deployment,
    log,
    epoch,
    size,
    root,
    signers: signers.map(({ name, id }) => `${name}+${id}`),
  };
}

function provenEntry(
  proof: Record<string, unknown>,
  note: unknown,
  { keys, sha256 = portableSha256 }: ProofOptions,
): ProvenReceipt {
  const { entry, index: place, inclusion } = proof;
  demand(typeof entry === 'string', 'it lacks the entry');
  const { deployment, log, epoch, size, root, signers } = opened(note, keys);
  const bytes = utf8(entry);
  const receipt = readCanonical(bytes);
  const fault = receipt === undefined ? 'it is not canonical JSON' : faultOfReceipt(receipt, log);
  demand(fault === undefined, `the receipt: ${fault}`);
  const index = wholeNumber(place);
  verifyInclusion(leafHash(bytes, sha256), index, size, hashList(inclusion), root, sha256);
  return { receipt: receipt as ReceiptContainer, deployment, log, epoch, index, size, signers };
}

function wholeNumber(value: unknown): number {
  demand(isCount(value), 'a place in it is not a whole number');
  return value;
}

function hashList(value: unknown): Uint8Array[] {
  demand(
    Array.isArray(value) && value.length <= 64,
    'a path in it is not a list of at most 64 hashes',
  );
  return value.map((text) => {
    const hash = typeof text === 'string' ? fromBase64(text) : undefined;
    demand(hash?.length === 32, 'a hash in it is not 32 bytes in base64');
    return hash;
  });
}

function demand(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new WritRefusal('invalid_proof', otherwise);
}
