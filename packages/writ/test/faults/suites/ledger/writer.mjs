// @ts-check
// Writes receipts, in transactions short and long, of one stream or several, some of which are rolled back. Each has a witness: a row that it writes beside its
// receipts, so that what was committed is known even when nobody heard the answer. The record says what was tried, before the commit, and what was answered.
import { randomUUID } from 'node:crypto';
import { canonicalize } from '../../../../dist/ledger/canonical.js';

export const tenants = ['acme', 'umbrella', 'initech'];
const streams = ['governor:1', 'governor:2', 'governor:3', 'contract:7'];

/** @param {string} tenant @param {string} stream @param {number} seq @param {string} tx */
const entryOf = (tenant, stream, seq, tx) => {
  const receipt = {
    receipt_id: randomUUID(),
    timestamp: new Date().toISOString(),
    sku_id: 'acme-catalog-v1',
    tenant_id: tenant,
    status: 'accept',
    reason: 'signal_received',
    context: { stream, stream_seq: seq, signal_type: 'cpu_utilization', value: seq / 8, tx },
  };
  return { receipt, entry: canonicalize(receipt) };
};

/** @param {import('./process.mjs').Tools} tools */
export async function role({ random, note, passage, pause, eachTurn }) {
  await eachTurn(async (client) => {
    const tx = randomUUID();
    /** @type {[id: string, log: string, stream: string, seq: number][]} */
    const receipts = [];
    const witness = () => client.query('insert into fault.written (tx) values ($1)', [tx]);
    // In one order, so that no two writers wait for each other; one stream in three is this
    // process's own.
    const chosen = new Set(
      Array.from({ length: random.between(1, 4) }, () => {
        const stream = random.next() < 0.33 ? `governor:${process.pid}` : random.pick(streams);
        return `${random.pick(tenants)}/${stream}`;
      }),
    );
    await client.query('begin');
    // One that has its number early and writes late has smaller transaction numbers than receipts
    // before its own.
    const early = random.next() < 0.5;
    if (early) await witness();
    if (early) await pause(random.between(0, 30));
    for (const key of [...chosen].sort()) {
      const [tenant = '', stream = ''] = key.split('/');
      const count = random.pick([1, 1, 2, 5, 20]);
      const { rows } = await client.query(
        'select writ_data.next_seq($1, $2, $3)::integer as first',
        [tenant, stream, count],
      );
      await passage('counted', client);
      const made = Array.from({ length: count }, (_, n) =>
        entryOf(tenant, stream, rows[0].first + n, tx),
      );
      await client.query('select writ_data.append_receipts($1::text[], writ.now())', [
        made.map(({ entry }) => entry),
      ]);
      for (const { receipt } of made)
        receipts.push([receipt.receipt_id, tenant, stream, receipt.context.stream_seq]);
      if (random.next() < 0.3) await pause(random.pick([1, 5, 20, 100]));
    }
    if (!early) await witness();
    note({ tx, tried: receipts });
    await passage('appended', client);
    if (random.next() < 0.15) {
      await client.query('rollback');
      note({ tx, answered: 'rolled_back' });
    } else {
      const committing = client.query('commit');
      committing.catch(() => undefined); // it is awaited below
      await passage('commit_sent', client);
      await committing;
      await passage('committed', client);
      note({ tx, answered: 'committed' });
    }
    await pause(random.pick([0, 2, 10]));
  });
}
