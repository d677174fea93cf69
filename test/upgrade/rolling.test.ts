/**
 * An upgrade while everything runs. A schema of the version before, with jobs in every state and a worker of that version at work, is migrated by this
 * version; the old worker and the old producer go on beside new ones, and are then stopped. Whatever the migration does, no job may be lost, done
 * twice, or changed.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { Writ as Connection } from '../../src/index.js';
import { testDatabase } from '../../src/testing/index.js';
import { jobs } from './jobs.mjs';
import { type Packages, packages, type Writ } from './packages.js';
import { type EmptyDatabase, emptyDatabase, migrate, startWorker, type WorkerProcess } from './scene.js';

let both: Packages;
let previous: Writ;
let next: Writ;
let db: EmptyDatabase;
let workers: WorkerProcess[];
let connected: Connection[];

beforeAll(async () => {
  // Roles are the whole server's, and 0.1.0 fails where two databases are the first to need them at the same moment. So they are made before.
  await (await testDatabase()).drop();
  both = packages();
  previous = await both.previous.load();
  next = await both.next.load();
});
afterAll(() => both.remove());
beforeEach(async () => {
  db = await emptyDatabase();
  workers = [];
  connected = [];
  const installer = await connect(previous);
  await installer.migrate({ enable: true });
  await db.query('create table effect (job_id uuid, input text, worker text)');
});
afterEach(async () => {
  await Promise.all(workers.map((worker) => worker.kill()));
  await Promise.all(connected.map((writ) => writ.close()));
  await db.drop();
});

async function connect(version: Writ): Promise<Connection> {
  const writ = await version.Writ.connect(db.connection);
  connected.push(writ);
  return writ;
}

async function work(version: 'previous' | 'next', name: string): Promise<WorkerProcess> {
  const worker = await startWorker(both[version], name, db.connection);
  workers.push(worker);
  return worker;
}

const within = <T>(check: () => Promise<T>) => vi.waitFor(check, { timeout: 30_000, interval: 50 });
const statuses = async (ids: readonly string[]) => {
  const rows = await db.query('select job_id, status from writ.job_queue where job_id = any ($1)', [ids]);
  const found = new Map(rows.map((row) => [row.job_id, row.status]));
  return ids.map((id) => found.get(id));
};
const effectsOf = async (worker: string) => Number((await db.query('select count(*) as n from effect where worker = $1', [worker]))[0]?.n);
const allSucceeded = (ids: readonly string[]) =>
  within(async () => {
    const others = 'select id, status from unnest($1::uuid[]) id left join writ.job_queue on job_id = id where status is distinct from $2';
    expect(await db.query(others, [ids, 'succeeded'])).toEqual([]);
  });
const numbers = (from: number, count: number) => Array.from({ length: count }, (_, i) => ({ input: { n: from + i } }));

/** Every effect is there once, with the input that was sent, and every other job has left none. */
async function expectDoneOnce(sent: ReadonlyMap<string, number>): Promise<void> {
  const effects = await db.query('select job_id, input from effect');
  expect(effects).toHaveLength(sent.size);
  expect(new Map(effects.map(({ job_id, input }) => [job_id, JSON.parse(String(input)).n]))).toEqual(sent);
}

test('a worker and a producer of the version before go on through the upgrade and beside the new ones', { timeout: 120_000 }, async () => {
  const { kinds } = jobs(previous);
  const producer = await connect(previous);
  /** What must be done in the end, and its input. */
  const sent = new Map<string, number>();
  const send = async (writ: Connection, kind: typeof kinds.plain, from: number, count: number, options = {}) => {
    const enqueued = await writ.enqueueMany(
      kind,
      numbers(from, count).map((item) => ({ ...item, ...options })),
    );
    enqueued.forEach(({ jobId }, index) => {
      sent.set(jobId, from + index);
    });
    return enqueued.map(({ jobId }) => jobId);
  };

  // One in every state, and a worker in the middle of it.
  const delayed = await send(producer, kinds.plain, 1_000, 5, { delay: '1h' });
  const keyed = await producer.enqueue(kinds.plain, { n: 2_000 }, { key: 'once' });
  const keyedLater = await producer.enqueue(kinds.plain, { n: 2_001 }, { key: 'later', delay: '1h' });
  sent.set(keyed.jobId, 2_000).set(keyedLater.jobId, 2_001);
  const cancelled = await producer.enqueue(kinds.plain, { n: 3_000 }, { delay: '1h' });
  await producer.cancel(cancelled.jobId);
  const dead = await producer.enqueue(kinds.doomed, { n: 4_000 });
  const old = await work('previous', 'old');
  const done = await send(producer, kinds.plain, 0, 50);
  const retried = await send(producer, kinds.flaky, 5_000, 3);
  await allSucceeded([...done, keyed.jobId]);
  await within(async () => expect(await statuses([dead.jobId])).toEqual(['dead_letter']));
  await within(async () => expect(await statuses(retried)).toEqual(['retry_waiting', 'retry_waiting', 'retry_waiting']));
  const slow = await send(producer, kinds.slow, 6_000, 3); // one handler of four is free for the rest
  await within(async () => expect(old.begun.length).toBe(3));
  expect(await statuses(slow)).toEqual(['in_progress', 'in_progress', 'in_progress']);
  const resting = [...done, keyed.jobId, ...delayed, keyedLater.jobId, cancelled.jobId, dead.jobId, ...retried, ...slow];
  const columns =
    'job_id, status, attempts, max_attempts, idempotency_key, process_after, last_error, payload_ref, enqueued_at, finished_at';
  const look = () => db.query(`select ${columns} from writ.job_queue where job_id = any ($1) order by job_id`, [resting]);
  const before = await look();

  // The upgrade, while the old producer sends and the old worker works.
  let migrating = true;
  const sending = (async () => {
    const ids: string[] = [];
    for (let n = 10_000; migrating || ids.length < 200; n++) {
      const { jobId } = await producer.enqueue(kinds.plain, { n });
      sent.set(jobId, n);
      ids.push(jobId);
    }
    return ids;
  })();
  sending.catch(() => undefined); // awaited below
  const report = await migrate(both.next, db.connection.connectionString).finally(() => {
    migrating = false;
  });
  expect(report.migrations.length).toBeGreaterThan(0);
  expect(await look()).toEqual(before);

  // The old worker alone: what was sent during the upgrade, what is sent after it, and what it had begun before it.
  await allSucceeded(await sending);
  await allSucceeded(await send(producer, kinds.plain, 20_000, 50));
  old.letGo();
  await allSucceeded(slow);

  // Keys hold across the upgrade, for both.
  const fresh = await connect(next);
  for (const [key, { jobId }] of [['once', keyed] as const, ['later', keyedLater] as const]) {
    for (const writ of [producer, fresh]) {
      expect(await writ.enqueue(jobs(next).kinds.plain, { n: 9 }, { key })).toEqual({ jobId, duplicate: true, samePayload: false });
    }
  }
  const second = await fresh.enqueue(jobs(next).kinds.plain, { n: 2_002 }, { key: 'new' });
  sent.set(second.jobId, 2_002);
  expect(await producer.enqueue(kinds.plain, { n: 2_002 }, { key: 'new' })).toEqual({ ...second, duplicate: true, samePayload: true });

  // Both share the work.
  const other = await work('next', 'new');
  for (let n = 30_000; (await effectsOf('new')) < 20 || n < 30_200; n += 20) {
    await Promise.all([send(producer, kinds.plain, n, 10), send(fresh, jobs(next).kinds.plain, n + 10, 10)]);
  }
  await allSucceeded([...sent.keys()].filter((id) => ![...delayed, keyedLater.jobId, ...retried].includes(id)));
  const byOld = await effectsOf('old');
  for (let n = 40_000; (await effectsOf('old')) === byOld; n += 10) await send(fresh, jobs(next).kinds.plain, n, 10);

  // The old one is stopped. What waited since before the upgrade comes due, and is done by the new one.
  expect(await old.stop()).toEqual([]);
  await allSucceeded([...sent.keys()].filter((id) => ![...delayed, keyedLater.jobId, ...retried].includes(id)));
  await db.query(`create or replace function writ.now() returns timestamptz language sql volatile
    as $$ select pg_catalog.clock_timestamp() + interval '2 hours' $$`);
  await allSucceeded([...delayed, keyedLater.jobId, ...retried]);
  const again = await fresh.replay(dead.jobId, { triage: 'to see whether its input is still there' });
  await within(async () => expect(await statuses([dead.jobId, again.jobId])).toEqual(['cleaned', 'dead_letter']));
  expect(await db.query('select last_error from writ.job_queue where job_id = $1', [again.jobId])).toEqual([{ last_error: 'never 4000' }]);
  expect(await other.stop()).toEqual([]);

  await expectDoneOnce(sent);
  expect(await statuses([cancelled.jobId])).toEqual(['cancelled']);
  // Nobody was begun twice, for want of a lease that the upgrade took away, but those that failed once on purpose.
  const repeated = await db.query(
    `select job_id from writ.job_execution where execution_no > 0 and abort_kind is distinct from 'released' group by job_id having count(*) > 1 order by job_id`,
  );
  expect(repeated.map((row) => row.job_id)).toEqual([...retried].sort());
});

test('two installers at once, under load from four producers and two workers: one upgrades, nobody hears an error', {
  timeout: 120_000,
}, async () => {
  const { kinds } = jobs(previous);
  await Promise.all([work('previous', 'one'), work('previous', 'two')]);
  const sent = new Map<string, number>();
  let migrating = true;
  const producers = await Promise.all(Array.from({ length: 4 }, () => connect(previous)));
  const counts = producers.map(() => 0);
  const producing = producers.map(async (writ, index) => {
    for (let n = (index + 1) * 1_000_000; migrating || (counts[index] as number) < 100; n += 8) {
      const some = await Promise.all(numbers(n, 4).map(({ input }) => writ.enqueue(kinds.plain, input)));
      const many = await writ.enqueueMany(kinds.plain, numbers(n + 4, 4));
      [...some, ...many].forEach(({ jobId }, offset) => {
        sent.set(jobId, n + offset);
      });
      counts[index] = (counts[index] as number) + 8;
    }
  });
  await within(async () => expect(Math.min(...counts)).toBeGreaterThan(20));
  const reports = await Promise.all([1, 2].map(() => migrate(both.next, db.connection.connectionString))).finally(() => {
    migrating = false;
  });
  await Promise.all(producing);
  expect(reports.map(({ migrations }) => Math.sign(migrations.length)).sort()).toEqual([0, 1]);
  await allSucceeded([...sent.keys()]);
  expect(await Promise.all(workers.map((worker) => worker.stop()))).toEqual([[], []]);
  await expectDoneOnce(sent);
});
