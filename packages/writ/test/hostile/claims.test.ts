/** No input, limit or run of one producer keeps workers from claiming the jobs of others. */
import { createHash, randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { uuidv7 } from '../../src/database/uuid.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { session } from '../races/sessions.js';
import { type Login, login } from './logins.js';

let db: TestDatabase;
let producer: Login;
let worker: Login;

beforeEach(async () => {
  db = await testDatabase();
  producer = await login(db, ['writ_producer']);
  worker = await login(db, ['writ_worker']);
});
afterEach(async () => {
  for (const one of [producer, worker]) await one.end();
  await db.drop();
});

const register = (kind: string, definition: object = {}) =>
  worker.call('fn_job_kind_register', { kind, definition: JSON.stringify(definition), actor: 'w' });
const enqueueAlike = async (kind: string, inputs: readonly string[]) => {
  const ids = inputs.map(() => uuidv7());
  const answer = await producer.call('fn_job_enqueue_alike', {
    kind,
    ids,
    inputs: `[${inputs}]`,
    actor: 'p',
  });
  expect(answer).toMatchObject({ enqueued: inputs.length });
  return ids;
};
const claimMany = (kinds: string[], limit: number) =>
  worker.call('fn_job_claim_many', {
    kinds,
    executor: 'external_worker',
    lease_holder: 'w',
    limit,
    start: limit,
  });

test.each([
  ['a number that overflows jsonb', '1e999999'],
  ['a number that is long when it is printed', '1e100000'],
])('fn_job_claim hands out %s, and the jobs behind it', async (_, number) => {
  await register('chore');
  const ids = await enqueueAlike('chore', [number, '{"n": 1}']);
  const [row] = await worker.query<{ answer: string }>(
    `select writ.fn_job_claim('chore', 'external_worker', 'l', 'w', 30, 2)::text as answer`,
  );
  expect(row?.answer.length).toBeLessThan(5000);
  expect(JSON.parse(String(row?.answer)).jobs).toMatchObject([
    { job_id: ids[0] },
    { job_id: ids[1], input: { n: 1 } },
  ]);
});

test('raising a rate after a long burst stops neither its kind nor other kinds', async () => {
  await register('chore');
  await register('rated', { limit_rate: 1e-6, limit_burst: 1e6 });
  await enqueueAlike('rated', Array(3000).fill('1'));
  expect((await claimMany(['rated'], 2900)).jobs).toHaveLength(2900);
  await register('rated', { limit_rate: 1e6, limit_burst: 1 });
  const [id] = await enqueueAlike('chore', ['1']);
  const answer = await claimMany(['rated', 'chore'], 10);
  expect(answer).toMatchObject({ jobs: [expect.arrayContaining([id])], limited: true });
  expect(answer.again_ms).toBeLessThanOrEqual(3_600_000);
});

test('a claim passes over a step of a limited kind whose run another session holds, and takes the others', async () => {
  await register('act', { limit_concurrency: 5 });
  const steps = [{ after: [], id: 'a', kind: 'act', type: 'job' }];
  const document = JSON.stringify({ planId: 'p', planVersion: '1', schemaVersion: 1, steps });
  const sha256 = createHash('sha256').update(document).digest('hex');
  await producer.call('fn_plan_register', { document, sha256, actor: 'p' });
  const run = { run_id: uuidv7(), plan_id: 'p', plan_version: '1', sha256, input: {} };
  await producer.call('fn_run_start_many', { runs: JSON.stringify([run]), actor: 'p' });
  const holder = await session(db);
  await holder.query('begin');
  await holder.query('select from writ_data.run for update');
  const [id] = await enqueueAlike('act', ['1']);
  expect(await claimMany(['act'], 10)).toMatchObject({ jobs: [expect.arrayContaining([id])] });
  expect(await db.query('select open_jobs from writ_data.limit_hold')).toEqual([{ open_jobs: 1 }]);
  await holder.end();
  expect((await claimMany(['act'], 10)).jobs).toHaveLength(1);
});

test('a batch loses only the job whose correlation id is too long for an index', async () => {
  await register('chore');
  const long = randomBytes(3000).toString('base64');
  const jobs = [long, 'order-7'].map((correlation_id) => ({
    id: uuidv7(),
    kind: 'chore',
    correlation_id,
  }));
  expect(
    await producer.call('fn_job_enqueue_many', { jobs: JSON.stringify(jobs), actor: 'p' }),
  ).toMatchObject({
    enqueued: 1,
    refused: [{ index: 0, reason: 'payload_too_large' }],
  });
});
