/**
 * Nobody has to turn the ledger: a worker that does nothing but its jobs puts receipts into their
 * logs and seals the record, within about a second.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineJob } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import type { Writ } from '../../src/writ.js';
import { until } from '../races/sessions.js';
import { append, entryOf } from './receipts.js';

const chore = defineJob('chore');
/** About a second, on a machine that has other things to do. */
const promisedMs = 2_000;

let db: TestDatabase;
let writ: Writ;
beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
  await writ.work([chore.handle(async () => undefined)], { concurrency: 1 });
});
afterEach(() => db.drop());

test('a receipt that was committed is in its log within about a second', async () => {
  await append(db, [entryOf('acme', 'governor:1', 1)]);
  await until(
    async () =>
      (await db.query(`select from writ.ledger_entry where log_id = 'acme' and stream_seq = 1`))
        .length > 0,
    promisedMs,
  );
  expect(
    await db.query(`select size::int as size from writ.ledger_log where log_id = 'acme'`),
  ).toEqual([{ size: 1 }]);
});

test('an event is sealed within about a second, and the seal is in the log of the deployment', async () => {
  const { jobId } = await writ.enqueue(chore);
  const [event] = await db.query(
    `select id from writ.event_outbox where event_subject_ref = $1 and event_type = 'dot.job.enqueued'`,
    [jobId],
  );
  // The second begins when no transaction of this server that was open before is so any more: those
  // of other databases count too.
  await until(async () => {
    const [row] = await db.query(
      `select pg_snapshot_xmin(pg_current_snapshot()) > b.xid as free from writ_data.event_batch b where b.batch_id = writ_data.batch_of($1)`,
      [event?.id],
    );
    return row?.free === true;
  }, 20_000);
  await until(async () => {
    const [row] = await db.query(
      `select s.leaf_index from writ.event_seal s where s.segment = writ.fn_ledger_segment_of($1) and s.leaf_index is not null`,
      [event?.id],
    );
    return row !== undefined;
  }, promisedMs);
});
