/**
 * What the gates of the ledger write about itself is checked against the schemas that everybody
 * else's receipts have to fit.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { canonicalize } from '../../src/ledger/canonical.js';
import { erasable } from '../../src/ledger/erasable.js';
import { keyOfSeed, privateKeyText, publicKeyText } from '../../src/ledger/note.js';
import { reasons } from '../../src/ledger/reasons/index.js';
import { receipt } from '../../src/ledger/receipt.js';
import { validateReceipt } from '../../src/ledger/validate.js';
import { testDatabase } from '../../src/testing/index.js';
import { until } from '../races/sessions.js';

const signer = keyOfSeed('acme.example/test', new Uint8Array(32).fill(7));
const [key, keys] = [privateKeyText(signer), [publicKeyText(signer)]];

test('every receipt that the ledger writes about itself fits the schema of its reason', async () => {
  const db = await testDatabase();
  const writ = await db.connect({ actor: 'ada' });
  const folder = mkdtempSync(join(tmpdir(), 'writ-own-'));
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
    // An open transaction of another database of this server can hold the sealing up.
    await until(async () => {
      await db.query('select writ.fn_ledger_tick($1)', ['ada']);
      return (
        (
          await db.query(
            `select from writ_data.receipt where entry::jsonb ->> 'reason' = 'events_sealed'`,
          )
        ).length > 0
      );
    });
    await db.query('select writ.fn_receipt_erase($1, $2, $3)', [
      made.receipt.receipt_id,
      'The person asked for it.',
      'ada',
    ]);
    await db.query(
      `select writ.fn_requests_rejected('edge', '{"signature_invalid": 2}', now(), now())`,
    );
    await writ.ledger.checkpoint({ key, places: [] });
    const exported = await writ.ledger.export(folder);
    await db.query(`select writ_data.make_receipt_partition('2020-01-15')`);
    await writ.ledger.archived({ key, month: '2020-01', place: '/archive', exported });
    await writ.ledger.acceptRestore({
      places: [],
      keys,
      key,
      reason: 'The disk was lost, and restored.',
    });

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
    rmSync(folder, { recursive: true, force: true });
    await db.drop();
  }
});
