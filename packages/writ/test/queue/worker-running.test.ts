import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { defineJob, JobKind, PermanentFailure, type Writ } from '../../src/index.js';
import { runUntilIdle, type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { latch } from './latch.js';

let db: TestDatabase;
let writ: Writ;
let errors: { code?: string; message?: string }[];

// A delay is random up to its ceiling: with a week of it no retry comes while a test looks.
const step = defineJob<{ n: number }>('step', { retry: { attempts: 3, base: '7d', cap: '7d' } });
const many = (length: number) => Array.from({ length }, (_, n) => ({ input: { n } }));
const onError = (error: unknown) => void errors.push(error as Error);
const jobs = () =>
  db.query(
    'select status, attempts, last_error, last_error_code, result_ref from writ.job_queue order by job_id',
  );
const statuses = async () => (await jobs()).map(({ status }) => status);
const within = (check: () => Promise<unknown>) =>
  vi.waitFor(check, { timeout: 20_000, interval: 20 });

beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
  errors = [];
});
afterEach(() => db.drop());

test('never more handlers run at the same time than the concurrency allows', async () => {
  await writ.enqueueMany(step, many(60));
  let now = 0;
  let most = 0;
  const handler = step.handle(async () => {
    most = Math.max(most, ++now);
    await new Promise((resume) => setImmediate(resume));
    now--;
  });
  await runUntilIdle(writ, [handler], { concurrency: 4 });
  expect(most).toBe(4);
  expect(new Set(await statuses())).toEqual(new Set(['succeeded']));
});

test('a job that is prefetched behind a slow one is not started, and not charged', async () => {
  const begun = latch();
  const goOn = latch();
  const single = defineJob<{ n: number }>('single', { retry: { attempts: 1 } });
  const handler = single.handle(async ({ input }) => {
    if (input.n !== 1000) return;
    begun.open();
    await goOn.opened;
  });
  const worker = await writ.work([handler], { concurrency: 1 });
  await writ.enqueueMany(single, many(300)); // fast ones, so that the worker begins to prefetch
  await within(async () => expect(new Set(await statuses())).toEqual(new Set(['succeeded'])));
  await writ.enqueueMany(single, [{ input: { n: 1000 } }, ...many(3)]);
  await begun.opened;
  await within(async () => {
    const [slow, ...behind] = (await jobs())
      .slice(-4)
      .map(({ status, attempts }) => `${status} ${attempts}`);
    expect(slow).toBe('in_progress 1');
    // queued again, when it was given back as surplus
    for (const job of behind) expect(job).toMatch(/^(leased|queued) 0$/);
  });
  goOn.open();
  await worker.stop();
});

test('a failing job among fifty fails alone', async () => {
  await writ.enqueueMany(step, many(50));
  const handler = step.handle(({ input }) => {
    if (input.n === 25) throw new Error('not this one');
  });
  await runUntilIdle(writ, [handler], { onError });
  const all = await jobs();
  expect(all.filter(({ status }) => status === 'succeeded')).toHaveLength(49);
  expect(all[25]).toMatchObject({
    status: 'retry_waiting',
    attempts: 1,
    last_error: 'not this one',
    last_error_code: 'handler_error',
  });
});

test('a job whose end the database cannot take keeps no other from ending', async () => {
  const [bad] = await writ.enqueueMany(step, many(3));
  await db.query(`create function public.damaged() returns trigger language plpgsql as $$
      begin raise exception 'This row is damaged.'; end $$;
    create trigger damaged before insert on writ_data.job_execution
      for each row when (new.job_id = '${bad?.jobId}') execute function public.damaged()`);
  const together = latch();
  let begun = 0;
  const handler = step.handle(() => {
    if (++begun === 3) together.open();
    return together.opened;
  });
  const worker = await writ.work([handler], { concurrency: 3, onError });
  await within(async () =>
    expect(await statuses()).toEqual(['in_progress', 'succeeded', 'succeeded']),
  );
  await worker.stop();
  expect(new Set(errors.map(({ message }) => message))).toEqual(new Set(['This row is damaged.']));
  expect(begun).toBe(3);
});

test('a failed attempt is told to onError with its job', async () => {
  const { jobId } = await writ.enqueue(step, { n: 1 });
  const told: unknown[] = [];
  const handler = step.handle(() => {
    throw new Error('no');
  });
  await runUntilIdle(writ, [handler], {
    onError: (error, job) => void told.push([(error as Error).message, job?.id, job?.attempt]),
  });
  expect(told).toEqual([['no', jobId, 1]]);
});

test('a retry comes after a delay of at most its ceiling', async () => {
  const soon = defineJob('soon', { retry: { attempts: 2, base: '7d', cap: '7d' } });
  await writ.enqueue(soon);
  const handler = soon.handle(() => {
    throw new Error('no');
  });
  await runUntilIdle(writ, [handler], { onError });
  const [wait] = await db.query(
    `select extract(epoch from process_after - last_error_at)::float8 as s from writ.job_queue where status = 'retry_waiting'`,
  );
  expect(wait?.s).toBeGreaterThanOrEqual(0);
  expect(wait?.s).toBeLessThanOrEqual(7 * 86_400);
});

test('a permanent failure is a dead letter at once, with its code', async () => {
  await writ.enqueue(step, { n: 1 });
  const handler = step.handle(() => {
    throw new PermanentFailure('the order does not exist', { code: 'no_such_order' });
  });
  await runUntilIdle(writ, [handler], { onError });
  expect(await jobs()).toMatchObject([
    {
      status: 'dead_letter',
      attempts: 1,
      last_error: 'the order does not exist',
      last_error_code: 'no_such_order',
    },
  ]);
});

test('what a handler throws need not be an error, and its text may be any', async () => {
  await writ.enqueue(step, { n: 1 });
  const handler = step.handle(() => {
    throw 'a\0b\ud83d';
  });
  await runUntilIdle(writ, [handler], { onError });
  expect(await jobs()).toMatchObject([{ status: 'retry_waiting', last_error: 'ab\ufffd' }]);
});

test.each([
  [
    'throws',
    () => {
      throw new Error('the logger is broken');
    },
  ],
  ['answers a promise that fails', () => Promise.reject(new Error('the logger is away'))],
])('a listener of errors that %s does not stop the worker', async (_, onError) => {
  await writ.enqueue(step, { n: 1 });
  const handler = step.handle(({ job }) => {
    if (job.attempt === 1) throw new Error('no');
  });
  await runUntilIdle(writ, [handler], { skipTime: db, onError, within: '20s' });
  expect(await jobs()).toMatchObject([{ status: 'succeeded', attempts: 2 }]);
});

const brief = defineJob('brief', {
  timeout: '200ms',
  retry: { attempts: 2, base: '7d', cap: '7d' },
});

test('a timeout aborts the signal and fails the attempt', async () => {
  await writ.enqueue(brief);
  let reason: unknown;
  const handler = brief.handle(
    ({ signal }) =>
      new Promise((_, failed) => {
        signal.addEventListener('abort', () => {
          reason = signal.reason;
          failed(signal.reason);
        });
      }),
  );
  await runUntilIdle(writ, [handler], { onError });
  expect(reason).toMatchObject({ code: 'timeout' });
  expect(await jobs()).toMatchObject([
    { status: 'retry_waiting', attempts: 1, last_error_code: 'timeout' },
  ]);
});

test('a timeout fails the attempt of a handler that ignores its signal, and what it does afterwards counts for nothing', async () => {
  await writ.enqueue(brief);
  const goOn = latch();
  const commits = latch<unknown>();
  const handler = brief.handle(async ({ commit }) => {
    await goOn.opened;
    commits.open(await commit(() => 'done').catch((error: { code?: string }) => error.code));
  });
  const worker = await writ.work([handler], { onError });
  await within(async () =>
    expect(await jobs()).toMatchObject([
      { status: 'retry_waiting', attempts: 1, last_error_code: 'timeout' },
    ]),
  );
  goOn.open();
  expect(await commits.opened).toBe('lease_lost');
  await worker.stop();
  expect(await statuses()).toEqual(['retry_waiting']);
});

test('a deadline that passes while the job runs aborts it, and it is not tried again', async () => {
  await writ.enqueue(step, { n: 1 }, { deadline: '3s' }); // enough to begin
  const handler = step.handle(
    ({ signal }) =>
      new Promise((_, failed) => signal.addEventListener('abort', () => failed(signal.reason))),
  );
  await runUntilIdle(writ, [handler], { onError });
  expect(await jobs()).toMatchObject([
    { status: 'dead_letter', attempts: 1, last_error_code: 'deadline_exceeded' },
  ]);
});

test('what a handler returns can be read as the result of its job', async () => {
  await writ.enqueue(step, { n: 20 });
  await runUntilIdle(writ, [step.handle(({ input }) => ({ double: input.n * 2 }))]);
  const [payload] = await db.query(
    `select writ.fn_job_payload(job_id) -> 'result' as result from writ.job_queue`,
  );
  expect(payload?.result).toEqual({ double: 40 });
});

test('results stay with their jobs when many end together', async () => {
  await writ.enqueueMany(step, many(40));
  await runUntilIdle(writ, [
    step.handle(({ input }) => (input.n % 3 ? { n: input.n } : undefined)),
  ]);
  const rows =
    await db.query(`select writ.fn_job_payload(job_id) #>> '{input,n}' as input, writ.fn_job_payload(job_id) #>> '{result,n}' as result
    from writ.job_queue`);
  expect(rows).toHaveLength(40);
  expect(
    rows.filter(({ input, result }) => (Number(input) % 3 ? result !== input : result !== null)),
  ).toEqual([]);
});

test('a job that commits has its result too', async () => {
  await writ.enqueue(step, { n: 1 });
  await runUntilIdle(writ, [
    step.handle(async ({ commit }) => {
      await commit(() => undefined);
      return 'paid';
    }),
  ]);
  const [row] = await db.query(
    'select writ.fn_job_payload(job_id) -> $1 as result from writ.job_queue',
    ['result'],
  );
  expect(row?.result).toBe('paid');
});

test('a result that is too large is a dead letter, not a loop', async () => {
  await writ.enqueue(step, { n: 1 });
  await runUntilIdle(writ, [step.handle(() => 'x'.repeat(1_100_000))], { onError });
  expect(await jobs()).toMatchObject([
    { status: 'dead_letter', last_error_code: 'payload_too_large' },
  ]);
});

test('a handler of a reserved kind that commits by no gate of its own makes a dead letter, not a loop', async () => {
  const reserved = new JobKind<object>('governance.mine', undefined, {});
  await writ.work([reserved.handle(() => 'done')], { onError });
  await db.query(
    `select writ_data.enqueue_alike('governance.mine', array[writ_data.uuidv7()], '[{}]', 'test', 'default')`,
  );
  await within(async () =>
    expect(await jobs()).toMatchObject([
      { status: 'dead_letter', last_error_code: 'reserved_job_kind' },
    ]),
  );
});

test('a dead letter is replayed as a new job with the same key and input, and then succeeds', async () => {
  const { jobId } = await writ.enqueue(step, { n: 7 }, { key: 'seven' });
  let broken = true;
  const seen: unknown[] = [];
  const handler = step.handle(({ input, job }) => {
    if (broken) throw new PermanentFailure('no');
    seen.push([input.n, job.key, job.attempt, job.parentJobId]);
  });
  await runUntilIdle(writ, [handler], { onError });
  broken = false;
  await writ.jobs.requeue(jobId, { reason: 'fixed' });
  await runUntilIdle(writ, [handler], { onError });
  expect(seen).toEqual([[7, 'seven', 1, jobId]]);
  expect(await statuses()).toEqual(['cleaned', 'succeeded']);
});

test('a replay needs a reason, and happens once', async () => {
  const { jobId } = await writ.enqueue(step, { n: 1 });
  const handler = step.handle(() => {
    throw new PermanentFailure('no');
  });
  await expect(writ.jobs.requeue(jobId, { reason: 'too early' })).rejects.toMatchObject({
    code: 'dead_letter_not_found',
  });
  await runUntilIdle(writ, [handler], { onError });
  await expect(writ.jobs.requeue(jobId, { reason: ' ' })).rejects.toMatchObject({
    code: 'triage_required',
  });
  await writ.jobs.requeue(jobId, { reason: 'fixed' });
  await expect(writ.jobs.requeue(jobId, { reason: 'fixed' })).rejects.toMatchObject({
    code: 'dead_letter_not_found',
  });
});

test('progress is on record with its word', async () => {
  const { jobId } = await writ.enqueue(step, { n: 1 });
  await runUntilIdle(writ, [
    step.handle(async ({ progress }) => void (await progress('half way'))),
  ]);
  const events = await db.query(
    `select event_subject_ref, safe_payload from writ.event_outbox where event_type = 'dot.job.progress'`,
  );
  expect(events).toEqual([{ event_subject_ref: jobId, safe_payload: { signal: 'half way' } }]);
});

test('a progress word that is too long is refused, and the job goes on', async () => {
  await writ.enqueue(step, { n: 1 });
  let code: unknown;
  const handler = step.handle(async ({ progress, signal }) => {
    code = await progress('x'.repeat(201)).catch((error: { code?: string }) => error.code);
    signal.throwIfAborted();
  });
  await runUntilIdle(writ, [handler], { onError, within: '20s' });
  expect(code).toBe('payload_too_large');
  expect(await statuses()).toEqual(['succeeded']);
});

test('progress renews the lease to its length, however often it is called', async () => {
  await writ.enqueue(step, { n: 1 });
  let left: unknown;
  const handler = step.handle(async ({ progress }) => {
    for (let i = 0; i < 5; i++) {
      await db.clock.advance('20s');
      await progress();
    }
    [left] = await db.query(
      'select extract(epoch from leased_until - writ.now())::float8 as s from writ_data.job_lease',
    );
  });
  await runUntilIdle(writ, [handler], { lease: '30s' });
  expect((left as { s: number }).s).toBeGreaterThan(25);
  expect((left as { s: number }).s).toBeLessThanOrEqual(30);
});

test('tells a worker that another process defines its kind in another way', async () => {
  const errors: unknown[] = [];
  const one = defineJob('shared', { retry: { attempts: 3 } });
  const other = defineJob('shared', { retry: { attempts: 7 } });
  for (const job of [one, other, one]) {
    const process = await db.connect();
    const worker = await process.work([job.handle(() => 1)], {
      onError: (error) => void errors.push(error),
    });
    await worker.stop();
  }
  expect(errors).toMatchObject([
    { code: 'kind_conflict', message: expect.stringContaining('shared') },
  ]);
});

test.each([
  ['another value', { retry: { attempts: 3 } }, { retry: { attempts: 7 } }],
  ['a value that the worker’s leaves out', { retry: { attempts: 3 } }, { timeout: '5s' }],
] as const)(
  'a second definition of a kind with %s is refused, and changes nothing',
  async (_, given, then) => {
    const kinds = () =>
      db.query(`select max_attempts, timeout_s from writ_data.job_kind where job_kind = 'twin'`);
    const [one, other] = [defineJob('twin', given), defineJob('twin', then)];
    const worker = await writ.work([one.handle(() => 1)]);
    const before = await kinds();
    await expect(writ.enqueue(other)).rejects.toMatchObject({ code: 'kind_conflict' });
    await expect(writ.work([other.handle(() => 2)])).rejects.toMatchObject({
      code: 'kind_conflict',
      message: expect.stringMatching(/twin: (max_attempts|timeout_s) is /),
    });
    await worker.stop();
    expect(await kinds()).toEqual(before);
  },
);

test('a worker’s definition that takes away what a producer’s says is refused', async () => {
  await writ.enqueue(defineJob('twin', { timeout: '5s' }));
  const worker = writ.work([defineJob('twin').handle(() => 1)]);
  await expect(worker).rejects.toMatchObject({ code: 'kind_conflict' });
});

test('definitions of producers add to each other, and one that says nothing fits every other', async () => {
  await writ.enqueue(defineJob('twin', { retry: { attempts: 3 } }));
  await writ.enqueue(defineJob('twin'));
  await writ.enqueue(defineJob('twin', { timeout: '5s' }));
  expect(
    await db.query(
      `select max_attempts, timeout_s from writ_data.job_kind where job_kind = 'twin'`,
    ),
  ).toEqual([{ max_attempts: 3, timeout_s: 5 }]);
});
