import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineJob, type Writ } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { disagreements, type Session, session, untilBlocked } from './sessions.js';

const kind = defineJob<{ n: number }>('race', { retry: { attempts: 1 } });

let db: TestDatabase;
let writ: Writ;
let a: Session;
let b: Session;

beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
  [a, b] = await Promise.all([session(db), session(db)]);
});
afterEach(async () => {
  await Promise.all([a.end(), b.end()]);
  await db.drop();
});

async function deadLetter(): Promise<string> {
  const { jobId } = await writ.enqueue(kind, { n: 1 }, { key: 'once' });
  const { lease_token } = await a.gate(
    `fn_job_claim_many(array['race'], 'external_worker', 'worker', 30, 1, 1)`,
  );
  await a.gate('fn_job_fail_permanent($1, $2, $3, $4, $5)', [
    jobId,
    lease_token,
    'x',
    'no',
    'worker',
  ]);
  return jobId;
}

test('of two replays of one dead letter at once, one wins and the other is refused', async () => {
  const jobId = await deadLetter();
  await a.query('begin');
  const won = await a.gate('fn_job_dead_letter_replay($1, $2, $3)', [jobId, 'fixed', 'ada']);
  const second = b.gate('fn_job_dead_letter_replay($1, $2, $3)', [jobId, 'fixed', 'bob']);
  await untilBlocked(db, b);
  await a.query('commit');
  expect(await second).toMatchObject({ refused: true, reason: 'dead_letter_not_found' });
  expect(await db.query('select job_id, status from writ.job_queue order by enqueued_at')).toEqual([
    { job_id: jobId, status: 'cleaned' },
    { job_id: won.job_id, status: 'queued' },
  ]);
});

test('a replay that was rolled back leaves the dead letter to the other', async () => {
  const jobId = await deadLetter();
  await a.query('begin');
  await a.gate('fn_job_dead_letter_replay($1, $2, $3)', [jobId, 'fixed', 'ada']);
  const second = b.gate('fn_job_dead_letter_replay($1, $2, $3)', [jobId, 'fixed', 'bob']);
  await untilBlocked(db, b);
  await a.query('rollback');
  expect(await second).toMatchObject({ replayed: jobId });
  expect((await db.query('select 1 from writ_data.job_ready')).length).toBe(1);
  expect(await disagreements(db)).toEqual([]);
});
