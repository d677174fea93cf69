import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineJob, type Writ } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { disagreements, type Session, session } from './sessions.js';

const kind = defineJob<{ n: number }>('race', { retry: { attempts: 3, base: '1s', cap: '1s' } });

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

const enqueue = (count: number, options: object) =>
  writ.enqueueMany(
    kind,
    Array.from({ length: count }, (_, n) => ({ input: { n }, ...options })),
  );

test('a tick that finds another one at work answers at once that it is busy', async () => {
  await enqueue(3, { delay: '10s' });
  await db.clock.advance('1m');
  await a.query('begin');
  expect(await a.gate('fn_job_tick($1)', ['a'])).toMatchObject({ promoted: 3 });
  expect(await b.gate('fn_job_tick($1)', ['b'])).toMatchObject({ busy: true });
  await a.query('commit');
});

test('ticks of many sessions at once promote each waiting job once', async () => {
  await enqueue(500, { delay: '10s' });
  await db.clock.advance('1m');
  const sessions = await Promise.all(Array.from({ length: 6 }, () => session(db)));
  const answers = await Promise.all(sessions.map((s) => s.gate('fn_job_tick($1)', ['tick'])));
  await Promise.all(sessions.map((s) => s.end()));
  expect(answers.reduce((sum, answer) => sum + Number(answer.promoted ?? 0), 0)).toBe(500);
  expect(
    await db.query(
      'select count(*)::int as n, count(distinct id)::int as jobs from writ_data.job_ready cross join lateral unnest(job_ids) id',
    ),
  ).toEqual([{ n: 500, jobs: 500 }]);
});

test('two reapers at once take each expired lease back once', async () => {
  await enqueue(40, {});
  for (let i = 0; i < 20; i++)
    await a.gate(`fn_job_claim_many(array['race'], 'external_worker', 'worker', 30, 2, 1)`);
  await db.clock.advance('1m');
  await a.query('begin');
  const first = await a.gate('fn_job_lease_reaper()');
  const second = await b.gate('fn_job_lease_reaper()');
  await a.query('commit');
  expect([first.leases, second.leases]).toEqual([20, 0]);
  expect(
    await db.query(
      'select status, attempts, count(*)::int as n from writ.job_queue group by 1, 2 order by 1',
    ),
  ).toEqual([
    { status: 'queued', attempts: 0, n: 20 },
    { status: 'retry_waiting', attempts: 1, n: 20 },
  ]);
  expect(await disagreements(db)).toEqual([]);
});

test('a tick passes over a waiting job that an open cancel has taken', async () => {
  const [job] = await enqueue(1, { delay: '10s' });
  await db.clock.advance('1m');
  await a.query('begin');
  expect(await a.gate('fn_job_cancel($1, null, $2)', [job?.jobId, 'tester'])).toMatchObject({
    status: 'cancelled',
  });
  expect(await b.gate('fn_job_tick($1)', ['tick'])).toMatchObject({ promoted: 0 });
  await a.query('commit');
  expect(await db.query('select status from writ.job_queue')).toEqual([{ status: 'cancelled' }]);
});
