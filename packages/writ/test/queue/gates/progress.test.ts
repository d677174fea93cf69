import { expect, test } from 'vitest';
import { rolledBackGates, stranger } from './harness.js';

const gates = rolledBackGates();
const gate = 'fn_job_progress';
const progress = (id: string, token: string, signal: string | null = null) =>
  gates.call(gate, { job_id: id, status_signal_only: signal, lease_token: token, actor: 'w1' });

test('the first call starts the job', async () => {
  const { id, token } = await gates.held({ started: false });
  expect(await progress(id, token)).toEqual({
    job_id: id,
    status: 'in_progress',
    cancel_requested: false,
  });
  expect(await gates.job(id)).toMatchObject({
    status: 'in_progress',
    attempts: 1,
    started_at: expect.any(Date),
  });
  expect(await gates.history(id)).toEqual(['enqueued', 'leased', 'started']);
});

test('the first call and the array form of starting agree', async () => {
  const outline = await gates.agree(
    ({ id, token }) => progress(id, token),
    ({ token }) => gates.call('fn_job_start_many', { lease_token: token, upto: 1, actor: 'w1' }),
    false,
  );
  expect(outline).toMatchObject({ status: 'in_progress', attempts: 1 });
});

test('later calls renew the lease and record the signal', async () => {
  const { id, token } = await gates.held();
  const before = (await gates.job(id)).leased_until;
  await gates.db.clock.advance('10s');
  await progress(id, token, 'half way');
  expect((await gates.job(id)).leased_until.getTime()).toBeGreaterThan(before.getTime());
  expect(await gates.history(id)).toEqual(['enqueued', 'leased', 'started', 'progress']);
});

test('renewing again and again keeps the length of the lease: it does not grow with the age of the job', async () => {
  const { id, token } = await gates.held({ ttl: 30 });
  for (let i = 0; i < 4; i++) {
    await gates.db.clock.advance('20s');
    await progress(id, token);
  }
  const [row] = await gates.db.query(
    'select extract(epoch from leased_until - writ.now())::float as left from writ_data.job_lease',
  );
  expect(row?.left).toBeLessThanOrEqual(30);
});

test('a request to cancel is answered', async () => {
  const { id, token } = await gates.held();
  await gates.call('fn_job_cancel', { job_id: id, reason: 'r', actor: 'ada' });
  expect(await progress(id, token)).toMatchObject({ cancel_requested: true });
});

test('a committed execution may still renew', async () => {
  const { id, token } = await gates.held();
  await gates.call('fn_job_commit', { job_id: id, lease_token: token });
  expect(await progress(id, token)).toMatchObject({ status: 'in_progress' });
});

test('a token that does not hold the job: lease_lost', async () => {
  const { id } = await gates.held();
  await gates.refuses('lease_lost', gate, {
    job_id: id,
    status_signal_only: null,
    lease_token: stranger,
    actor: 'w1',
  });
  await gates.refuses('lease_lost', gate, {
    job_id: null,
    status_signal_only: null,
    lease_token: null,
    actor: null,
  });
});

test('an execution that has ended in a lease that lives on: job_terminal', async () => {
  await gates.register();
  const first = await gates.enqueue();
  await gates.enqueue();
  const { token } = await gates.claim({ limit: 2, start: 2 });
  await gates.call('fn_job_succeed', {
    job_id: first,
    lease_token: token,
    result_ref: null,
    actor: 'w1',
  });
  await gates.refuses('job_terminal', gate, {
    job_id: first,
    status_signal_only: null,
    lease_token: token,
    actor: 'w1',
  });
});

test('a job past its timeout: lease_lost, and its lease runs out', async () => {
  const { id, token } = await gates.held({ definition: { timeout_s: 60 } });
  await gates.db.clock.advance('61s');
  await gates.refuses('lease_lost', gate, {
    job_id: id,
    status_signal_only: 'still here',
    lease_token: token,
    actor: 'w1',
  });
});

test('a signal of more than 200 bytes is data: payload_too_large', async () => {
  const { id, token } = await gates.held();
  const long = { job_id: id, status_signal_only: 'x'.repeat(201), lease_token: token, actor: 'w1' };
  await gates.refuses('payload_too_large', gate, long);
});
