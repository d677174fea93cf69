/**
 * Limits per kind and key are exact, whoever claims, and give back what they hold however a job
 * ends.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineJob } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { type Session, session, until } from '../races/sessions.js';
import {
  abort,
  bulkOf,
  type ClaimAnswer,
  call,
  claim as claimOf,
  idsOf,
  register,
  statuses,
  succeed,
  tick,
} from './bulk.js';

let db: TestDatabase;

beforeEach(async () => {
  db = await testDatabase();
});
afterEach(() => db.drop());

const claim = (
  limit: number,
  more: Record<string, unknown> = {},
  on: Session | TestDatabase = db,
) => claimOf(on, limit, { kinds: ['call'], start: limit, ...more });
const enqueue = (count: number, limit_key?: string, more: Record<string, unknown> = {}) =>
  bulkOf(
    db,
    Array.from({ length: count }, () => ({ kind: 'call', limit_key, ...more })),
  );

/** The clock of every gate stands still at this moment. */
const freeze = (at: Date) =>
  db.query(
    `create or replace function writ.now() returns timestamptz language sql volatile as $$ select timestamptz '${at.toISOString()}' $$`,
  );

// Concurrency
// ------------------------------------------------------------------------------------------------------

test('never more than the limit of a key is held, whatever eight sessions do at once, and the limit is reached', async () => {
  await register(db, 'call', { limit_concurrency: 3, backoff_base_s: 0, max_attempts: 50 });
  for (const key of ['a', 'b', 'c']) await enqueue(15, key);
  const sessions = await Promise.all(Array.from({ length: 8 }, () => session(db)));
  const held: Record<string, number> = { a: 0, b: 0, c: 0 };
  const keyOf = new Map(
    (await db.query('select job_id, limit_key from writ_data.job')).map((row) => [
      String(row.job_id),
      String(row.limit_key),
    ]),
  );
  let most = 0;
  let done = 0;
  await Promise.all(
    sessions.map(async (s, number) => {
      for (let n = 0; done < 45 && n < 3000; n++) {
        const answer = await claim(1 + ((n + number) % 5), {}, s);
        const keys = idsOf(answer).map((id) => keyOf.get(id) as string);
        for (const key of keys) {
          held[key] = (held[key] ?? 0) + 1;
          most = Math.max(most, held[key]);
        }
        if (keys.length === 0) {
          if (number === 0) await tick(s);
          await new Promise((resume) => setTimeout(resume, 3));
          continue;
        }
        // before the database hears of it, so that we never count too many
        for (const key of keys) held[key] = (held[key] ?? 0) - 1;
        const end = (n + number) % 4;
        if (end < 2) {
          // not in one line with the sum, which would be read before the wait
          const finished = Number((await succeed(s, answer)).done);
          done += finished;
        } else await abort(s, answer, end === 2 ? 'transient' : 'released');
      }
    }),
  );
  await Promise.all(sessions.map((s) => s.end()));
  expect(most).toBe(3);
  expect(await statuses(db)).toEqual({ succeeded: 45 });
  expect(await db.query('select * from writ_data.limit_hold')).toEqual([]);
}, 120_000);

test('two claims at once cannot both take the last place', async () => {
  await register(db, 'call', { limit_concurrency: 1 });
  await enqueue(2, 'a');
  const [a, b] = await Promise.all([session(db), session(db)]);
  await a.query('begin');
  expect((await claim(5, {}, a)).jobs).toHaveLength(1);
  const other = await claim(5, {}, b); // does not wait
  expect(other).toMatchObject({ jobs: [], limited: true });
  expect(other.again_ms).toBeGreaterThan(0);
  await a.query('commit');
  expect((await claim(5, {}, b)).jobs).toHaveLength(0);
  await Promise.all([a.end(), b.end()]);
});

test.each<[string, (held: ClaimAnswer) => Promise<unknown>]>([
  ['success', (held) => succeed(db, held)],
  ['failure', (held) => abort(db, held, 'transient')],
  ['permanent failure', (held) => abort(db, held, 'permanent')],
  ['release', (held) => abort(db, held, 'released')],
  [
    'release of the lease',
    (held) => call(db, 'writ.fn_lease_release', { lease_token: held.lease_token }),
  ],
  [
    'the reaper',
    async () => {
      await db.clock.advance('1m');
      await tick(db);
    },
  ],
  [
    'a cancel',
    async (held) => {
      for (const id of idsOf(held))
        await call(db, 'writ.fn_job_cancel', { job_id: id, reason: null, actor: 'test' });
      await abort(db, held, 'transient');
    },
  ],
  [
    'a commit that the reaper finishes',
    async (held) => {
      for (const id of idsOf(held))
        await call(db, 'writ.fn_job_commit', { job_id: id, lease_token: held.lease_token });
      await db.clock.advance('1m');
      await tick(db);
    },
  ],
])('what a job held is free again after %s', async (_, end) => {
  await register(db, 'call', { limit_concurrency: 2 });
  await enqueue(6, 'a');
  const held = await claim(5);
  expect(held.jobs).toHaveLength(2);
  expect(await claim(5)).toMatchObject({ jobs: [], limited: true });
  await end(held);
  expect((await claim(5)).jobs).toHaveLength(2);
  expect((await claim(5)).jobs).toHaveLength(0);
});

test('a lease that ends job by job gives back place by place', async () => {
  await register(db, 'call', { limit_concurrency: 3 });
  await enqueue(9, 'a');
  const held = await claim(5);
  for (const [n, left] of [1, 2, 3].entries()) {
    await call(db, 'writ.fn_job_succeed_many', {
      lease_token: held.lease_token,
      positions: [n + 1],
    });
    expect((await claim(5)).jobs, `after ${left}`).toHaveLength(1);
  }
});

test('keys are counted apart, two priorities of one key together, and jobs without a key as one', async () => {
  await register(db, 'call', { limit_concurrency: 2 });
  await enqueue(5, 'a');
  await enqueue(5, 'a', { priority: 5 });
  await enqueue(5, 'b');
  await enqueue(5);
  await enqueue(5, undefined, { priority: 7 });
  const answer = await claim(100);
  const keys = await db.query(
    'select limit_key, count(*)::int as n from writ.job_queue where job_id = any ($1) group by 1 order by 1',
    [idsOf(answer)],
  );
  expect(keys).toEqual([
    { limit_key: 'a', n: 2 },
    { limit_key: 'b', n: 2 },
    { limit_key: null, n: 2 },
  ]);
  expect((await claim(100)).jobs).toEqual([]);
});

test('limits that are changed while jobs are queued hold for the next claim', async () => {
  await register(db, 'call', { limit_concurrency: 1 });
  await enqueue(20, 'a');
  const first = await claim(10);
  expect(first.jobs).toHaveLength(1);
  await register(db, 'call', { limit_concurrency: 4 });
  const second = await claim(10);
  expect(second.jobs).toHaveLength(3);
  await register(db, 'call', { limit_concurrency: 2 });
  await succeed(db, second);
  expect((await claim(10)).jobs).toHaveLength(1);
  await register(db, 'call', {});
  expect((await claim(10)).jobs).toHaveLength(0);
  await register(db, 'call', { limit_concurrency: null });
  expect((await claim(10)).jobs).toHaveLength(10);
  await register(db, 'call', { limit_concurrency: 30 });
  await succeed(db, first);
  expect((await claim(10)).jobs).toHaveLength(5);
  expect(await statuses(db)).toEqual({ in_progress: 16, succeeded: 4 });
});

test('a claim locks one slot for each limited key it visits, and none without limits', async () => {
  await register(db, 'call', { limit_concurrency: 1 });
  await register(db, 'chore');
  await enqueue(3, 'a');
  await bulkOf(db, [{}, {}]);
  const s = await session(db);
  const slots = async () =>
    (
      await db.query(`select 4096 - count(*)::int as locked from (
        select from writ_data.limit_turn for update skip locked) free`)
    )[0]?.locked;
  await s.query('begin');
  expect((await claimOf(s, 5)).jobs).toHaveLength(2);
  expect(await slots()).toBe(0);
  expect((await claim(5, {}, s)).jobs).toHaveLength(1);
  expect(await slots()).toBe(1);
  await s.query('rollback');
  await s.end();
});

test('of several kinds, the limit of one does not hold up the others', async () => {
  await register(db, 'call', { limit_concurrency: 1 });
  await register(db, 'chore');
  await enqueue(10, 'a', { priority: 9 });
  await bulkOf(
    db,
    Array.from({ length: 10 }, () => ({})),
  );
  const answer = await claim(20, { kinds: ['call', 'chore'] });
  expect(answer.jobs.map((job) => job[1])).toEqual([
    'call',
    ...Array.from({ length: 10 }, () => 'chore'),
  ]);
  expect(answer.limited).toBe(true);
});

// Rate
// ---------------------------------------------------------------------------------------------------------------

test('in no interval more starts than the burst and what the rate allows, over random claims and moments', async () => {
  const rate = 5;
  const burst = 4;
  await register(db, 'call', { limit_rate: rate, limit_burst: burst });
  await enqueue(400, 'a');
  await enqueue(100, 'a', { priority: 3 });
  const starts: number[] = [];
  let at = Date.now();
  for (let n = 0; n < 80; n++) {
    at += Math.floor(Math.random() ** 3 * 1500);
    await freeze(new Date(at));
    const answer = await claim(1 + Math.floor(Math.random() * 9));
    expect(answer.started_upto ?? 0).toBe(answer.jobs.length);
    for (const _ of answer.jobs) starts.push(at);
  }
  for (const [i, from] of starts.entries()) {
    for (let j = i; j < starts.length; j++) {
      expect(j - i + 1).toBeLessThanOrEqual(
        burst + (rate * ((starts[j] as number) - from)) / 1000 + 1e-6,
      );
    }
  }
  // And not much less than allowed: the whole time at its rate, but for what was lost when nobody
  // asked.
  expect(starts.length).toBeGreaterThan(burst);
});

test('a rate hands out its burst at once, then says when to ask again: then one is there, and not before', async () => {
  await register(db, 'call', { limit_rate: 2, limit_burst: 3 });
  await enqueue(20, 'a');
  const start = new Date('2030-01-01T00:00:00Z');
  await freeze(start);
  const first = await claim(10);
  expect(first.jobs).toHaveLength(3);
  expect(await statuses(db)).toMatchObject({ in_progress: 3 });
  const empty = await claim(10);
  expect(empty).toEqual({ jobs: [], limited: true, again_ms: 500 });
  await freeze(new Date(start.getTime() + 499));
  expect(await claim(10)).toMatchObject({ jobs: [], again_ms: 1 });
  await freeze(new Date(start.getTime() + 500));
  expect((await claim(10)).jobs).toHaveLength(1);
  await freeze(new Date(start.getTime() + 60_000));
  expect((await claim(10)).jobs).toHaveLength(3);
});

test('of a kind with a rate no more is handed out than the caller begins at once', async () => {
  await register(db, 'call', { limit_rate: 100, limit_burst: 50 });
  await enqueue(20, 'a');
  expect((await claim(10, { start: 4 })).jobs).toHaveLength(4);
  expect((await claim(10, { start: 0 })).jobs).toHaveLength(0);
  const one = await call<{ jobs: unknown[] }>(db, 'writ.fn_job_claim', {
    kind: 'call',
    executor: 'external_worker',
    lease_name: null,
    lease_holder: 'w',
    lease_ttl_seconds: 30,
    limit: 6,
  });
  expect(one.jobs).toHaveLength(6);
  expect(await statuses(db)).toEqual({ in_progress: 10, queued: 10 });
});

// The worker
// -----------------------------------------------------------------------------------------------------------

test('workers reach the limit together, and not more', async () => {
  const writ = await db.connect();
  const kind = defineJob<{ n: number }>('call', { limit: { concurrency: 3 } });
  await writ.enqueueMany(
    kind,
    Array.from({ length: 40 }, (_, n) => ({ input: { n }, limitKey: 'a' })),
  );
  let running = 0;
  let most = 0;
  const handled = kind.handle(async () => {
    most = Math.max(most, ++running);
    await new Promise((resume) => setTimeout(resume, 5));
    running--;
  });
  const workers = await Promise.all(
    [0, 1].map(() => writ.work([handled], { concurrency: 10, poll: '50ms' })),
  );
  await until(async () => (await statuses(db)).succeeded === 40);
  await Promise.all(workers.map((worker) => worker.stop()));
  expect(most).toBe(3);
});

test('a worker keeps to a rate and does not wait for its poll', async () => {
  const writ = await db.connect();
  const kind = defineJob<{ n: number }>('call', {
    limit: { rate: { starts: 20, per: '1s', burst: 2 } },
  });
  await writ.enqueueMany(
    kind,
    Array.from({ length: 12 }, (_, n) => ({ input: { n } })),
  );
  const worker = await writ.work([kind.handle(() => undefined)], { concurrency: 10, poll: '30s' });
  await until(async () => (await statuses(db)).succeeded === 12);
  await worker.stop();
  const starts = (await db.query('select started_at from writ.job_execution order by 1')).map(
    (row) => (row.started_at as Date).getTime(),
  );
  for (const [i, from] of starts.entries()) {
    for (let j = i; j < starts.length; j++)
      expect(j - i + 1).toBeLessThanOrEqual(2 + (20 * ((starts[j] as number) - from + 1)) / 1000);
  }
});
