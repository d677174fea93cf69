import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { defineJob, Writ } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { latch } from './latch.js';

let db: TestDatabase;
let writ: Writ;
let operator: Writ;

// A delay is random up to its ceiling: with a week of it no retry comes while a test looks.
const step = defineJob<{ n: number }>('step', { retry: { attempts: 3, base: '7d', cap: '7d' } });
const onError = () => undefined;
const statusOf = async (jobId: string) =>
  (await db.query('select status, attempts from writ.job_queue where job_id = $1', [jobId]))[0];
const within = <T>(check: () => Promise<T> | T) =>
  vi.waitFor(check, { timeout: 20_000, interval: 20 });

beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
  operator = await db.connect({ actor: 'operator' });
});
afterEach(() => db.drop());

/** A handler that begins, and ends when its signal says so, with what the signal says. */
function untilAborted() {
  const begun = latch();
  const aborted = latch<unknown>();
  const handler = step.handle(
    ({ signal }) =>
      new Promise((_, failed) => {
        signal.addEventListener('abort', () => {
          aborted.open(signal.reason);
          failed(signal.reason);
        });
        begun.open();
      }),
  );
  return { handler, begun: begun.opened, aborted: aborted.opened };
}

test('a queued job is cancelled at once and never runs', async () => {
  const { jobId } = await writ.enqueue(step, { n: 1 });
  expect(await operator.jobs.cancel(jobId, { reason: 'not needed' })).toMatchObject({
    status: 'cancelled',
  });
  expect(await statusOf(jobId)).toEqual({ status: 'cancelled', attempts: 0 });
});

test('a job that waits for its retry is cancelled at once', async () => {
  const { jobId } = await writ.enqueue(step, { n: 1 });
  const handler = step.handle(() => {
    throw new Error('no');
  });
  const worker = await writ.work([handler], { onError });
  await within(async () =>
    expect(await statusOf(jobId)).toMatchObject({ status: 'retry_waiting' }),
  );
  await worker.stop();
  expect(await operator.jobs.cancel(jobId)).toMatchObject({ status: 'cancelled' });
  expect(await statusOf(jobId)).toMatchObject({ status: 'cancelled' });
});

test('cancelling a running job reaches its signal long before the lease is renewed, and ends it as cancelled', async () => {
  const { handler, begun, aborted } = untilAborted();
  const worker = await writ.work([handler], { onError, lease: '10m', poll: '10m' });
  const { jobId } = await operator.enqueue(step, { n: 1 });
  await begun;
  expect(await operator.jobs.cancel(jobId)).toMatchObject({ status: 'cancel_requested' });
  expect(await aborted).toMatchObject({ code: 'cancelled' });
  await within(async () =>
    expect(await statusOf(jobId)).toEqual({ status: 'cancelled', attempts: 1 }),
  );
  await worker.stop();
});

test('without notifications a cancel is heard with the next renewal', async () => {
  const deaf = await Writ.connect({
    connectionString: db.connectionString,
    listenConnectionString: 'postgres://127.0.0.1:1/none',
  });
  const { handler, begun, aborted } = untilAborted();
  await deaf.work([handler], { onError, lease: '3s', poll: '50ms' });
  const { jobId } = await operator.enqueue(step, { n: 1 });
  await begun;
  await operator.jobs.cancel(jobId);
  expect(await aborted).toMatchObject({ code: 'cancelled' });
  await within(async () => expect(await statusOf(jobId)).toMatchObject({ status: 'cancelled' }));
  await deaf.close();
});

test('a handler that asks with progress is told of a cancel', async () => {
  const begun = latch();
  const asked = latch();
  const answers: unknown[] = [];
  const handler = step.handle(async ({ progress }) => {
    answers.push(await progress());
    begun.open();
    await asked.opened;
    answers.push(await progress());
  });
  const worker = await writ.work([handler], { onError });
  const { jobId } = await operator.enqueue(step, { n: 1 });
  await begun.opened;
  await operator.jobs.cancel(jobId);
  asked.open();
  await worker.stop();
  expect(answers).toEqual([{ cancelRequested: false }, { cancelRequested: true }]);
});

test('a handler that ignores the cancel and commits has succeeded', async () => {
  const begun = latch();
  const asked = latch();
  const handler = step.handle(async ({ commit }) => {
    begun.open();
    await asked.opened;
    await commit(() => undefined);
  });
  const worker = await writ.work([handler], { onError });
  const { jobId } = await operator.enqueue(step, { n: 1 });
  await begun.opened;
  await operator.jobs.cancel(jobId);
  asked.open();
  await within(async () =>
    expect(await statusOf(jobId)).toEqual({ status: 'succeeded', attempts: 1 }),
  );
  await worker.stop();
});

test('a handler that ignores the cancel and never ends is left behind: its job is cancelled and the worker goes on', async () => {
  const begun = latch();
  const handler = step.handle(({ input }) => {
    if (input.n === 2) return;
    begun.open();
    return new Promise(() => undefined);
  });
  const worker = await writ.work([handler], { onError, concurrency: 1 });
  const first = await operator.enqueue(step, { n: 1 });
  await begun.opened;
  await operator.jobs.cancel(first.jobId);
  const second = await operator.enqueue(step, { n: 2 });
  await within(async () =>
    expect(await statusOf(first.jobId)).toMatchObject({ status: 'cancelled' }),
  );
  await within(async () =>
    expect(await statusOf(second.jobId)).toMatchObject({ status: 'succeeded' }),
  );
  await worker.stop();
});

test('a job that was only prefetched is cancelled and never runs', async () => {
  const begun = latch();
  const goOn = latch();
  const ran: number[] = [];
  const handler = step.handle(async ({ input }) => {
    ran.push(input.n);
    if (input.n !== 1000) return;
    begun.open();
    await goOn.opened;
  });
  const worker = await writ.work([handler], { onError, concurrency: 1 });
  await operator.enqueueMany(
    step,
    Array.from({ length: 300 }, () => ({ input: { n: 0 } })),
  ); // fast ones: it begins to prefetch
  await within(() => expect(ran).toHaveLength(300));
  const jobs = await operator.enqueueMany(
    step,
    Array.from({ length: 20 }, (_, i) => ({ input: { n: 1000 + i } })),
  );
  await begun.opened;
  const victim = jobs[10]!.jobId;
  await within(async () => expect((await statusOf(victim))?.status).not.toBe('queued'));
  expect(await operator.jobs.cancel(victim)).toMatchObject({ status: 'cancel_requested' });
  await within(async () =>
    expect(
      (
        await db.query('select cancel_requested_at from writ.job_queue where job_id = $1', [victim])
      )[0],
    ).toBeTruthy(),
  );
  // It is given back with the rest of the surplus, since no handler becomes free; asked to stop, it
  // ends there.
  await within(async () => expect((await statusOf(victim))?.status).toBe('cancelled'));
  goOn.open();
  await within(async () => expect((await statusOf(jobs[19]!.jobId))?.status).toBe('succeeded'));
  await worker.stop();
  expect(ran).not.toContain(1010);
});

test('a job that has ended, or has committed, cannot be cancelled', async () => {
  const committed = latch();
  const goOn = latch();
  const handler = step.handle(async ({ commit }) => {
    await commit(() => undefined);
    committed.open();
    await goOn.opened;
  });
  const worker = await writ.work([handler], { onError });
  const { jobId } = await operator.enqueue(step, { n: 1 });
  await committed.opened;
  await expect(operator.jobs.cancel(jobId)).rejects.toMatchObject({
    code: 'committed_cannot_cancel',
  });
  goOn.open();
  await worker.stop();
  await expect(operator.jobs.cancel(jobId)).rejects.toMatchObject({ code: 'job_terminal' });
  expect(await statusOf(jobId)).toEqual({ status: 'succeeded', attempts: 1 });
});
