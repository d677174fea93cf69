import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineJob, Writ, WritError, WritRefusal } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';

let db: TestDatabase;
let writ: Writ;

beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
});
afterEach(() => db.drop());

const greet = defineJob<{ name: string }>('greet');
const Ada = { name: 'Ada' };
const count = async () =>
  Number((await db.query('select count(*) as n from writ.job_queue'))[0]?.n);
const codeOf = (outcome: unknown) => (outcome instanceof WritRefusal ? outcome.code : outcome);

test('a refusal is thrown with its code, what to do, and whether a retry helps', async () => {
  const error = await writ
    .enqueue(greet, Ada, { labels: { token: 'secret' } })
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(WritRefusal);
  expect(error).toMatchObject({
    name: 'WritRefusal',
    code: 'forbidden_payload_key',
    detail: 'token',
    retryable: false,
    status: 400,
  });
  expect((error as WritRefusal).remedy).toContain('input');
  expect(await count()).toBe(0);
});

test('tryEnqueue answers the same refusal instead of throwing it', async () => {
  const outcome = await writ.tryEnqueue(greet, Ada, { labels: { nested: [{ password: 'x' }] } });
  expect(codeOf(outcome)).toBe('forbidden_payload_key');
});

test('tryEnqueue answers a job that is taken as enqueue does', async () => {
  expect(await writ.tryEnqueue(greet, Ada)).toMatchObject({ duplicate: false });
});

test('a queue that is switched off refuses, and says that a retry can help', async () => {
  await db.query(`select writ.fn_setting_set('queue.job_substrate.enabled', 'false', 'test')`);
  expect(await writ.tryEnqueue(greet, Ada)).toMatchObject({
    code: 'job_substrate_disabled',
    retryable: true,
    status: 503,
  });
});

test.each([
  ['invalid_idempotency_key', { key: '' }],
  ['invalid_idempotency_key', { key: 'k'.repeat(1001) }],
  ['invalid_tenant', { tenant: '' }],
  ['invalid_max_attempts', { attempts: 0 }],
  ['payload_too_large', { labels: { text: 'x'.repeat(9000) } }],
  ['invalid_text', { key: 'a\0b' }],
] as const)('%s is refused by name: %j', async (code, options) => {
  expect(codeOf(await writ.tryEnqueue(greet, Ada, options))).toBe(code);
  expect(await count()).toBe(0);
});

test.each([
  ['a NUL character', '\0'],
  ['half of a surrogate pair', '\ud83d'],
])('%s in an input is refused as invalid_text', async (_, name) => {
  expect(codeOf(await writ.tryEnqueue(greet, { name }))).toBe('invalid_text');
});

test.each(['\\u0000', '😀', 'c:\\users', '\\\\u0000', '\u0001'])(
  'the text %j is an ordinary input',
  async (name) => {
    expect(await writ.tryEnqueue(greet, { name })).toMatchObject({ duplicate: false });
  },
);

test('an input over the limit is refused', async () => {
  expect(codeOf(await writ.tryEnqueue(greet, { name: 'x'.repeat(1_100_000) }))).toBe(
    'payload_too_large',
  );
});

test('an input that JSON cannot express is refused', async () => {
  const big = defineJob<{ n: bigint }>('big');
  const circle: { self?: unknown } = {};
  circle.self = circle;
  expect(codeOf(await writ.tryEnqueue(big, { n: 1n }))).toBe('invalid_input');
  expect(codeOf(await writ.tryEnqueue(defineJob<object>('circle'), circle))).toBe('invalid_input');
});

test('a kind that is not a name is refused', async () => {
  expect(codeOf(await writ.tryEnqueue(defineJob('no spaces')))).toBe('invalid_job_kind');
});

test('a duration that is none is an error by name', async () => {
  await expect(writ.enqueue(greet, Ada, { delay: '5 minutes' as never })).rejects.toMatchObject({
    code: 'invalid_duration',
  });
});

test('enqueueMany takes all or none', async () => {
  const items = [{ input: Ada }, { input: Ada, key: '' }, { input: Ada }];
  await expect(writ.enqueueMany(greet, items)).rejects.toMatchObject({
    code: 'invalid_idempotency_key',
  });
  expect(await count()).toBe(0);
});

test('tryEnqueueMany takes or refuses each by itself', async () => {
  const outcomes = await writ.tryEnqueueMany(greet, [
    { input: Ada },
    { input: Ada, key: '' },
    { input: { name: '\0' } },
    { input: Ada },
  ]);
  expect(
    outcomes.map((outcome) => (outcome instanceof WritRefusal ? outcome.code : outcome.duplicate)),
  ).toEqual([false, 'invalid_idempotency_key', 'invalid_text', false]);
  expect(await count()).toBe(2);
});

test('enqueueMany in a transaction of the caller that goes on after the refusal enqueues none', async () => {
  const items = [{ input: Ada }, { input: Ada, key: '' }];
  const client = new pg.Client({ connectionString: db.connectionString });
  await client.connect();
  await client.query('begin');
  await expect(writ.enqueueMany(greet, items, { db: client })).rejects.toBeInstanceOf(WritRefusal);
  await client.query('commit');
  await client.end();
  expect(await count()).toBe(0);
});

test('cancelling a job that does not exist, or is another tenant’s, is refused alike', async () => {
  const { jobId } = await writ.enqueue(greet, Ada, { tenant: 'acme' });
  await expect(writ.jobs.cancel(jobId, { tenant: 'other' })).rejects.toMatchObject({
    name: 'WritRefusal',
    code: 'job_not_found',
  });
  await expect(writ.jobs.cancel('01900000-0000-7000-8000-000000000000')).rejects.toMatchObject({
    code: 'job_not_found',
  });
});

test('an id that is no UUID is refused by name', async () => {
  await expect(writ.jobs.cancel('job-1')).rejects.toBeInstanceOf(WritError);
});

test('a database without Writ is named as such', async () => {
  await db.query('drop schema writ cascade');
  await expect(writ.enqueue(greet, Ada)).rejects.toMatchObject({
    name: 'WritError',
    code: 'schema_missing',
  });
});

test('a database that cannot be reached is named as such', async () => {
  const nowhere = Writ.connect({ connectionString: 'postgres://nobody@127.0.0.1:1/none' });
  await expect(nowhere).rejects.toMatchObject({
    name: 'WritError',
    code: 'database_unreachable',
    retryable: true,
  });
});

test('a connection without an address is refused', async () => {
  await expect(Writ.connect({})).rejects.toMatchObject({ code: 'invalid_argument' });
});
