import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineJob, type Writ } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { disagreements, type Session, session, untilBlocked } from './sessions.js';

const kind = defineJob<{ n: number }>('race', { retry: { attempts: 3, base: '1s', cap: '1s' } });

let db: TestDatabase;
let writ: Writ;
let worker: Session;
let other: Session;
let jobId: string;
let token: unknown;

/** One job, claimed and started by `worker`, and a table for its effect. */
beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
  [worker, other] = await Promise.all([session(db), session(db)]);
  await db.query('create table effect (job_id uuid)');
  jobId = (await writ.enqueue(kind, { n: 1 })).jobId;
  token = (
    await worker.gate(`fn_job_claim_many(array['race'], 'external_worker', 'worker', 30, 1, 1)`)
  ).lease_token;
});
afterEach(async () => {
  await Promise.all([worker.end(), other.end()]);
  await db.drop();
});

/** The transaction of a handler's commit, up to but not including COMMIT. */
async function writeEffect(): Promise<void> {
  await worker.query('begin');
  await worker.gate('fn_job_commit($1, $2)', [jobId, token]);
  await worker.query('insert into effect values ($1)', [jobId]);
}
const effects = async () => (await db.query('select count(*)::int as n from effect'))[0]?.n;
const status = async () =>
  (await db.query('select status from writ.job_queue where job_id = $1', [jobId]))[0]?.status;

test('the reaper leaves an expired lease alone while its commit is on its way', async () => {
  await db.clock.advance('1m');
  await writeEffect();
  expect(await other.gate('fn_job_lease_reaper()')).toMatchObject({ leases: 0 });
  await worker.query('commit');
  expect(await other.gate('fn_job_lease_reaper()')).toMatchObject({ leases: 1, succeeded: 1 });
  expect([await status(), await effects()]).toEqual(['succeeded', 1]);
});

test('a commit after the reaper is refused as lease_lost, and what it wrote is rolled back', async () => {
  await db.clock.advance('1m');
  expect(await other.gate('fn_job_lease_reaper()')).toMatchObject({ leases: 1, retry_waiting: 1 });
  await worker.query('begin');
  await worker.query('insert into effect values ($1)', [jobId]);
  await expect(worker.gate('fn_job_commit($1, $2)', [jobId, token])).rejects.toMatchObject({
    code: 'WR001',
    message: 'lease_lost',
  });
  await worker.query('commit'); // of a failed transaction: a rollback
  expect([await status(), await effects()]).toEqual(['retry_waiting', 0]);
});

test('a commit that meets an open reaper waits for it and is then refused', async () => {
  await db.clock.advance('1m');
  await other.query('begin');
  expect(await other.gate('fn_job_lease_reaper()')).toMatchObject({ leases: 1 });
  await worker.query('begin');
  const committing = worker.gate('fn_job_commit($1, $2)', [jobId, token]);
  const refused = expect(committing).rejects.toMatchObject({
    code: 'WR001',
    message: 'lease_lost',
  });
  await untilBlocked(db, worker);
  await other.query('commit');
  await refused;
  await worker.query('rollback');
  expect([await status(), await effects()]).toEqual(['retry_waiting', 0]);
});

test('a renewal passes while a commit is on its way', async () => {
  await writeEffect();
  expect(await other.gate('fn_job_renew_many(array[$1::uuid], 30)', [token])).toMatchObject({
    renewed: [token],
    lost: [],
  });
  await worker.query('commit');
  expect(await effects()).toBe(1);
});

test('a failure by timeout that comes while the commit is on its way waits for it, and the effect stands', async () => {
  await writeEffect();
  const failing = other.gate('fn_job_fail_transient($1, $2, $3, $4, $5)', [
    jobId,
    token,
    'timeout',
    'too slow',
    'worker',
  ]);
  await untilBlocked(db, other);
  await worker.query('commit');
  expect(await failing).toMatchObject({ refused: true, reason: 'committed_cannot_fail' });
  expect(
    await worker.gate('fn_job_succeed($1, $2, null, $3)', [jobId, token, 'worker']),
  ).toMatchObject({ status: 'succeeded' });
  expect([await status(), await effects()]).toEqual(['succeeded', 1]);
});

test('a failure by timeout stands when the commit is rolled back', async () => {
  await writeEffect();
  const failing = other.gate('fn_job_fail_transient($1, $2, $3, $4, $5)', [
    jobId,
    token,
    'timeout',
    'too slow',
    'worker',
  ]);
  await untilBlocked(db, other);
  await worker.query('rollback');
  expect(await failing).toMatchObject({ status: 'retry_waiting' });
  expect([await status(), await effects()]).toEqual(['retry_waiting', 0]);
});

test('a commit after a failure by timeout is refused, and what it wrote is rolled back', async () => {
  await other.gate('fn_job_fail_transient($1, $2, $3, $4, $5)', [
    jobId,
    token,
    'timeout',
    'too slow',
    'worker',
  ]);
  await expect(writeEffect()).rejects.toMatchObject({ code: 'WR001', message: 'lease_lost' });
  await worker.query('rollback');
  expect([await status(), await effects()]).toEqual(['retry_waiting', 0]);
});

test('of two commits of one job by one token the second is refused as already_committed', async () => {
  await writeEffect();
  await other.query('begin');
  const second = other.gate('fn_job_commit($1, $2)', [jobId, token]);
  const refused = expect(second).rejects.toMatchObject({
    code: 'WR001',
    message: 'already_committed',
  });
  await untilBlocked(db, other);
  await worker.query('commit');
  await refused;
  await other.query('rollback');
  expect(await effects()).toBe(1);
});

test('a cancel while the commit is on its way is a request that does not undo it', async () => {
  await writeEffect();
  expect(await other.gate('fn_job_cancel($1, null, $2)', [jobId, 'tester'])).toMatchObject({
    status: 'cancel_requested',
  });
  await worker.query('commit');
  await worker.gate('fn_job_succeed($1, $2, null, $3)', [jobId, token, 'worker']);
  expect([await status(), await effects()]).toEqual(['succeeded', 1]);
  expect(await disagreements(db)).toEqual([]);
});
