import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineJob, type Writ } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { disagreements, type Session, session } from './sessions.js';

const kind = defineJob<{ n: number }>('race', { retry: { attempts: 3, base: '1s', cap: '1s' } });

let db: TestDatabase;
let writ: Writ;
let worker: Session;
let jobId: string;

/** One job, and a second row that offers it, as if it had been delivered twice. */
beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
  worker = await session(db);
  await db.query('create table effect (job_id uuid)');
  jobId = (await writ.enqueue(kind, { n: 1 })).jobId;
  await db.query(`insert into writ_data.job_ready select * from writ_data.job_ready`);
});
afterEach(async () => {
  await worker.end();
  await db.drop();
});

const claim = async (limit: number, start: number) =>
  (
    await worker.gate(`fn_job_claim_many(array['race'], 'external_worker', 'worker', 30, $1, $2)`, [
      limit,
      start,
    ])
  ).lease_token;
const commit = async (token: unknown) => {
  await worker.query('begin');
  try {
    await worker.query('insert into effect values ($1)', [jobId]);
    await worker.gate('fn_job_commit($1, $2)', [jobId, token]);
    await worker.query('commit');
  } catch (error) {
    await worker.query('rollback');
    throw error;
  }
};
const effects = async () => (await db.query('select count(*)::int as n from effect'))[0]?.n;

test('a job delivered to two leases commits once', async () => {
  const [first, second] = [await claim(1, 1), await claim(1, 1)];
  await commit(first);
  await expect(commit(second)).rejects.toMatchObject({ message: 'already_committed' });
  expect(await effects()).toBe(1);
});

test('a job delivered to two leases is retried once when both expire', async () => {
  await claim(1, 1);
  await claim(1, 1);
  await db.clock.advance('1m');
  await worker.gate('fn_job_lease_reaper()');
  expect(await db.query('select attempts, execution_no from writ_data.job_wait')).toEqual([
    { attempts: 1, execution_no: 2 },
  ]);
  expect(await db.query('select from writ_data.job_ready')).toEqual([]);
});

test('a job delivered twice to one lease commits once', async () => {
  const token = await claim(2, 2);
  await commit(token);
  await expect(commit(token)).rejects.toMatchObject({ message: 'already_committed' });
  expect(await effects()).toBe(1);
});

test('a job delivered twice to one lease, both started, does not stop the reaper and is retried once', async () => {
  await claim(2, 2);
  await db.clock.advance('1m');
  expect(await worker.gate('fn_job_tick($1)', ['tick'])).toMatchObject({ reaped: { leases: 1 } });
  expect(await db.query('select attempts, execution_no from writ_data.job_wait')).toEqual([
    { attempts: 1, execution_no: 2 },
  ]);
  expect(await disagreements(db)).toEqual([]);
});

test('a job delivered twice to one lease, one of them started, is charged and retried once', async () => {
  await claim(2, 1);
  await db.clock.advance('1m');
  await worker.gate('fn_job_tick($1)', ['tick']);
  const places = await db.query(
    'select attempts, execution_no from writ_data.job_wait union all select attempts, execution_no from writ_data.job_ready',
  );
  expect(places).toEqual([{ attempts: 1, execution_no: 2 }]);
});

test('a stale delivery in the same lease as the execution that follows it neither loses the job nor repeats it', async () => {
  const first = await claim(1, 1);
  await worker.gate('fn_job_fail_transient($1, $2, $3, $4, $5)', [
    jobId,
    first,
    'x',
    'no',
    'worker',
  ]);
  await db.clock.advance('10s');
  await worker.gate('fn_job_tick($1)', ['tick']);
  await claim(2, 2); // the delivery of execution 1 that is left over, and execution 2
  await db.clock.advance('1m');
  expect(await worker.gate('fn_job_tick($1)', ['tick'])).toMatchObject({ reaped: { leases: 1 } });
  expect(await db.query('select attempts, execution_no from writ_data.job_wait')).toEqual([
    { attempts: 2, execution_no: 3 },
  ]);
  expect(await db.query('select from writ_data.job_ready')).toEqual([]);
});

test('a job delivered twice whose deadline passes is cancelled once and does not stop the tick', async () => {
  await db.query(`update writ_data.job_ready set deadline_at = writ.now() + interval '1 second'`);
  await db.clock.advance('10s');
  expect(await worker.gate('fn_job_tick($1)', ['tick'])).not.toHaveProperty('refused');
  expect(await db.query('select from writ_data.job_ready')).toEqual([]);
  expect(await db.query('select distinct status from writ.job_queue')).toEqual([
    { status: 'cancelled' },
  ]);
});

test('a job that one delivery has committed is not cancelled by what is left of the other', async () => {
  await commit(await claim(1, 1));
  expect(await worker.gate('fn_job_cancel($1, null, $2)', [jobId, 'tester'])).toMatchObject({
    refused: true,
  });
  expect(await db.query('select state from writ.v_job_state')).not.toEqual([{ state: 'FAILED' }]);
});

test('a job that was cancelled in the queue cannot be committed by another delivery of it', async () => {
  const token = await claim(1, 1);
  const answer = await worker.gate('fn_job_cancel($1, null, $2)', [jobId, 'tester']);
  if (answer.status === 'cancelled') {
    await expect(commit(token)).rejects.toMatchObject({ code: 'WR001' });
    expect(await effects()).toBe(0);
  } else {
    expect(answer).toMatchObject({ status: 'cancel_requested' });
  }
});
