/**
 * A dump that is restored into another server: transactions are counted there from elsewhere, and
 * may come to have the numbers again that old ones had. What was sealed stays as it was sealed, and
 * what is new is sealed once, in later segments.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineJob } from '../../src/index.js';
import { keyOfSeed, privateKeyText, publicKeyText } from '../../src/ledger/note.js';
import { verifyEventProof } from '../../src/ledger/proofs.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import type { Writ } from '../../src/writ.js';
import { direct, session, until } from '../races/sessions.js';
import { asIfRestored } from '../restored.js';

const signer = keyOfSeed('acme.example/test', new Uint8Array(32).fill(7));
const keys = [publicKeyText(signer)];
const chore = defineJob('chore');

let db: TestDatabase;
let writ: Writ;
beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
});
afterEach(() => db.drop());

/**
 * Every row of the record is in a segment. What other databases of this server have open holds it
 * up.
 */
const seal = () =>
  until(async () => {
    await db.clock.advance('2s');
    await db.query(`select writ.fn_ledger_tick('test')`);
    const [left] = await db.query(
      `select count(*)::int as rows from writ_data.event_batch where writ.fn_ledger_segment_of(batch_id) is null`,
    );
    return left?.rows === 0;
  }, 20_000);
const sign = () => writ.ledger.checkpoint({ key: privateKeyText(signer), places: [] });
const eventOf = async (jobId: string) =>
  String(
    (await db.query('select id from writ.event_outbox where event_subject_ref = $1', [jobId]))[0]
      ?.id,
  );
const segmentOf = async (event: string) =>
  Number((await db.query('select writ.fn_ledger_segment_of($1) as segment', [event]))[0]?.segment);
const segments = () =>
  db.query(
    'select s.segment::int as segment, r.batch_id, r.document from writ.event_seal s cross join lateral writ.fn_ledger_segment(s.segment) r',
  );

/**
 * The old server had counted a million transactions more before the last row of the record than
 * this one has: an order that it might have had.
 */
async function moveToAnotherServer(): Promise<void> {
  const superuser = await session(direct(db));
  const [last] = await superuser.query(
    'select batch_id from writ_data.event_batch order by xid desc, batch_id desc limit 1',
  );
  await asIfRestored((sql) => superuser.query(sql), {
    batches: `b.batch_id = '${last?.batch_id}'`,
    by: 1_000_000n,
  });
  await superuser.end();
}

test('rows whose transactions have numbers out of an old segment leave it as it was sealed, and are sealed in a later one', async () => {
  const old = await writ.enqueue(chore);
  await writ.enqueue(chore);
  await seal();
  const kept = (await sign()).find(({ log }) => log === '_system')?.note;
  const before = await segments();
  await moveToAnotherServer();
  expect(await segments()).toEqual(before);

  const fresh = await writ.enqueue(chore);
  const [within] = await db.query(
    `select count(*)::int as rows from writ_data.event_batch b join writ_data.event_seal s on b.xid > s.from_xid and b.xid < s.to_xid
     where b.batch_id = writ_data.batch_of($1)`,
    [await eventOf(fresh.jobId)],
  );
  expect(within?.rows).toBe(1);
  expect(await writ.ledger.verify({ keys, checkpoint: String(kept) })).toMatchObject({
    ok: true,
    problems: [],
  });

  await seal();
  await sign();
  const after = await segments();
  const last = Math.max(...before.map(({ segment }) => Number(segment)));
  expect(after.filter(({ segment }) => Number(segment) <= last)).toEqual(before);
  expect(await segmentOf(await eventOf(fresh.jobId))).toBeGreaterThan(last);
  expect(await writ.ledger.verify({ keys, checkpoint: String(kept) })).toMatchObject({
    ok: true,
    problems: [],
  });
  for (const { jobId } of [old, fresh]) {
    const proof = await writ.ledger.proveEvent(await eventOf(jobId));
    expect(verifyEventProof(proof, { keys }).event).toMatchObject({
      type: 'dot.job.enqueued',
      subject: jobId,
    });
  }
});

test('no row is sealed a second time there, not even one that was written after those of younger transactions', async () => {
  await writ.enqueue(chore);
  const slow = await session(db);
  await slow.query('begin');
  await slow.query('select pg_current_xact_id()');
  await writ.enqueue(chore);
  // an id after the enqueue's, in a transaction before it
  await slow.query(`select writ.fn_job_kind_register('late', '{}', 'test')`);
  await slow.query('commit');
  await slow.end();
  await seal();
  await moveToAnotherServer();
  await writ.enqueue(chore);
  await seal();
  await db.clock.advance('2s');
  await db.query(`select writ.fn_ledger_tick('test')`);
  const [counts] = await db.query(
    'select (select count(*)::int from writ_data.event_batch) as written, (select sum(rows)::int from writ.event_seal) as sealed',
  );
  expect(counts?.sealed).toBe(counts?.written);
});
