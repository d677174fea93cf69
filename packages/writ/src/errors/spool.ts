import type { Entry } from './entry.js';

/** Codes of what is kept on this machine until the database takes it. Part of the registry. */
export const spool = {
  spool_full: {
    message: 'The spool is full: nothing was kept.',
    remedy:
      'Bring the database back, and it empties itself; make the same call again then. A larger disk only postpones it.',
    status: 507,
    retryable: true,
  },
  spool_unavailable: {
    message: 'The spool cannot be written to or read.',
    remedy:
      'See the detail: the folder has to exist or be makeable, and belong to this user, on a disk with room.',
    status: 503,
    retryable: true,
  },
  spool_damaged: {
    message:
      'A file of the spool is not as it was written: from the line in the detail on, nothing of it was used.',
    remedy:
      'It is kept as it is, with the ending .damaged. Read it, append by hand what is right, and remove it.',
    status: 500,
    retryable: false,
  },
  spool_refused: {
    message: 'Something that was spooled has been refused by the database, and will be for ever.',
    remedy:
      'It is kept in refused.jsonl in the folder of the spool, with the reason. Read it, and remove it.',
    status: 409,
    retryable: false,
  },
} as const satisfies Record<string, Entry>;
