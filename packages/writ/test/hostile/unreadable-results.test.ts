/**
 * The result of a step is read by later steps, as jsonb. A worker that calls gates by itself cannot
 * end a step with a result that they would read as null.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { uuidv7 } from '../../src/database/uuid.js';
import { defineJob, definePlan } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { type Login, login } from './logins.js';

let db: TestDatabase;
let worker: Login;
let runId: string;
const first = defineJob<{ n: number }>('first');
const second = defineJob<{ token: string }>('second');
const plan = definePlan('p', { version: '1' }, (p) => {
  const a = p.step('a', first, { input: { n: 1 } });
  p.step('b', second, { input: { token: a.output.token } });
});
const unreadable = ['{"token":"a\\u0000b"}', '{"token":"\\ud800"}'];

beforeEach(async () => {
  db = await testDatabase();
  worker = await login(db, ['writ_worker']);
  const writ = await db.connect();
  runId = (await writ.start(plan)).runId;
});
afterEach(async () => {
  await worker.end();
  await db.drop();
});

async function claimed(kind: string) {
  const answer = await worker.call('fn_job_claim_many', {
    kinds: [kind],
    executor: 'external_worker',
    lease_holder: 'w',
    start: 1,
  });
  const [[job, , , , , , , input]] = answer.jobs as [[string, ...unknown[]]];
  return { token: String(answer.lease_token), job, input };
}
const status = async () =>
  (await db.query('select status from writ.job_queue order by job_id')).map((row) => row.status);

test.each(unreadable)('fn_job_succeed_many refuses %s of a step', async (result) => {
  const { token } = await claimed('first');
  const succeed = (text: string) =>
    worker.call('fn_job_succeed_many', { lease_token: token, positions: [1], results: [text] });
  expect(await succeed(result)).toMatchObject({
    done: 0,
    refused: [{ position: 1, reason: 'invalid_result' }],
  });
  expect(await status()).toEqual(['in_progress']);
  expect(await succeed('{"token":"\\u0041"}')).toMatchObject({ done: 1 });
  expect((await claimed('second')).input).toEqual([{ token: 'A' }]);
});

test.each(unreadable)('fn_run_steps_succeed takes %s for unusual', async (result) => {
  const { token, job } = await claimed('first');
  const answer = await worker.call('fn_run_steps_succeed', {
    tokens: [token],
    positions: [1],
    jobs: [job],
    runs: [runId],
    results: [result],
    take: [true],
    kinds: ['first', 'second'],
    token: uuidv7(),
    lease_ttl_seconds: 30,
    holder: 'w',
  });
  expect(answer).toEqual({ unusual: true });
  expect(await status()).toEqual(['in_progress']);
});

test.each(unreadable)('fn_run_step_commit raises on %s', async (result) => {
  const { token, job } = await claimed('first');
  await worker.query('begin');
  await worker.call('fn_job_commit', { job_id: job, lease_token: token });
  await expect(
    worker.call('fn_run_step_commit', { job_id: job, lease_token: token, result }),
  ).rejects.toThrow('invalid_result');
  await worker.query('rollback');
  expect(await status()).toEqual(['in_progress']);
});

test('a job that is no step keeps a result with a NUL character', async () => {
  const writ = await db.connect();
  await writ.enqueue(second, { token: 'x' });
  const { token } = await claimed('second');
  expect(
    await worker.call('fn_job_succeed_many', {
      lease_token: token,
      positions: [1],
      results: [unreadable[0]],
    }),
  ).toMatchObject({ done: 1, refused: [] });
});
