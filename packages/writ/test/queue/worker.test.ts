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

const greet = defineJob<{ name: string }>('greet', { retry: { attempts: 3 } });

test('a job is handed to its handler with its input', async () => {
  const { jobId } = await writ.enqueue(greet, { name: 'Ada' });
  const seen: unknown[] = [];
  await runUntilIdle(writ, [greet.handle(({ input, job }) => void seen.push([job.id, input]))]);
  expect(seen).toEqual([[jobId, { name: 'Ada' }]]);
  expect(await db.query('select status, attempts from writ.job_queue')).toEqual([
    { status: 'succeeded', attempts: 1 },
  ]);
});

test('a job that keeps failing is retried with delays and then becomes a dead letter', async () => {
  await writ.enqueue(greet, { name: 'Ada' });
  let runs = 0;
  const handler = greet.handle(() => {
    runs++;
    throw new Error('no');
  });
  await runUntilIdle(writ, [handler], { skipTime: db });
  expect(runs).toBe(3);
  expect(await db.query('select status, attempts, last_error from writ.job_queue')).toEqual([
    { status: 'dead_letter', attempts: 3, last_error: 'no' },
  ]);
});
