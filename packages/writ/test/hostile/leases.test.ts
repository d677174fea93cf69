/**
 * Only the worker that holds a lease finishes its jobs, and only for tenants that its login may
 * touch.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { uuidv7 } from '../../src/database/uuid.js';
import { defineJob } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { latch } from '../queue/latch.js';
import { type Login, login } from './logins.js';

let db: TestDatabase;
let producer: Login;
let worker: Login;
let bound: Login;

beforeEach(async () => {
  db = await testDatabase();
  await db.query(`select writ.fn_job_kind_register('chore', '{}', 'test')`);
  producer = await login(db, ['writ_producer']);
  worker = await login(db, ['writ_worker']);
  bound = await login(db, ['writ_worker', 'writ_producer', 'writ_admin'], { tenant_id: 'acme' });
});
afterEach(async () => {
  for (const one of [producer, worker, bound]) await one.end();
  await db.drop();
});

const enqueue = async (tenant: string, more: object = {}) => {
  const id = uuidv7();
  const jobs = JSON.stringify([{ id, kind: 'chore', tenant, ...more }]);
  expect(await producer.call('fn_job_enqueue_many', { jobs, actor: 'p' })).toMatchObject({
    enqueued: 1,
  });
  return id;
};
const claim = (as: Login, start = 1) =>
  as.call('fn_job_claim_many', {
    kinds: ['chore'],
    executor: 'external_worker',
    lease_holder: 'w',
    limit: 9,
    start,
  }) as Promise<{
    lease_token: string;
    jobs: string[][];
  }>;
const statusOf = async (id: string) =>
  (await db.query('select status from writ.job_queue where job_id = $1', [id]))[0]?.status;
const raised = (run: () => Promise<unknown>) =>
  run().then(
    () => 'nothing',
    (error: Error) => error.message,
  );

/** Every gate that moves a job by its lease, as a caller that may not touch the job's tenant. */
async function attack(as: Login, id: string, lease_token: string) {
  const one = { job_id: id, lease_token, actor: 'eve' };
  const failure = { error_code: 'x', error_message: 'x' };
  const many = { lease_token, positions: [1] };
  return {
    start: (await as.call('fn_job_start_many', { lease_token, upto: 1 })).reason,
    progress: (await as.call('fn_job_progress', { ...one, status_signal_only: 'x' })).reason,
    renew: (
      await as.call('fn_job_renew_many', { lease_tokens: [lease_token], lease_ttl_seconds: 60 })
    ).renewed,
    commit: await raised(() => as.call('fn_job_commit', { job_id: id, lease_token })),
    status: (await as.call('fn_job_commit_status', { job_id: id, lease_token })).reason,
    succeed: (await as.call('fn_job_succeed', { ...one, result_ref: null })).reason,
    succeedMany: (await as.call('fn_job_succeed_many', many)).reason,
    transient: (await as.call('fn_job_fail_transient', { ...one, ...failure })).reason,
    permanent: (await as.call('fn_job_fail_permanent', { ...one, ...failure })).reason,
    release: (await as.call('fn_job_release', one)).reason,
    abort: (
      await as.call('fn_job_abort_many', {
        ...many,
        abort_kinds: ['released'],
        codes: [null],
        messages: [null],
      })
    ).reason,
    lease: (await as.call('fn_lease_release', { lease_token })).reason,
    payload: (await as.call('fn_job_payload', { job_id: id })).reason,
    events: await as.call('fn_job_events', { job_id: id }),
    cancel: (await as.call('fn_job_cancel', { job_id: id, reason: 'x', actor: 'eve' })).reason,
    replay: (await as.call('fn_job_dead_letter_replay', { job_id: id, triage: 'x', actor: 'eve' }))
      .reason,
  };
}
const turnedAway = {
  start: 'tenant_forbidden',
  progress: 'tenant_forbidden',
  renew: [],
  commit: 'tenant_forbidden',
  status: 'tenant_forbidden',
  succeed: 'tenant_forbidden',
  succeedMany: 'tenant_forbidden',
  transient: 'tenant_forbidden',
  permanent: 'tenant_forbidden',
  release: 'tenant_forbidden',
  abort: 'tenant_forbidden',
  lease: 'tenant_forbidden',
  payload: 'job_not_found',
  events: [],
  cancel: 'job_not_found',
  replay: 'dead_letter_not_found',
};

describe('a login of one tenant', () => {
  test('moves no job of another tenant, though it knows the lease’s token', async () => {
    const id = await enqueue('rival');
    const { lease_token } = await claim(worker);
    // it has started already
    expect(await attack(bound, id, lease_token)).toEqual({ ...turnedAway, start: undefined });
    expect(await statusOf(id)).toBe('in_progress');
  });

  test('claims and finishes its own tenant’s jobs, and only those', async () => {
    const [own, other] = [await enqueue('acme'), await enqueue('rival')];
    const { lease_token, jobs } = await claim(bound);
    expect(jobs.map(([id]) => id)).toEqual([own]);
    expect(await bound.call('fn_job_succeed_many', { lease_token, positions: [1] })).toMatchObject({
      done: 1,
    });
    expect([await statusOf(own), await statusOf(other)]).toEqual(['succeeded', 'queued']);
  });

  test('cannot enqueue for another tenant, and learns nothing about its keys', async () => {
    await enqueue('rival', { key: 'order-1' });
    await enqueue('acme', { key: 'order-1' });
    const jobs = JSON.stringify(
      ['rival', 'acme'].map((tenant) => ({ id: uuidv7(), kind: 'chore', tenant, key: 'order-1' })),
    );
    const answer = await bound.call('fn_job_enqueue_many', { jobs, actor: 'p' });
    expect(answer).toMatchObject({
      enqueued: 0,
      refused: [{ index: 0, reason: 'tenant_forbidden' }],
      duplicates: [{ index: 1 }],
    });
    expect(answer.duplicates).toHaveLength(1);
    const alike = { kind: 'chore', ids: [uuidv7()], inputs: null, actor: 'p', tenant_id: 'rival' };
    expect(await bound.call('fn_job_enqueue_alike', alike)).toMatchObject({
      refused: [{ reason: 'tenant_forbidden' }],
    });
  });

  test('sees only its tenant’s calls, jobs and executions', async () => {
    const [own, other] = [await enqueue('acme'), await enqueue('rival')];
    await claim(worker, 2);
    const jobs = async (view: string) =>
      (await bound.query<{ job_id: string }>(`select job_id from writ.${view}`)).map(
        (row) => row.job_id,
      );
    expect([
      await jobs('job_queue'),
      await jobs('job_execution'),
      await jobs('v_job_state'),
    ]).toEqual([[own], [own], [own]]);
    const calls = await bound.query('select command, jobs from writ.command_run order by run_id');
    expect(calls).toEqual([
      { command: 'fn_job_enqueue', jobs: 1 },
      { command: 'fn_job_claim', jobs: 1 },
    ]);
    expect(JSON.stringify(await bound.query('select * from writ.event_outbox'))).not.toContain(
      other,
    );
    expect(await bound.query('select * from writ.v_queue_lease')).toEqual([]);
  });
});

test('a caller that has set writ.tenant moves no job of another tenant', async () => {
  const ids = [await enqueue('rival'), await enqueue('rival')];
  const { lease_token } = await claim(worker, 1);
  await worker.query(`set writ.tenant = 'acme'`);
  const answers = {
    start: (await worker.call('fn_job_start_many', { lease_token, upto: 2 })).reason,
    commit: await raised(() => worker.call('fn_job_commit', { job_id: ids[0], lease_token })),
    succeed: (
      await worker.call('fn_job_succeed_many', { lease_token, positions: [1, 2], start_upto: 2 })
    ).reason,
  };
  expect(answers).toEqual({
    start: 'tenant_forbidden',
    commit: 'tenant_forbidden',
    succeed: 'tenant_forbidden',
  });
  expect(await Promise.all(ids.map(statusOf))).toEqual(['in_progress', 'leased']);
});

test('a caller that has set writ.tenant sees no call about another tenant’s jobs', async () => {
  await enqueue('rival');
  await worker.query(`set writ.tenant = 'acme'`);
  expect(await worker.query('select command, jobs from writ.command_run where jobs > 0')).toEqual(
    [],
  );
  await enqueue('acme');
  expect(await worker.query('select command, jobs from writ.command_run where jobs > 0')).toEqual([
    { command: 'fn_job_enqueue', jobs: 1 },
  ]);
});

describe('a lease token', () => {
  test('is in no view that any role reads', async () => {
    const id = await enqueue('acme');
    const { lease_token } = await claim(worker);
    await worker.call('fn_job_commit', { job_id: id, lease_token });
    const all = await login(db, ['workflow_admin']);
    const views = await all.query<{ name: string }>(
      `select table_name as name from information_schema.views where table_schema = 'writ'`,
    );
    expect(views.length).toBeGreaterThan(20);
    for (const { name } of views) {
      expect(JSON.stringify(await all.query(`select * from writ.${name}`)), name).not.toContain(
        lease_token,
      );
    }
    await all.end();
  });

  test('does not let an auditor start or finish a job', async () => {
    const id = await enqueue('acme');
    const { lease_token } = await claim(worker);
    const auditor = await login(db, ['writ_auditor']);
    for (const gate of [
      'fn_job_succeed_many(p_lease_token => $1, p_positions => $2)',
      'fn_job_start_many($1, ($2::integer[])[1])',
    ]) {
      expect(await auditor.attempt(`select writ.${gate}`, [lease_token, [1]])).toBe('42501');
    }
    expect(await statusOf(id)).toBe('in_progress');
    await auditor.end();
  });
});

test('a NOTIFY from a stranger stops no handler, and a cancellation does', async () => {
  const begun = latch();
  const aborted = latch<unknown>();
  const slow = defineJob<undefined>('slow');
  const handler = slow.handle(
    ({ signal }) =>
      new Promise((_, failed) => {
        signal.addEventListener('abort', () => {
          aborted.open(signal.reason);
          failed(signal.reason);
        });
        begun.open();
      }),
  );
  const writ = await db.connect();
  const running = await writ.work([handler], { onError: () => undefined, lease: '10m' });
  const { jobId } = await writ.enqueue(slow, undefined);
  await begun.opened;
  const stranger = await login(db, []);
  for (let n = 0; n < 20; n++)
    await stranger.query('select pg_notify($1, $2)', ['queue_cancel', jobId]);
  const wait = new Promise((done) => setTimeout(() => done('still running'), 500));
  expect(await Promise.race([aborted.opened, wait])).toBe('still running');
  await writ.jobs.cancel(jobId);
  expect(await aborted.opened).toMatchObject({ code: 'cancelled' });
  await running.stop();
  await stranger.end();
});

describe('an argument of a gate', () => {
  test('is refused with a code when its text is too long', async () => {
    const id = await enqueue('acme');
    const actor = 'a'.repeat(201);
    const jobs = JSON.stringify([{ id: uuidv7(), kind: 'chore' }]);
    expect(await producer.call('fn_job_enqueue_many', { jobs, actor })).toMatchObject({
      reason: 'invalid_actor',
    });
    expect(
      await producer.call('fn_job_enqueue_alike', {
        kind: 'chore',
        ids: [uuidv7()],
        inputs: null,
        actor,
      }),
    ).toMatchObject({
      reason: 'invalid_actor',
    });
    const { lease_token } = await claim(worker);
    expect(
      await worker.call('fn_job_succeed_many', { lease_token, positions: [1], actor }),
    ).toMatchObject({ reason: 'invalid_actor' });
    const result_ref = 'r'.repeat(8193);
    expect(
      await worker.call('fn_job_succeed', { job_id: id, lease_token, result_ref, actor: 'w' }),
    ).toMatchObject({
      reason: 'payload_too_large',
    });
    const claimed = { kinds: ['chore'], executor: 'external_worker', lease_holder: actor };
    expect(await worker.call('fn_job_claim_many', claimed)).toMatchObject({
      reason: 'invalid_actor',
    });
    expect(await worker.call('fn_job_succeed_many', { lease_token, positions: [1] })).toMatchObject(
      { done: 1 },
    );
  });

  test('is cut to 200 characters when it is an error code, in every row', async () => {
    const ids = [await enqueue('acme'), await enqueue('acme')];
    const { lease_token } = await claim(worker, 2);
    const [error_code, error_message] = ['c'.repeat(100_000), 'x'];
    await worker.call('fn_job_fail_permanent', {
      job_id: ids[0],
      lease_token,
      error_code,
      error_message,
      actor: 'w',
    });
    await worker.call('fn_job_abort_many', {
      lease_token,
      positions: [2],
      abort_kinds: ['permanent'],
      codes: [error_code],
      messages: ['x'],
    });
    expect(await Promise.all(ids.map(statusOf))).toEqual(['dead_letter', 'dead_letter']);
    const [kept] = await db.query(
      `select (select max(length(error_code)) from writ_data.job_execution) as code,
         (select max(length(details::text)) from writ_data.event_batch) < 1000 as short`,
    );
    expect(kept).toEqual({ code: 200, short: true });
  });

  test('is refused when its time is infinite or more than a hundred years away', async () => {
    for (const more of [
      { delay_ms: 9e18 },
      { process_after: 'infinity' },
      { process_after: '-infinity' },
      { deadline_at: 'infinity' },
    ]) {
      const jobs = JSON.stringify([{ id: uuidv7(), kind: 'chore', ...more }]);
      expect(await producer.call('fn_job_enqueue_many', { jobs, actor: 'p' })).toMatchObject({
        refused: [{ reason: 'invalid_job' }],
      });
    }
  });
});
