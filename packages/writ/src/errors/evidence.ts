import type { Entry } from './entry.js';

/**
 * Codes of the ledger's evidence: canonical JSON, signed notes, tiles, proofs. Part of the
 * registry.
 */
export const evidence = {
  value_not_canonical: {
    message: 'The value has no exact form in canonical JSON.',
    remedy:
      'See the detail. Whole numbers go up to 2^53 - 1; larger ones, dates and bytes are written as text.',
    status: 400,
    retryable: false,
  },
  entry_too_large: {
    message: 'The entry is longer than the 65,535 bytes that a ledger takes.',
    remedy: 'Store what is large elsewhere, and put its hash into the receipt.',
    status: 413,
    retryable: false,
  },
  invalid_ledger_key: {
    message: 'This is not a key of a ledger.',
    remedy: 'A public key reads name+8 hexadecimal digits+base64; copy it whole, in one line.',
    status: 400,
    retryable: false,
  },
  invalid_note: {
    message: 'This is not a signed checkpoint.',
    remedy:
      'See the detail; copy the file as it is, with the empty line and the line end after the last signature.',
    status: 400,
    retryable: false,
  },
  untrusted_note: {
    message: 'None of the keys that were given has signed this checkpoint.',
    remedy: 'Give the public key of the deployment, as you got it from its operator.',
    status: 403,
    retryable: false,
  },
  invalid_signature: {
    message: 'The checkpoint carries a signature of a known key that does not fit its text.',
    remedy: 'It was changed after it was signed: ask for it again, and from another place.',
    status: 403,
    retryable: false,
  },
  invalid_tile: {
    message: 'This is not a tile of a tree, or a bundle of entries.',
    remedy: 'See the detail; export the ledger again.',
    status: 400,
    retryable: false,
  },
  invalid_export_file: {
    message: 'A file of the export cannot be read.',
    remedy: 'See the detail. An export holds regular files of bounded size, and no links.',
    status: 400,
    retryable: false,
  },
  invalid_proof: {
    message: 'The proof does not hold.',
    remedy:
      'See the detail. Ask for the proof again; if it fails again, what it is about is not in the ledger as it was shown.',
    status: 400,
    retryable: false,
  },
} as const satisfies Record<string, Entry>;
