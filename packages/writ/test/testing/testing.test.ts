import { afterEach, expect, test } from 'vitest';
import { defineJob } from '../../src/index.js';
import { runUntilIdle, type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { latch } from '../queue/latch.js';

const opened: TestDatabase[] = [];
async function fresh(): Promise<TestDatabase> {
  const db = await testDatabase();
  opened.push(db);
  return db;
}
afterEach(async () => {
  await Promise.all(opened.splice(0).map((db) => db.drop()));
});

// A delay is random up to its ceiling: with a week of it no retry comes while a test looks.
const step = defineJob<{ n: number }>('step', { retry: { attempts: 3, base: '7d', cap: '7d' } });
const jobs = (db: TestDatabase) =>
  db.query('select status, attempts from writ.job_queue order by job_id');

test('a database takes less than a second', async () => {
  await fresh(); // the first one makes the template
  const times: number[] = [];
  for (let i = 0; i < 5; i++) {
    const start = performance.now();
    await fresh();
    times.push(Math.round(performance.now() - start));
  }
  console.log(`a test database: ${times.join(', ')} ms`);
  expect(Math.min(...times)).toBeLessThan(1_000);
});

test('what happens in one database is not seen in another', async () => {
  const [one, two] = [await fresh(), await fresh()];
  await (await one.connect()).enqueue(step, { n: 1 });
  expect(await jobs(one)).toHaveLength(1);
  expect(await jobs(two)).toEqual([]);
});

test('the clock of one database is not the clock of another', async () => {
  const [one, two] = [await fresh(), await fresh()];
  await one.clock.advance('1h');
  const ahead = async (db: TestDatabase) =>
    Number(
      (await db.query('select extract(epoch from writ.now() - clock_timestamp()) as s'))[0]?.s,
    );
  expect(await ahead(one)).toBeCloseTo(3_600, 0);
  expect(await ahead(two)).toBeCloseTo(0, 0);
});

test('the clock adds up, and reset brings back real time', async () => {
  const db = await fresh();
  const ahead = async () =>
    Number(
      (await db.query('select extract(epoch from writ.now() - clock_timestamp()) as s'))[0]?.s,
    );
  await db.clock.advance('1m');
  await db.clock.advance('30s');
  expect(await ahead()).toBeCloseTo(90, 0);
  await db.clock.reset();
  expect(await ahead()).toBeCloseTo(0, 0);
});

test('the queue is switched on from the start', async () => {
  const db = await fresh();
  expect(await (await db.connect()).jobs.health()).toMatchObject({ enabled: true, backlog: 0 });
});

test('a dropped database is gone, and what was connected to it is closed', async () => {
  const db = await testDatabase();
  const writ = await db.connect();
  await db.drop();
  await expect(writ.enqueue(step, { n: 1 })).rejects.toMatchObject({ code: 'closed' });
  const other = await fresh();
  const name = new URL(db.connectionString).pathname.slice(1);
  expect(await other.query('select from pg_database where datname = $1', [name])).toEqual([]);
});

test('delays follow the clock', async () => {
  const db = await fresh();
  const writ = await db.connect();
  await writ.enqueue(step, { n: 1 }, { delay: '2h' });
  let runs = 0;
  const handler = step.handle(() => void runs++);
  await runUntilIdle(writ, [handler]);
  expect(runs).toBe(0);
  await db.clock.advance('2h');
  await runUntilIdle(writ, [handler]);
  expect(runs).toBe(1);
});

test('retries follow the clock', async () => {
  const db = await fresh();
  const writ = await db.connect();
  await writ.enqueue(step, { n: 1 });
  const handler = step.handle(({ job }) => {
    if (job.attempt === 1) throw new Error('no');
  });
  await runUntilIdle(writ, [handler]);
  expect(await jobs(db)).toEqual([{ status: 'retry_waiting', attempts: 1 }]);
  await db.clock.advance('7d'); // the ceiling of the first delay
  await runUntilIdle(writ, [handler]);
  expect(await jobs(db)).toEqual([{ status: 'succeeded', attempts: 2 }]);
});

test('leases follow the clock', async () => {
  const db = await fresh();
  await (await db.connect()).enqueue(step, { n: 1 });
  await db.query(`select writ.fn_job_claim_many('{step}', 'external_worker', 'gone', 300, 1, 1)`);
  const reap = async () =>
    (await db.query(`select writ.fn_job_lease_reaper('test') ->> 'leases' as n`))[0]?.n;
  expect(await reap()).toBe('0');
  await db.clock.advance('301s');
  expect(await reap()).toBe('1');
  expect(await jobs(db)).toEqual([{ status: 'retry_waiting', attempts: 1 }]);
});

test('deadlines follow the clock', async () => {
  const db = await fresh();
  const writ = await db.connect();
  await writ.enqueue(step, { n: 1 }, { deadline: '1d' });
  await db.clock.advance('2d');
  await runUntilIdle(writ, [step.handle(() => undefined)]);
  expect(await jobs(db)).toEqual([{ status: 'cancelled', attempts: 0 }]);
});

test('runUntilIdle does what is there, and what that enqueues', async () => {
  const db = await fresh();
  const writ = await db.connect();
  await writ.enqueue(step, { n: 3 });
  const seen: number[] = [];
  const handler = step.handle(async ({ input: { n } }) => {
    seen.push(n);
    if (n > 0) await writ.enqueue(step, { n: n - 1 });
  });
  await runUntilIdle(writ, [handler]);
  expect(seen).toEqual([3, 2, 1, 0]);
});

test('runUntilIdle with nothing to do ends', async () => {
  const db = await fresh();
  await runUntilIdle(await db.connect(), [step.handle(() => undefined)]);
});

test('skipTime moves the clock over delays and retries instead of waiting', async () => {
  const db = await fresh();
  const writ = await db.connect();
  await writ.enqueue(step, { n: 1 });
  await writ.enqueue(step, { n: 2 }, { delay: '7d' });
  const handler = step.handle(({ job }) => {
    if (job.attempt < 3) throw new Error('no');
  });
  await runUntilIdle(writ, [handler], { skipTime: db });
  expect(await jobs(db)).toEqual([
    { status: 'succeeded', attempts: 3 },
    { status: 'succeeded', attempts: 3 },
  ]);
});

test('skipTime moves over a month too', async () => {
  const db = await fresh();
  const writ = await db.connect();
  await writ.enqueue(step, { n: 1 }, { delay: '40d' });
  await runUntilIdle(writ, [step.handle(() => undefined)], { skipTime: db });
  expect(await jobs(db)).toEqual([{ status: 'succeeded', attempts: 1 }]);
});

test('runUntilIdle gives up in time, and says what is left', async () => {
  const db = await fresh();
  const writ = await db.connect();
  await writ.enqueue(step, { n: 1 });
  const goOn = latch();
  const running = runUntilIdle(writ, [step.handle(() => goOn.opened)], {
    within: '3s',
    grace: '50ms',
  });
  await expect(running).rejects.toThrow(/not idle: .*"in_progress":1/);
  goOn.open();
});

test('jobs of kinds without a handler here do not keep runUntilIdle from ending', async () => {
  const db = await fresh();
  const writ = await db.connect();
  const other = defineJob('other');
  await writ.enqueue(other);
  await writ.enqueue(step, { n: 1 });
  await runUntilIdle(writ, [step.handle(() => undefined)], { within: '20s' });
  expect((await jobs(db)).map(({ status }) => status)).toEqual(['queued', 'succeeded']);
});
