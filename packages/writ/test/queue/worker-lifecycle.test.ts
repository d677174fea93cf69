import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { defineJob, type HandledJob, Writ } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { latch } from './latch.js';

let db: TestDatabase;
let writ: Writ;
let producer: Writ;

const step = defineJob<{ n: number }>('step', { retry: { attempts: 3 } });
const many = (length: number) => Array.from({ length }, (_, n) => ({ input: { n } }));
const onError = () => undefined;
const jobs = () => db.query('select status, attempts from writ.job_queue order by job_id');
const statuses = async () => (await jobs()).map(({ status }) => status);
const within = <T>(check: () => Promise<T> | T) =>
  vi.waitFor(check, { timeout: 20_000, interval: 20 });
const allSucceeded = () =>
  within(async () => expect(new Set(await statuses())).toEqual(new Set(['succeeded'])));
const setting = (key: string, value: string) =>
  db.query('select writ.fn_setting_set($1, $2, $3)', [key, value, 'test']);

beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
  producer = await db.connect();
});
afterEach(() => db.drop());

/**
 * A handler that is fast, except for the job numbered 1000, which begins and then waits to be let
 * go.
 */
function slowAt1000() {
  const begun = latch();
  const goOn = latch();
  const handler = step.handle(async ({ input }) => {
    if (input.n !== 1000) return;
    begun.open();
    await goOn.opened;
  });
  return { handler, begun: begun.opened, goOn: goOn.open };
}

/** Makes a worker prefetch behind a slow job: it has seen that jobs are fast. */
async function holdBatch(slow: { handler: HandledJob; begun: Promise<void> }) {
  const worker = await writ.work([slow.handler], { concurrency: 1, onError, grace: '10s' });
  await producer.enqueueMany(step, many(300));
  await allSucceeded();
  await producer.enqueueMany(step, [{ input: { n: 1000 } }, ...many(50)]);
  await slow.begun;
  await within(async () => expect((await lastJobs())[1]?.status).not.toBe('queued'));
  return worker;
}
const lastJobs = async () => (await jobs()).slice(300);

test('a graceful stop gives what was prefetched back at once, lets what runs finish, and burns no attempt', async () => {
  const slow = slowAt1000();
  const worker = await holdBatch(slow);
  const stopped = worker.stop();
  await within(async () => {
    const [first, ...rest] = await lastJobs();
    expect(first).toEqual({ status: 'in_progress', attempts: 1 });
    expect(new Set(rest.map(({ status }) => status))).toEqual(new Set(['queued']));
  });
  slow.goOn();
  await stopped;
  const [first, ...rest] = await lastJobs();
  expect(first).toEqual({ status: 'succeeded', attempts: 1 });
  expect(rest.filter(({ status, attempts }) => status !== 'queued' || attempts !== 0)).toEqual([]);
});

test('what a stopped worker gave back is done by the next one', async () => {
  const slow = slowAt1000();
  const worker = await holdBatch(slow);
  slow.goOn();
  await worker.stop();
  const next = await writ.work([step.handle(() => undefined)]);
  await allSucceeded();
  await next.stop();
});

test('a handler that does not end within the grace is aborted, and its job is released without a charge', async () => {
  await producer.enqueue(step, { n: 1 });
  const begun = latch();
  let reason: unknown;
  const handler = step.handle(
    ({ signal }) =>
      new Promise((_, failed) => {
        signal.addEventListener('abort', () => {
          reason = signal.reason;
          failed(signal.reason);
        });
        begun.open();
      }),
  );
  const worker = await writ.work([handler], { grace: '100ms', onError });
  await begun.opened;
  await worker.stop();
  expect(reason).toMatchObject({ code: 'closed' });
  expect(await jobs()).toEqual([{ status: 'queued', attempts: 0 }]);
});

test('a handler that ignores the abort cannot keep the worker from stopping', async () => {
  await producer.enqueue(step, { n: 1 });
  const begun = latch();
  const never = step.handle(() => {
    begun.open();
    return new Promise(() => undefined);
  });
  const worker = await writ.work([never], { grace: '50ms', onError });
  await begun.opened;
  await worker.stop();
  expect(await jobs()).toEqual([{ status: 'queued', attempts: 0 }]);
});

test('a second stop waits for the first', async () => {
  const slow = slowAt1000();
  const worker = await writ.work([slow.handler], { onError });
  await producer.enqueue(step, { n: 1000 });
  await slow.begun;
  let first = false;
  void worker.stop().then(() => {
    first = true;
  });
  const second = worker.stop();
  slow.goOn();
  await second;
  expect(first).toBe(true);
});

test('close stops the workers first', async () => {
  const slow = slowAt1000();
  await writ.work([slow.handler], { onError });
  await producer.enqueue(step, { n: 1000 });
  await slow.begun;
  const closed = writ.close();
  slow.goOn();
  await closed;
  expect(await statuses()).toEqual(['succeeded']);
});

test('a worker that has stopped is no longer listed', async () => {
  const worker = await writ.work([step.handle(() => undefined)], { name: 'mine' });
  const listed = () =>
    db.query(`select kinds from writ.v_queue_heartbeat where executor_id = 'mine'`);
  await within(async () => expect(await listed()).toEqual([{ kinds: ['step'] }]));
  await worker.stop();
  expect(await listed()).toEqual([]);
});

test('two workers share a backlog, and each job runs once', async () => {
  await producer.enqueueMany(step, many(100));
  const ran: [worker: string, n: number][] = [];
  const both = latch();
  const handlerOf = (name: string) =>
    step.handle(async ({ input }) => {
      ran.push([name, input.n]);
      if (new Set(ran.map(([worker]) => worker)).size === 2) both.open();
      await both.opened; // nobody goes on before both have a job
    });
  const options = { concurrency: 5, batch: 5, onError };
  const workers = [
    await writ.work([handlerOf('a')], options),
    await producer.work([handlerOf('b')], options),
  ];
  await allSucceeded();
  await Promise.all(workers.map((worker) => worker.stop()));
  expect(ran.map(([, n]) => n).sort((a, b) => a - b)).toEqual(
    many(100).map(({ input }) => input.n),
  );
});

test('one worker serves several kinds, and leaves the others alone', async () => {
  const [a, b, c] = [defineJob('a'), defineJob('b'), defineJob('c')];
  const ran: string[] = [];
  const worker = await writ.work(
    [a, b].map((job) => job.handle(({ job: { kind } }) => void ran.push(kind))),
  );
  for (const job of [a, b, c]) await producer.enqueue(job);
  await within(async () => expect(await statuses()).toEqual(['succeeded', 'succeeded', 'queued']));
  expect(ran.sort()).toEqual(['a', 'b']);
  await worker.stop();
});

test('a delayed job starts within a second of its time', async () => {
  const worker = await writ.work([step.handle(() => undefined)]);
  await producer.enqueue(step, { n: 1 }, { delay: '600ms' });
  await allSucceeded();
  await worker.stop();
  const [job] = await db.query(
    'select extract(epoch from started_at - process_after)::float8 as late from writ.job_queue',
  );
  expect(job?.late).toBeGreaterThanOrEqual(0);
  expect(job?.late).toBeLessThan(2); // a second, and another for a busy machine
});

test('queue.worker.enabled = false pauses every worker and keeps what is queued; true resumes', async () => {
  let runs = 0;
  const worker = await writ.work([step.handle(() => void runs++)], { poll: '50ms' });
  await setting('queue.worker.enabled', 'false');
  await producer.enqueue(step, { n: 1 });
  const [claim] = await db.query(
    `select writ.fn_job_claim_many('{step}', 'external_worker', 'another') as answer`,
  );
  expect(claim?.answer).toEqual({ jobs: [], paused: true });
  expect([runs, await statuses()]).toEqual([0, ['queued']]);
  await setting('queue.worker.enabled', 'true');
  await allSucceeded();
  await worker.stop();
});

test('a worker that was started before the queue is enabled begins to work when it is', async () => {
  await setting('queue.job_substrate.enabled', 'false');
  const refused = latch<unknown>();
  const worker = await writ.work([step.handle(() => undefined)], {
    poll: '50ms',
    onError: (error) => refused.open((error as { code?: string }).code),
  });
  expect(await refused.opened).toBe('job_substrate_disabled');
  await setting('queue.job_substrate.enabled', 'true');
  await producer.enqueue(step, { n: 1 });
  await allSucceeded();
  await worker.stop();
});

test('a worker that is idle starts a new job when it is notified, long before it would look', async () => {
  const worker = await writ.work([step.handle(() => undefined)], { poll: '10m' });
  await idle();
  await producer.enqueue(step, { n: 1 });
  await allSucceeded();
  await worker.stop();
});

test('without notifications a worker finds jobs by looking', async () => {
  const deaf = await Writ.connect({
    connectionString: db.connectionString,
    listenConnectionString: 'postgres://127.0.0.1:1/none',
  });
  await deaf.work([step.handle(() => undefined)], { poll: '100ms', onError });
  await producer.enqueue(step, { n: 1 });
  await allSucceeded();
  await deaf.close();
});

const idle = () =>
  within(async () =>
    expect(
      await db.query('select from writ.v_queue_heartbeat where idle_until > writ.now()'),
    ).toHaveLength(1),
  );

test('a worker whose connections are all terminated goes on, and hears notifications again', async () => {
  const worker = await writ.work([step.handle(() => undefined)], { poll: '10m', onError });
  await idle();
  const terminate = `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like 'writ%' and pid <> pg_backend_pid()`;
  await db.query(terminate);
  await within(() => producer.enqueue(step, { n: 1 }));
  await allSucceeded();
  await producer.enqueue(step, { n: 2 });
  await allSucceeded();
  await worker.stop();
});

test('connections that are terminated again and again under load lose nothing and repeat no effect', async () => {
  await db.query('create table effects (n int)');
  await producer.enqueueMany(step, many(200));
  const handler = step.handle(({ commit, input }) =>
    commit((tx) => tx.query('insert into effects values ($1)', [input.n])),
  );
  const worker = await writ.work([handler], { concurrency: 5, lease: '1s', poll: '50ms', onError });
  const terminate = `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like 'writ%' and pid <> pg_backend_pid()`;
  for (let kill = 1; kill <= 5; kill++) {
    await within(async () =>
      expect((await db.query('select from effects')).length).toBeGreaterThanOrEqual(kill * 20),
    );
    await db.query(terminate);
  }
  await within(async () => {
    if ((await statuses()).includes('retry_waiting')) await db.clock.advance('1m');
    expect(new Set(await statuses())).toEqual(new Set(['succeeded']));
  });
  await worker.stop();
  const effects = await db.query('select n from effects order by n');
  expect(effects.map(({ n }) => n)).toEqual(many(200).map(({ input }) => input.n));
});
