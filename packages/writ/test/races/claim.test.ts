import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineJob, type Writ } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { disagreements, type Session, session, untilBlocked } from './sessions.js';

const kind = defineJob<{ n: number }>('race', { retry: { attempts: 3, base: '1s', cap: '1s' } });
const claim = (s: Session, limit: number, start = limit) =>
  s.gate(`fn_job_claim_many(array['race'], 'external_worker', $3, 30, $1, $2)`, [
    limit,
    start,
    s.name,
  ]) as Promise<{
    lease_token: string;
    jobs: unknown[][];
  }>;

let db: TestDatabase;
let writ: Writ;
let a: Session;
let b: Session;

beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
  [a, b] = await Promise.all([session(db), session(db)]);
});
afterEach(async () => {
  await Promise.all([a.end(), b.end()]);
  await db.drop();
});

const enqueue = (count: number) =>
  writ.enqueueMany(
    kind,
    Array.from({ length: count }, (_, n) => ({ input: { n } })),
  );

test('a job that an open claim has taken is passed over by another, not waited for', async () => {
  const [first] = await enqueue(1);
  const [second] = await enqueue(1);
  await a.query('begin');
  expect((await claim(a, 1)).jobs.map(([id]) => id)).toEqual([first?.jobId]);
  expect((await claim(b, 5)).jobs.map(([id]) => id)).toEqual([second?.jobId]);
  await a.query('commit');
});

test.each(['commit', 'rollback'])(
  'what a claim leaves of the jobs of one call is there for others when it has ended by %s',
  async (end) => {
    const ids = (await enqueue(3)).map(({ jobId }) => jobId);
    await a.query('begin');
    expect((await claim(a, 1)).jobs.map(([id]) => id)).toEqual(ids.slice(0, 1));
    // passed over together with the one that is being taken, not waited for
    expect((await claim(b, 5)).jobs).toEqual([]);
    await a.query(end);
    expect((await claim(b, 5)).jobs.map(([id]) => id)).toEqual(
      end === 'commit' ? ids.slice(1) : ids,
    );
  },
);

test('a job whose claim was rolled back can be claimed again', async () => {
  const [job] = await enqueue(1);
  await a.query('begin');
  await claim(a, 1);
  expect((await claim(b, 1)).jobs).toEqual([]);
  await a.query('rollback');
  expect((await claim(b, 1)).jobs.map(([id]) => id)).toEqual([job?.jobId]);
});

test('claims of eight sessions at once share the jobs and never get the same one', async () => {
  await enqueue(400);
  const sessions = await Promise.all(Array.from({ length: 8 }, () => session(db)));
  const taken = await Promise.all(
    sessions.map(async (s) => {
      const ids: unknown[] = [];
      for (;;) {
        const { jobs } = await claim(s, 7);
        if (jobs.length === 0) return ids;
        ids.push(...jobs.map(([id]) => id));
      }
    }),
  );
  await Promise.all(sessions.map((s) => s.end()));
  const all = taken.flat();
  expect(all).toHaveLength(400);
  expect(new Set(all).size).toBe(400);
});

test('a cancel that comes while a claim is open waits for it, and then asks the worker to stop', async () => {
  const [job] = await enqueue(1);
  await a.query('begin');
  await claim(a, 1);
  const cancelling = b.gate('fn_job_cancel($1, null, $2)', [job?.jobId, 'tester']);
  await untilBlocked(db, b);
  await a.query('commit');
  expect(await cancelling).toMatchObject({ status: 'cancel_requested' });
});

test('a cancel that comes while a claim is open cancels at once when the claim is rolled back', async () => {
  const [job] = await enqueue(1);
  await a.query('begin');
  await claim(a, 1);
  const cancelling = b.gate('fn_job_cancel($1, null, $2)', [job?.jobId, 'tester']);
  await untilBlocked(db, b);
  await a.query('rollback');
  expect(await cancelling).toMatchObject({ status: 'cancelled' });
  expect((await claim(a, 1)).jobs).toEqual([]);
});

test('a claim passes over a job that an open cancel has taken', async () => {
  const [job] = await enqueue(1);
  await a.query('begin');
  expect(await a.gate('fn_job_cancel($1, null, $2)', [job?.jobId, 'tester'])).toMatchObject({
    status: 'cancelled',
  });
  expect((await claim(b, 1)).jobs).toEqual([]);
  await a.query('commit');
  expect((await claim(b, 1)).jobs).toEqual([]);
  expect(await disagreements(db)).toEqual([]);
});

test('a cancel request that a failure follows ends the job as cancelled', async () => {
  const [job] = await enqueue(1);
  const { lease_token } = await claim(a, 1);
  await b.query('begin');
  expect(await b.gate('fn_job_cancel($1, null, $2)', [job?.jobId, 'tester'])).toMatchObject({
    status: 'cancel_requested',
  });
  const failing = a.gate('fn_job_fail_transient($1, $2, $3, $4, $5)', [
    job?.jobId,
    lease_token,
    'x',
    'no',
    'worker',
  ]);
  await untilBlocked(db, a);
  await b.query('commit');
  expect(await failing).toMatchObject({ status: 'cancelled' });
  expect(await disagreements(db)).toEqual([]);
});

test('a cancel that comes while a failure is open takes the job out of its retry', async () => {
  const [job] = await enqueue(1);
  const { lease_token } = await claim(a, 1);
  await a.query('begin');
  expect(
    await a.gate('fn_job_fail_transient($1, $2, $3, $4, $5)', [
      job?.jobId,
      lease_token,
      'x',
      'no',
      'worker',
    ]),
  ).toMatchObject({
    status: 'retry_waiting',
  });
  const cancelling = b.gate('fn_job_cancel($1, null, $2)', [job?.jobId, 'tester']);
  await untilBlocked(db, b);
  await a.query('commit');
  expect(await cancelling).toMatchObject({ status: 'cancelled' });
  expect(await db.query('select status from writ.job_queue')).toEqual([{ status: 'cancelled' }]);
  expect(await disagreements(db)).toEqual([]);
});
