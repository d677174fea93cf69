/** A job whose handler lacks something that may still come waits for it, as long as that takes. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Postponed } from '../../src/errors/index.js';
import { defineJob, type Writ } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { until } from '../races/sessions.js';

let db: TestDatabase;
let writ: Writ;
beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
});
afterEach(() => db.drop());

test('a postponed job is tried again after five seconds, and no attempt is charged', async () => {
  const attempts: number[] = [];
  const job = defineJob('waits', { retry: { attempts: 2 } });
  const handled = job.handle(async (context) => {
    attempts.push(context.job.attempt);
    if (attempts.length < 4) throw new Postponed('not yet', { code: 'unknown_key' });
  });
  await writ.work([handled], { poll: '50ms', onError: () => undefined });
  await writ.enqueue(job);
  for (const times of [1, 2, 3]) {
    await until(
      async () =>
        (await db.query('select from writ_data.job_wait')).length === 1 &&
        attempts.length === times,
    );
    await db.clock.advance('5s');
  }
  await until(
    async () =>
      (await db.query(`select from writ_data.job_execution where status = 'DONE'`)).length === 1,
  );
  expect(new Set(attempts).size).toBe(1);
  expect(
    await db.query(
      `select abort_kind, error_code from writ_data.job_execution where status = 'ABORTED'`,
    ),
  ).toEqual(
    Array.from({ length: 3 }, () => ({ abort_kind: 'delayed', error_code: 'unknown_key' })),
  );
});
