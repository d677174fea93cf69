import type { Entry } from './entry.js';

/** Codes of receipts. Part of the registry. */
export const receipts = {
  unknown_receipt_reason: {
    message: 'There is no such reason for a receipt.',
    remedy: 'docs/reference/receipts.md lists them; a new one is declared in src/ledger/reasons/.',
    status: 400,
    retryable: false,
  },
  invalid_receipt: {
    message: 'This is not a receipt, or it does not fit the schema of its reason.',
    remedy:
      'See the detail: it names the place. docs/reference/receipts.md says what belongs there.',
    status: 400,
    retryable: false,
  },
} as const satisfies Record<string, Entry>;
