import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineJob, type Writ } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { inTransaction, type Session, session, untilBlocked } from './sessions.js';

const kind = defineJob<{ n: number }>('race');

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

const items = (keys: number[]) => keys.map((n) => ({ input: { n }, key: `key ${n}` }));

test('the same keys in opposite order from two sessions do not deadlock, and each becomes one job', async () => {
  const keys = Array.from({ length: 200 }, (_, n) => n);
  for (let round = 0; round < 10; round++) {
    const mine = keys.map((n) => n + round * 1000);
    const [one, two] = await Promise.all([
      inTransaction(a, () => writ.enqueueMany(kind, items(mine), { db: a })),
      inTransaction(b, () => writ.enqueueMany(kind, items([...mine].reverse()), { db: b })),
    ]);
    expect([...one, ...two].filter((outcome) => !outcome.duplicate)).toHaveLength(200);
  }
  expect(
    await db.query(
      'select count(*)::int as jobs, count(distinct idempotency_key)::int as keys from writ.job_queue',
    ),
  ).toEqual([{ jobs: 2000, keys: 2000 }]);
});

test('the same inputs in opposite order from two sessions do not deadlock', async () => {
  const numbers = Array.from({ length: 300 }, (_, n) => ({ input: { n } }));
  await Promise.all([
    inTransaction(a, () => writ.enqueueMany(kind, numbers, { db: a })),
    inTransaction(b, () => writ.enqueueMany(kind, [...numbers].reverse(), { db: b })),
  ]);
  expect(await db.query('select count(*)::int as jobs from writ.job_queue')).toEqual([
    { jobs: 600 },
  ]);
});

test('a second enqueue of a key waits for the first and answers its job', async () => {
  await writ.enqueue(kind, { n: 0 }); // the kind is registered outside of the transactions below
  await a.query('begin');
  const first = await writ.enqueue(kind, { n: 1 }, { key: 'once', db: a });
  const waiting = inTransaction(b, () => writ.enqueue(kind, { n: 1 }, { key: 'once', db: b }));
  await untilBlocked(db, b);
  await a.query('commit');
  expect(await waiting).toEqual({ jobId: first.jobId, duplicate: true, samePayload: true });
});

test('a second enqueue of a key becomes the job when the first is rolled back', async () => {
  await writ.enqueue(kind, { n: 0 });
  await a.query('begin');
  const first = await writ.enqueue(kind, { n: 1 }, { key: 'once', db: a });
  const waiting = inTransaction(b, () => writ.enqueue(kind, { n: 1 }, { key: 'once', db: b }));
  await untilBlocked(db, b);
  await a.query('rollback');
  const second = await waiting;
  expect(second.duplicate).toBe(false);
  expect(second.jobId).not.toBe(first.jobId);
  expect(
    await db.query(`select job_id from writ.job_queue where idempotency_key = 'once'`),
  ).toEqual([{ job_id: second.jobId }]);
});
