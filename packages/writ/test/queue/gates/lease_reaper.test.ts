import { expect, test } from 'vitest';
import { type Row, rolledBackGates } from './harness.js';

const gates = rolledBackGates();
const gate = 'fn_job_lease_reaper';

test('a lease that has not expired is left alone', async () => {
  await gates.held();
  expect(await gates.unchanged(() => gates.call(gate))).toMatchObject({ leases: 0 });
});

test('a started job of an expired lease is charged and retried', async () => {
  const { id } = await gates.held();
  await gates.db.clock.advance('31s');
  expect(await gates.call(gate, { actor: 'reaper' })).toEqual({
    leases: 1,
    queued: 0,
    retry_waiting: 1,
    dead_letter: 0,
    cancelled: 0,
    succeeded: 0,
  });
  expect(await gates.job(id)).toMatchObject({
    status: 'retry_waiting',
    attempts: 1,
    last_error_code: 'lease_expired',
  });
  expect(await gates.executions(id)).toMatchObject([
    { status: 'ABORTED', abort_kind: 'lease_expired', final: false },
  ]);
  expect(await gates.history(id)).toEqual([
    'enqueued',
    'leased',
    'started',
    'failed',
    'retry_waiting',
  ]);
});

test('a prefetched job of an expired lease is innocent: queued again, nothing charged', async () => {
  await gates.register('chore', { max_attempts: 1 });
  const started = await gates.enqueue();
  const prefetched = await gates.enqueue();
  await gates.claim({ limit: 2, start: 1 });
  await gates.db.clock.advance('31s');
  expect(await gates.call(gate)).toMatchObject({ queued: 1, retry_waiting: 1 });
  expect(await gates.job(started)).toMatchObject({ status: 'retry_waiting', attempts: 0 });
  expect(await gates.job(prefetched)).toMatchObject({ status: 'queued', attempts: 0 });
});

test('a crash is charged, but never takes the last attempt', async () => {
  await gates.register('chore', { max_attempts: 3, backoff_base_s: 0 });
  const id = await gates.enqueue();
  await gates.set('queue.poison.crashes', 100);
  const charged: unknown[] = [];
  for (let crash = 1; crash <= 4; crash++) {
    await gates.claim({ start: 1, alone: true });
    await gates.db.clock.advance('31s');
    await gates.call('fn_job_tick', { actor: 'w1' });
    charged.push((await gates.job(id)).attempts);
    await gates.call('fn_job_tick', { actor: 'w1' });
  }
  expect(charged).toEqual([1, 2, 2, 2]);
  expect(await gates.statusOf(id)).toBe('queued');
});

/**
 * One claim of a worker that dies: its jobs are taken back, and claimable again without a delay.
 */
async function crash(parameters: Row) {
  const { ids } = await gates.claim({ start: 10, limit: 10, ...parameters });
  await gates.db.clock.advance('31s');
  await gates.call('fn_job_tick', { actor: 'w1' });
  await gates.call('fn_job_tick', { actor: 'w1' });
  return ids;
}

test('a job that kills its worker three times with nothing beside it is quarantined as poison', async () => {
  await gates.register('chore', { max_attempts: 50, backoff_base_s: 0 });
  const id = await gates.enqueue();
  for (let n = 1; n <= 4; n++) {
    expect(await gates.job(id)).toMatchObject({ status: 'queued', attempts: n - 1 });
    expect(await crash({ alone: true })).toEqual([id]);
  }
  expect(await gates.job(id)).toMatchObject({
    status: 'dead_letter',
    last_error_code: 'poison',
    attempts: 4,
  });
});

test('after a crash the jobs of a lease are handed out one by one, and only to a caller that runs nothing beside', async () => {
  await gates.register('chore', { backoff_base_s: 0 });
  const ids = [await gates.enqueue(), await gates.enqueue()];
  expect(await crash({})).toEqual(ids);
  expect(await gates.unchanged(() => gates.claim({ limit: 10 }))).toMatchObject({ ids: [] });
  const first = await gates.claim({ limit: 10, start: 10, alone: true });
  expect(first.ids).toHaveLength(1);
  await gates.call('fn_job_succeed_many', { lease_token: first.token, positions: [1] });
  const second = await gates.claim({ limit: 10, start: 10, alone: true });
  expect([...first.ids, ...second.ids].sort()).toEqual([...ids].sort());
});

test('how many crashes make poison is a setting', async () => {
  await gates.register('chore', { max_attempts: 50, backoff_base_s: 0 });
  await gates.set('queue.poison.crashes', 1);
  const id = await gates.enqueue();
  await crash({});
  expect(await gates.statusOf(id)).toBe('queued');
  await crash({ alone: true });
  expect(await gates.job(id)).toMatchObject({ status: 'dead_letter', last_error_code: 'poison' });
});

test('a crash past the deadline of a job ends it as cancelled, for nobody knows whether it ran', async () => {
  await gates.register('chore', { max_attempts: 3, backoff_base_s: 0 });
  const id = await gates.enqueue({ deadline_ms: 10_000 });
  await gates.claim({ start: 1 });
  await gates.db.clock.advance('31s');
  await gates.call(gate);
  await gates.call('fn_job_tick', { actor: 'w1' });
  expect(await gates.job(id)).toMatchObject({
    status: 'cancelled',
    last_error_code: 'deadline_exceeded',
  });
});

test('a committed execution of an expired lease becomes DONE', async () => {
  const { id, token } = await gates.held();
  await gates.call('fn_job_commit', { job_id: id, lease_token: token });
  await gates.db.clock.advance('31s');
  expect(await gates.call(gate)).toMatchObject({ leases: 1, succeeded: 1, retry_waiting: 0 });
  expect(await gates.statusOf(id)).toBe('succeeded');
  expect(await gates.history(id)).toEqual([
    'enqueued',
    'leased',
    'started',
    'committed',
    'succeeded',
  ]);
});

test('a job that was asked to stop ends as cancelled', async () => {
  const { id } = await gates.held();
  await gates.call('fn_job_cancel', { job_id: id, reason: 'r', actor: 'ada' });
  await gates.db.clock.advance('31s');
  expect(await gates.call(gate)).toMatchObject({ cancelled: 1 });
  expect(await gates.statusOf(id)).toBe('cancelled');
});

test('jobs of the lease that have ended already are left as they ended', async () => {
  await gates.register();
  const done = await gates.enqueue();
  const released = await gates.enqueue();
  const open = await gates.enqueue();
  const { token } = await gates.claim({ limit: 3, start: 3 });
  await gates.call('fn_job_succeed', {
    job_id: done,
    lease_token: token,
    result_ref: null,
    actor: 'w1',
  });
  await gates.call('fn_job_release', { job_id: released, lease_token: token, actor: 'w1' });
  await gates.db.clock.advance('31s');
  expect(await gates.call(gate)).toMatchObject({
    leases: 1,
    queued: 0,
    retry_waiting: 1,
    succeeded: 0,
  });
  expect(await Promise.all([done, released, open].map((id) => gates.statusOf(id)))).toEqual([
    'succeeded',
    'queued',
    'retry_waiting',
  ]);
});

test('one call takes back at most queue.lease.reaper_batch leases', async () => {
  await gates.register();
  await gates.set('queue.lease.reaper_batch', 2);
  for (let i = 0; i < 3; i++) {
    await gates.enqueue();
    await gates.claim({ start: 1 });
  }
  await gates.db.clock.advance('31s');
  expect(await gates.call(gate)).toMatchObject({ leases: 2 });
  expect(await gates.call(gate)).toMatchObject({ leases: 1 });
  expect(await gates.call(gate)).toMatchObject({ leases: 0 });
});

test('switched off, it takes nothing', async () => {
  await gates.held();
  await gates.set('queue.lease.reaper_enabled', false);
  await gates.db.clock.advance('31s');
  expect(await gates.unchanged(() => gates.call(gate))).toEqual({ leases: 0 });
});

test('a second call finds nothing', async () => {
  await gates.held();
  await gates.db.clock.advance('31s');
  await gates.call(gate);
  expect(await gates.unchanged(() => gates.call(gate))).toMatchObject({ leases: 0 });
});
