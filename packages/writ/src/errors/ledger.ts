import type { Entry } from './entry.js';

/**
 * Codes of the ledger in the database: keys, checkpoints, exports, restores. Part of the registry.
 */
export const ledger = {
  key_mismatch: {
    message: 'The ledger is signed with another key.',
    remedy: 'Use that key, or put yours in its place (`writ.ledger.rotateKey`): both sign that.',
    status: 409,
    retryable: false,
  },
  checkpoint_mismatch: {
    message: 'The checkpoint is not of a tree that this log has had.',
    remedy: 'Ask for what there is to sign again: fn_ledger_heads. Nothing was recorded.',
    status: 409,
    retryable: true,
  },
  reason_required: {
    message: 'This needs a reason that somebody else will understand.',
    remedy: 'Say in more than ten characters why.',
    status: 400,
    retryable: false,
  },
  receipt_not_found: {
    message: 'There is no such receipt here.',
    remedy: 'Look it up in writ.receipt. One that has been archived and dropped is in the archive.',
    status: 404,
    retryable: false,
  },
  event_not_sealed: {
    message: 'This event is not sealed, or is not there.',
    remedy:
      'Events are sealed within a second or two, while a worker runs and no older transaction is open. One past its retention is in the archive.',
    status: 404,
    retryable: true,
  },
  not_yet_signed: {
    message: 'No signed checkpoint covers this yet.',
    remedy: 'Sign a checkpoint (`writ.ledger.checkpoint`), and ask again.',
    status: 409,
    retryable: true,
  },
  month_not_over: {
    message: 'This month is not over.',
    remedy: 'Archive it when it is.',
    status: 409,
    retryable: true,
  },
  receipts_not_sequenced: {
    message: 'Receipts of this month are not in their logs yet.',
    remedy: 'They are within a second, while a worker runs. Export again after that.',
    status: 409,
    retryable: true,
  },
  no_checkpoint: {
    message: 'Nothing has been signed yet, so there is nothing to export or prove.',
    remedy: 'Sign a checkpoint first (`writ.ledger.checkpoint`).',
    status: 409,
    retryable: true,
  },
  not_in_database: {
    message: 'A part of the export is no longer in the database.',
    remedy:
      'Receipts of that time have been archived and dropped, or events are past their retention: export into the folder of the archive, which has them.',
    status: 410,
    retryable: false,
  },
  database_older_than_checkpoint: {
    message: 'The database is older than a checkpoint that is known outside.',
    remedy:
      'It was restored, or its end was cut off. Find the newer one; or go on with this one, and put that on record (`writ.ledger.acceptRestore`).',
    status: 503,
    retryable: false,
  },
  ledger_replaced: {
    message: 'The ledger in the database is not the one that a checkpoint outside was signed for.',
    remedy:
      'Somebody has changed it, or this is another database. `writ.ledger.verify` names the first entry that differs.',
    status: 503,
    retryable: false,
  },
  checkpoint_place_unreachable: {
    message: 'A place for checkpoints cannot be read or written.',
    remedy: 'See the detail. Until it can, this place knows only what it was told before.',
    status: 503,
    retryable: true,
  },
} as const satisfies Record<string, Entry>;
