/** What the gates of the ledger write about itself is checked against the schemas that everybody else's receipts have to fit. */
import { expect, test } from 'vitest';
import { canonicalize } from '../../src/ledger/canonical.js';
import { erasable } from '../../src/ledger/erasable.js';
import { reasons } from '../../src/ledger/reasons/index.js';
import { receipt } from '../../src/ledger/receipt.js';
import { validateReceipt } from '../../src/ledger/validate.js';
import { testDatabase } from '../../src/testing/index.js';

test('every receipt that the ledger writes about itself fits the schema of its reason', async () => {
  const db = await testDatabase();
  try {
    const made = receipt('action_failed', {
      receipt_id: 'e6d3a1f0-7b52-4c8e-9a41-2f0d6c5b4a39',
      timestamp: new Date(),
      sku_id: 'catalog',
      tenant_id: 'acme',
      status: 'error',
      context: {
        stream: 'governor:catalog',
        stream_seq: 1,
        action_id: 'a1',
        action_type: 'scale_up',
        failure_reason: 'timeout',
        error_message: erasable('Ada’s service did not answer'),
        retry_countdown: 2,
        max_retries: 3,
      },
    });
    await db.query('select writ.fn_ledger_tick($1)', ['ada']);
    const [stored] = made.erasables;
    // A receipt with something to erase, in a log of its own to note a checkpoint of.
    await db.query(
      `with written as (select writ_data.append_receipts(array[$1], writ.now()) as nos)
       insert into writ_data.receipt_erasable (receipt_no, hash, salt, value) select nos[1], decode($2, 'hex'), $3, $4::jsonb from written`,
      [canonicalize(made.receipt), stored?.hash, stored?.salt, canonicalize(stored?.value)],
    );
    await db.query('select writ.fn_setting_set($1, $2, $3)', ['ledger.seal.rows', '5000', 'ada']);
    await db.query('select writ.fn_ledger_tick($1)', ['ada']);
    await db.query('select writ.fn_ledger_heads($1)', ['ada']);
    await db.query('select writ.fn_ledger_key_add($1, null, $2, null, $3)', [
      'acme.example+c74f20a3+AQ==',
      `${'A'.repeat(86)}==`,
      'ada',
    ]);
    await db.query('select writ.fn_receipt_erase($1, $2, $3)', [
      made.receipt.receipt_id,
      'The person asked for it.',
      'ada',
    ]);
    await db.query(
      `select writ.fn_requests_rejected('edge', '{"signature_invalid": 2}', now(), now())`,
    );
    await db.query('select writ.fn_ledger_accept_restore(null, null, null, $1, $2)', [
      'The disk was lost, and restored.',
      'ada',
    ]);

    const rows = (await db.query('select entry from writ_data.receipt order by receipt_no')) as {
      entry: string;
    }[];
    const entries = rows.map(({ entry }) => JSON.parse(entry) as { reason: string });
    for (const entry of entries) expect(validateReceipt(entry), JSON.stringify(entry)).toBeNull();
    const own = Object.entries(reasons).flatMap(([name, { author }]) =>
      author === 'ledger' ? [name] : [],
    );
    expect(
      [...new Set(entries.map(({ reason }) => reason))]
        .filter((reason) => own.includes(reason))
        .sort(),
    ).toEqual(own.sort());
  } finally {
    await db.drop();
  }
});
