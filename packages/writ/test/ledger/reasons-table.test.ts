import { expect, test } from 'vitest';
import { reasons } from '../../src/ledger/reasons/index.js';
import { testDatabase } from '../../src/testing/index.js';

test('the database knows the reasons as they are declared', async () => {
  const db = await testDatabase();
  try {
    const rows = await db.query(
      'select reason, statuses, terminal, description from writ_data.receipt_reason',
    );
    const declared = Object.entries(reasons).map(([reason, { statuses, terminal, when }]) => ({
      reason,
      statuses,
      terminal,
      description: when,
    }));
    const byReason = (a: { reason: string }, b: { reason: string }) =>
      a.reason < b.reason ? -1 : 1;
    expect((rows as { reason: string }[]).sort(byReason)).toEqual(declared.sort(byReason));
  } finally {
    await db.drop();
  }
});
