import { createHash } from 'node:crypto';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { defineJob, type JobContext, PermanentFailure, Writ } from '../../src/index.js';
import {
  onFaultPoint,
  runUntilIdle,
  type TestDatabase,
  testDatabase,
} from '../../src/testing/index.js';
import { latch } from './latch.js';

let db: TestDatabase;
let writ: Writ;

// A delay is random up to its ceiling: with a week of it no retry comes while a test looks.
const pay = defineJob<{ order: string }>('pay', { retry: { attempts: 3, base: '7d', cap: '7d' } });
const ship = defineJob<{ order: string }>('ship');
const input = { order: 'o-1' };
type Pay = JobContext<{ order: string }>;

const charge = ({ commit, input: { order } }: Pay) =>
  commit((tx) => tx.query('insert into charges (order_id) values ($1)', [order]));
const charges = async () => (await db.query('select from charges')).length;
const jobs = () =>
  db.query('select job_kind, status, attempts from writ.job_queue order by job_id');
const executions = async () =>
  (await db.query('select status from writ.job_execution order by job_id, execution_no')).map(
    ({ status }) => status,
  );
const codeOf = (attempt: Promise<unknown>) =>
  attempt.then(
    () => undefined,
    (error: { code?: string }) => error.code,
  );

beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
  // no unique key: a second effect would be seen
  await db.query('create table charges (order_id text)');
});
afterEach(async () => {
  onFaultPoint(undefined);
  await db.drop();
});

test('the effect and the mark become visible together', async () => {
  await writ.enqueue(pay, input);
  const seen: unknown[] = [];
  const look = async () => seen.push([await charges(), await executions()]);
  const handler = pay.handle(async (job) => {
    await job.commit(async (tx) => {
      await tx.query('insert into charges (order_id) values ($1)', ['o-1']);
      await look();
    });
    await look();
  });
  await runUntilIdle(writ, [handler]);
  expect(seen).toEqual([
    [0, ['IN_PROGRESS']],
    [1, ['COMMITTED']],
  ]);
  expect(await jobs()).toEqual([{ job_kind: 'pay', status: 'succeeded', attempts: 1 }]);
});

test('commit answers what the effect answers', async () => {
  await writ.enqueue(pay, input);
  let answer: unknown;
  await runUntilIdle(writ, [
    pay.handle(async ({ commit }) => {
      answer = await commit(async (tx) => (await tx.query('select 42 as n')).rows[0].n);
    }),
  ]);
  expect(answer).toBe(42);
});

test('an effect that throws leaves neither effect nor mark, and the job is tried again', async () => {
  await writ.enqueue(pay, input);
  let runs = 0;
  const handler = pay.handle(({ commit }) =>
    commit(async (tx) => {
      await tx.query('insert into charges (order_id) values ($1)', ['o-1']);
      if (++runs === 1) throw new Error('the card reader is on fire');
    }),
  );
  await runUntilIdle(writ, [handler], { skipTime: db });
  expect(await charges()).toBe(1);
  expect(await executions()).toEqual(['ABORTED', 'DONE']);
});

test('an effect that swallows an error of its SQL has not been applied, and the job is tried again', async () => {
  await writ.enqueue(pay, input);
  let runs = 0;
  const handler = pay.handle(({ commit }) =>
    commit(async (tx) => {
      await tx.query('insert into charges (order_id) values ($1)', ['o-1']);
      // PostgreSQL answers COMMIT with ROLLBACK now
      if (++runs === 1) await tx.query('select 1 / 0').catch(() => undefined);
    }),
  );
  await runUntilIdle(writ, [handler], { skipTime: db });
  expect({ runs, charges: await charges(), jobs: await jobs() }).toMatchObject({
    runs: 2,
    charges: 1,
    jobs: [{ status: 'succeeded' }],
  });
});

test('a constraint that fails at COMMIT is a failed attempt', async () => {
  await db.query('create table once (n int unique deferrable initially deferred)');
  await db.query('insert into once values (1)');
  await writ.enqueue(pay, input);
  await runUntilIdle(writ, [
    pay.handle(({ commit }) => commit((tx) => tx.query('insert into once values (1)'))),
  ]);
  expect(await jobs()).toMatchObject([{ status: 'retry_waiting', attempts: 1 }]);
});

test('a second commit in one handler is refused as already_committed and writes nothing', async () => {
  await writ.enqueue(pay, input);
  let second: unknown;
  const handler = pay.handle(async (job) => {
    await charge(job);
    second = await codeOf(charge(job));
  });
  await runUntilIdle(writ, [handler]);
  expect(second).toBe('already_committed');
  expect(await charges()).toBe(1);
});

test('of two commits at the same time one is applied', async () => {
  await writ.enqueue(pay, input);
  let codes: unknown[] = [];
  const handler = pay.handle(async (job) => {
    codes = await Promise.all([codeOf(charge(job)), codeOf(charge(job))]);
  });
  await runUntilIdle(writ, [handler]);
  expect(codes.sort()).toEqual(['already_committed', undefined]);
  expect(await charges()).toBe(1);
});

test.each([new Error('the mail server is down'), new PermanentFailure('no such address')])(
  'after commit an error undoes nothing and repeats nothing: %s',
  async (error) => {
    await writ.enqueue(pay, input);
    let runs = 0;
    const handler = pay.handle(async (job) => {
      runs++;
      await charge(job);
      throw error;
    });
    await runUntilIdle(writ, [handler], { skipTime: db });
    expect([runs, await charges()]).toEqual([1, 1]);
    expect(await jobs()).toMatchObject([{ status: 'succeeded', attempts: 1 }]);
  },
);

test('without a commit, returning from the handler commits', async () => {
  await writ.enqueue(pay, input);
  await runUntilIdle(writ, [pay.handle(() => undefined)]);
  expect(
    await db.query('select status, committed_at is not null as committed from writ.job_execution'),
  ).toEqual([{ status: 'DONE', committed: true }]);
});

test('after its lease was taken back a handler can commit nothing', async () => {
  await writ.enqueue(pay, input);
  const started = latch();
  const goOn = latch();
  const code = latch<unknown>();
  const slow = pay.handle(async (job) => {
    started.open();
    await goOn.opened;
    code.open(await codeOf(charge(job)));
  });
  const worker = await writ.work([slow], { onError: () => undefined });
  await started.opened;
  await db.query(`update writ_data.job_lease set leased_until = writ.now() - interval '1 second'`);
  await db.query(`select writ.fn_job_lease_reaper('test')`);
  goOn.open();
  expect(await code.opened).toBe('lease_lost');
  expect(await charges()).toBe(0);
  await worker.stop();
  expect(await jobs()).toMatchObject([{ status: 'retry_waiting', attempts: 1 }]);
});

test('a lease is not taken back while a commit of it is under way', async () => {
  await writ.enqueue(pay, input);
  const inside = latch();
  const goOn = latch();
  const handler = pay.handle(({ commit }) =>
    commit(async (tx) => {
      await tx.query('insert into charges (order_id) values ($1)', ['o-1']);
      inside.open();
      await goOn.opened;
    }),
  );
  const running = runUntilIdle(writ, [handler]);
  await inside.opened;
  await db.query(`update writ_data.job_lease set leased_until = writ.now() - interval '1 second'`);
  expect(await db.query(`select writ.fn_job_lease_reaper('test') -> 'leases' as leases`)).toEqual([
    { leases: 0 },
  ]);
  goOn.open();
  await running;
  expect(await charges()).toBe(1);
  expect(await executions()).toEqual(['DONE']);
});

test('a job enqueued inside commit is there if and only if the commit is', async () => {
  await writ.enqueue(pay, input);
  let runs = 0;
  const handler = pay.handle(({ commit }) =>
    commit(async (tx) => {
      await writ.enqueue(ship, input, { db: tx });
      if (++runs === 1) throw new Error('not yet');
    }),
  );
  await runUntilIdle(writ, [handler, ship.handle(() => undefined)], { skipTime: db });
  expect(runs).toBe(2);
  expect(await jobs()).toEqual([
    { job_kind: 'pay', status: 'succeeded', attempts: 2 },
    { job_kind: 'ship', status: 'succeeded', attempts: 1 },
  ]);
});

test('commits that enqueue a new kind do not starve each other of connections', async () => {
  const narrow = await Writ.connect({ connectionString: db.connectionString, max: 2 });
  const kinds = [defineJob('next-1'), defineJob('next-2')];
  await narrow.enqueue(pay, input);
  await narrow.enqueue(pay, input);
  const both = latch();
  let inside = 0;
  const handler = pay.handle(({ commit }) =>
    commit(async (tx) => {
      if (++inside === 2) both.open();
      await both.opened; // every connection of the pool is in a commit now
      await narrow.enqueue(kinds.pop()!, undefined, { db: tx });
    }),
  );
  void narrow.work([handler], { concurrency: 2 }).catch(() => undefined);
  await vi.waitFor(async () => expect(await jobs()).toHaveLength(4), {
    timeout: 20_000,
    interval: 50,
  });
  await narrow.close();
});

test('the effect key is the hash of tenant, kind and key, and the same in every attempt and after a replay', async () => {
  const { jobId } = await writ.enqueue(pay, input, { key: 'o-1', tenant: 'acme' });
  const keys: string[] = [];
  let broken = true;
  const handler = pay.handle(({ effectKey }) => {
    keys.push(effectKey);
    if (broken) throw new Error('no');
  });
  await runUntilIdle(writ, [handler], { skipTime: db });
  broken = false;
  await writ.jobs.requeue(jobId, { reason: 'the card reader is back' });
  await runUntilIdle(writ, [handler], { skipTime: db });
  const expected = createHash('sha256').update('acme|pay|o-1').digest('hex');
  expect(keys).toEqual([expected, expected, expected, expected]);
});

test('a job without a key keeps its effect key through replays of replays', async () => {
  const once = defineJob('once', { retry: { attempts: 1 } });
  let { jobId } = await writ.enqueue(once);
  const keys: string[] = [];
  const handler = once.handle(({ effectKey }) => {
    keys.push(effectKey);
    throw new PermanentFailure('no');
  });
  for (let i = 0; i < 3; i++) {
    await runUntilIdle(writ, [handler]);
    ({ job_id: jobId } = await writ.jobs.requeue(jobId, { reason: 'again' }));
  }
  expect(keys).toHaveLength(3);
  expect(new Set(keys).size).toBe(1);
});
