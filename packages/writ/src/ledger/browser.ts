/**
 * `@writ/verify`: checking a ledger, an export or a single proof, without a database. Nothing here
 * needs Node.
 */
export { WritError, WritRefusal } from '../errors/index.js';
export { canonicalEntry, canonicalize, entryLimit, isCanonical } from './canonical.js';
export type { ReceiptContainer } from './container.js';
export { type EventRow, eventId, eventOf, type SealedEvent } from './event-row.js';
export {
  CompactRange,
  consistencyProof,
  type HashSource,
  inclusionProof,
  leafHash,
  nodeHash,
  rootOf,
  type Sha256,
  type Subtree,
  verifyConsistency,
  verifyInclusion,
} from './merkle.js';
export {
  type Checkpoint,
  type Note,
  type Origin,
  openNote,
  parseCheckpoint,
  parseNote,
  parseOrigin,
  parsePublicKey,
  publicKeyText,
  type VerifierKey,
} from './note.js';
export {
  type EntryProof,
  type EventProof,
  type GrowthProof,
  type ProofOptions,
  type ProvenEvent,
  type ProvenGrowth,
  type ProvenReceipt,
  type ReceiptProof,
  verifyEventProof,
  verifyGrowthProof,
  verifyReceiptProof,
} from './proofs.js';
export { decodeBundle, logFolder, tilePath, tileSource } from './tiles.js';
export {
  describe,
  type LogVerdict,
  type Problem,
  type ProblemKind,
  type Verdict,
} from './verdict.js';
export type { Progress, Reader } from './verification/log.js';
export type { OutsideCheckpoint } from './verification/outside.js';
export { type VerifyOptions, verifyExport } from './verify.js';
