import { createHash } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineJob, type Writ } from '../../src/index.js';
import { runUntilIdle, type TestDatabase, testDatabase } from '../../src/testing/index.js';

let db: TestDatabase;
let writ: Writ;

beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
});
afterEach(() => db.drop());

const greet = defineJob<{ name: string }>('greet');
const nightly = defineJob('nightly');

const jobs = () => db.query('select * from writ.job_queue order by job_id');
const count = async () =>
  Number((await db.query('select count(*) as n from writ.job_queue'))[0]?.n);

test('an enqueued job is in the queue when the call resolves', async () => {
  const { jobId, duplicate } = await writ.enqueue(greet, { name: 'Ada' });
  expect(duplicate).toBe(false);
  expect(await jobs()).toMatchObject([
    {
      job_id: jobId,
      job_kind: 'greet',
      status: 'queued',
      attempts: 0,
      priority: 0,
      tenant_id: 'default',
    },
  ]);
});

test('a job without an input is enqueued by its kind alone', async () => {
  await writ.enqueue(nightly);
  const seen: unknown[] = [];
  await runUntilIdle(writ, [nightly.handle(({ input }) => void seen.push(input))]);
  expect(seen).toEqual([undefined]);
});

test('a job without a key answers to its own id', async () => {
  const { jobId } = await writ.enqueue(greet, { name: 'Ada' });
  expect(await jobs()).toMatchObject([{ idempotency_key: jobId }]);
});

test('who enqueued a job is on record', async () => {
  const shop = await db.connect({ actor: 'shop' });
  await shop.enqueue(greet, { name: 'Ada' });
  expect(await jobs()).toMatchObject([{ enqueued_by: 'shop' }]);
});

test('a second job with the same key is not enqueued, and the answer names the first', async () => {
  const first = await writ.enqueue(greet, { name: 'Ada' }, { key: 'a' });
  const second = await writ.enqueue(greet, { name: 'Ada' }, { key: 'a' });
  expect(second).toEqual({ jobId: first.jobId, duplicate: true, samePayload: true });
  expect(await count()).toBe(1);
});

test('a duplicate with another input says so', async () => {
  await writ.enqueue(greet, { name: 'Ada' }, { key: 'a' });
  const second = await writ.enqueue(greet, { name: 'Grace' }, { key: 'a' });
  expect(second).toMatchObject({ duplicate: true, samePayload: false });
});

test('the order of the properties of an input does not make it another input', async () => {
  const pair = defineJob<{ a: number; b: number }>('pair');
  await writ.enqueue(pair, { a: 1, b: 2 }, { key: 'k' });
  expect(await writ.enqueue(pair, { b: 2, a: 1 }, { key: 'k' })).toMatchObject({
    duplicate: true,
    samePayload: true,
  });
});

test('a key counts within its kind and its tenant only', async () => {
  const other = defineJob<{ name: string }>('greet-again');
  const results = [
    await writ.enqueue(greet, { name: 'Ada' }, { key: 'a' }),
    await writ.enqueue(other, { name: 'Ada' }, { key: 'a' }),
    await writ.enqueue(greet, { name: 'Ada' }, { key: 'a', tenant: 'acme' }),
  ];
  expect(results.map(({ duplicate }) => duplicate)).toEqual([false, false, false]);
  expect(await count()).toBe(3);
});

test('of many callers with one key exactly one enqueues', async () => {
  const others = await Promise.all([db.connect(), db.connect()]);
  const results = await Promise.all(
    [writ, ...others].flatMap((each) =>
      Array.from({ length: 10 }, () => each.enqueue(greet, { name: 'Ada' }, { key: 'a' })),
    ),
  );
  expect(results.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
  expect(new Set(results.map(({ jobId }) => jobId)).size).toBe(1);
  expect(await count()).toBe(1);
});

test('a key stays taken after its job has succeeded', async () => {
  const { jobId } = await writ.enqueue(greet, { name: 'Ada' }, { key: 'a' });
  await runUntilIdle(writ, [greet.handle(() => undefined)]);
  expect(await writ.enqueue(greet, { name: 'Ada' }, { key: 'a' })).toMatchObject({
    jobId,
    duplicate: true,
  });
});

test('a delayed job is not handed out before its time, and is handed out after it', async () => {
  await writ.enqueue(greet, { name: 'later' }, { delay: '5m' });
  await writ.enqueue(greet, { name: 'now' });
  const seen: string[] = [];
  const handler = greet.handle(({ input }) => void seen.push(input.name));
  await runUntilIdle(writ, [handler]);
  expect(seen).toEqual(['now']);
  await db.clock.advance('5m');
  await runUntilIdle(writ, [handler]);
  expect(seen).toEqual(['now', 'later']);
});

test('a delay may be a moment', async () => {
  const at = new Date(Date.now() + 3_600_000);
  await writ.enqueue(greet, { name: 'Ada' }, { delay: at });
  expect(await jobs()).toMatchObject([{ status: 'queued', process_after: at }]);
});

test('a job whose deadline passes before a worker begins is cancelled and never runs', async () => {
  await writ.enqueue(greet, { name: 'Ada' }, { deadline: '1m' });
  await db.clock.advance('2m');
  let runs = 0;
  await runUntilIdle(writ, [greet.handle(() => void runs++)]);
  expect(runs).toBe(0);
  expect(await jobs()).toMatchObject([
    { status: 'cancelled', last_error_code: 'deadline_exceeded' },
  ]);
});

test('a delayed job whose deadline passes while it waits is cancelled', async () => {
  await writ.enqueue(
    greet,
    { name: 'Ada' },
    { delay: '1h', deadline: new Date(Date.now() + 60_000) },
  );
  await db.clock.advance('2m');
  await runUntilIdle(writ, [greet.handle(() => undefined)]);
  expect(await jobs()).toMatchObject([{ status: 'cancelled', attempts: 0 }]);
});

test('jobs are handed out by priority, higher first, and by age within one', async () => {
  for (const [name, priority] of [
    ['b1', 0],
    ['c', -5],
    ['a', 9],
    ['b2', 0],
  ] as const)
    await writ.enqueue(greet, { name }, { priority });
  const seen: string[] = [];
  await runUntilIdle(writ, [greet.handle(({ input }) => void seen.push(input.name))], {
    concurrency: 1,
    batch: 1,
  });
  expect(seen).toEqual(['a', 'b1', 'b2', 'c']);
});

test('a handler sees the tenant, the labels, the key and the other marks of its job', async () => {
  const options = {
    tenant: 'acme',
    labels: { region: 'eu' },
    key: 'k',
    priority: 3,
    attempts: 2,
    correlationId: 'c-1',
  };
  const { jobId } = await writ.enqueue(greet, { name: 'Ada' }, options);
  const seen: unknown[] = [];
  await runUntilIdle(writ, [greet.handle(({ job }) => void seen.push(job))]);
  const { attempts: maxAttempts, ...same } = options;
  expect(seen).toEqual([
    expect.objectContaining({ id: jobId, kind: 'greet', attempt: 1, maxAttempts, ...same }),
  ]);
});

test('the labels, references and correlation of a job are in its row', async () => {
  await writ.enqueue(
    greet,
    { name: 'Ada' },
    { labels: { region: 'eu' }, correlationId: 'c-1', sourceRef: 'order/1', targetRef: 'mail/1' },
  );
  expect(await jobs()).toMatchObject([
    {
      safe_payload: { region: 'eu' },
      correlation_id: 'c-1',
      source_ref: 'order/1',
      target_ref: 'mail/1',
    },
  ]);
});

test('the input is kept with the job and is not in its row, which shows its hash', async () => {
  await writ.enqueue(greet, { name: 'Ada' });
  const [job] = await jobs();
  expect(JSON.stringify(job)).not.toContain('Ada');
  const [payload] = await db.query(`select writ.fn_job_payload($1) -> 'input' as input`, [
    job?.job_id,
  ]);
  expect(payload?.input).toEqual({ name: 'Ada' });
  expect(job?.payload_ref).toBe(
    `sha256:${createHash('sha256').update('{"name":"Ada"}').digest('hex')}`,
  );
});

test('many jobs are enqueued in one call, in one transaction, with an answer for each', async () => {
  const results = await writ.enqueueMany(greet, [
    { input: { name: 'a' } },
    { input: { name: 'b' }, key: 'b', delay: '1m', priority: 2 },
    { input: { name: 'c' }, tenant: 'acme' },
  ]);
  expect(new Set(results.map(({ jobId }) => jobId)).size).toBe(3);
  expect(await jobs()).toMatchObject([
    { priority: 0 },
    { priority: 2, idempotency_key: 'b' },
    { tenant_id: 'acme' },
  ]);
  expect(
    await db.query(`select jobs from writ.command_run where command = 'fn_job_enqueue'`),
  ).toEqual([{ jobs: 3 }]);
});

test('a key that comes twice in one call is enqueued once', async () => {
  const [first, second] = await writ.enqueueMany(greet, [
    { input: { name: 'a' }, key: 'k' },
    { input: { name: 'b' }, key: 'k' },
  ]);
  expect(first).toMatchObject({ duplicate: false });
  expect(second).toEqual({ jobId: first?.jobId, duplicate: true, samePayload: false });
});

test('an empty call enqueues nothing', async () => {
  expect(await writ.enqueueMany(greet, [])).toEqual([]);
  expect(await count()).toBe(0);
});
