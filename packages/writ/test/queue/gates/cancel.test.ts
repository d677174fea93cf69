import { expect, test } from 'vitest';
import { rolledBackGates, stranger } from './harness.js';

const gates = rolledBackGates();
const gate = 'fn_job_cancel';
const cancel = (id: string) => gates.call(gate, { job_id: id, reason: 'not needed', actor: 'ada' });

test('a queued job is cancelled at once, with a final execution although it never ran', async () => {
  await gates.register();
  const id = await gates.enqueue();
  expect(await cancel(id)).toEqual({ job_id: id, status: 'cancelled' });
  expect(await gates.job(id)).toMatchObject({
    status: 'cancelled',
    attempts: 0,
    last_error_code: 'cancelled',
    last_error: 'not needed',
  });
  expect(await gates.executions(id)).toMatchObject([
    { execution_no: 1, attempt: 0, status: 'ABORTED', abort_kind: 'cancelled', final: true },
  ]);
  expect(await gates.history(id)).toEqual(['enqueued', 'cancelled']);
  expect((await gates.claim()).ids).toEqual([]);
});

test('a delayed job is cancelled at once', async () => {
  await gates.register();
  const id = await gates.enqueue({ delay_ms: 60_000 });
  expect(await cancel(id)).toEqual({ job_id: id, status: 'cancelled' });
});

test('a job that waits for its retry is cancelled at once, under the number of the execution it will not have', async () => {
  const { id, token } = await gates.held();
  await gates.call('fn_job_fail_transient', {
    job_id: id,
    lease_token: token,
    error_code: 'e',
    error_message: 'm',
    actor: 'w1',
  });
  expect(await cancel(id)).toEqual({ job_id: id, status: 'cancelled' });
  expect((await gates.executions(id)).map((e) => [e.execution_no, e.abort_kind, e.final])).toEqual([
    [1, 'transient', false],
    [2, 'cancelled', true],
  ]);
});

test.each([true, false])(
  'a job that a worker holds (started: %s) is asked to stop',
  async (started) => {
    const { id, token } = await gates.held({ started });
    expect(await cancel(id)).toEqual({ job_id: id, status: 'cancel_requested' });
    expect(await gates.job(id)).toMatchObject({
      status: started ? 'in_progress' : 'leased',
      cancel_requested_at: expect.any(Date),
    });
    expect((await gates.history(id)).at(-1)).toBe('cancel_requested');
    expect(
      await gates.call('fn_job_renew_many', { lease_tokens: [token], lease_ttl_seconds: 30 }),
    ).toMatchObject({ cancel: [id] });
  },
);

test('a second request changes nothing and answers the same', async () => {
  const { id } = await gates.held();
  await cancel(id);
  expect(await gates.unchanged(() => cancel(id))).toEqual({
    job_id: id,
    status: 'cancel_requested',
  });
});

test('a job that succeeds in spite of the request has succeeded', async () => {
  const { id, token } = await gates.held();
  await cancel(id);
  await gates.call('fn_job_succeed', {
    job_id: id,
    lease_token: token,
    result_ref: null,
    actor: 'w1',
  });
  expect(await gates.statusOf(id)).toBe('succeeded');
});

test('a key stays taken by the cancelled job', async () => {
  await gates.register();
  const id = await gates.enqueue({ key: 'k' });
  await cancel(id);
  const other = await gates.call('fn_job_enqueue', {
    kind: 'chore',
    idempotency_key: 'k',
    executor: null,
    source_ref: null,
    target_ref: null,
    payload_ref: null,
    safe_payload: null,
    priority: null,
    process_after: null,
    deadline_at: null,
    correlation_id: null,
    causation_event_id: null,
    actor: 'test',
  });
  expect(other).toMatchObject({ job_id: id, duplicate: true });
});

test('who does not say who it is: actor_required', async () => {
  await gates.register();
  const id = await gates.enqueue();
  for (const actor of [null, '', '  '])
    await gates.refuses('actor_required', gate, { job_id: id, reason: 'r', actor });
});

test('a job that is not there: job_not_found', async () => {
  await gates.refuses('job_not_found', gate, { job_id: stranger, reason: 'r', actor: 'ada' });
  await gates.refuses('job_not_found', gate, { job_id: null, reason: null, actor: 'ada' });
});

test("another tenant's job: job_not_found", async () => {
  await gates.register();
  const id = await gates.enqueue({ tenant: 'acme' });
  await gates.refuses('job_not_found', gate, {
    job_id: id,
    reason: 'r',
    actor: 'ada',
    tenant_id: 'globex',
  });
});

test('an effect that stands: committed_cannot_cancel', async () => {
  const { id, token } = await gates.held();
  await gates.call('fn_job_commit', { job_id: id, lease_token: token });
  await gates.refuses('committed_cannot_cancel', gate, { job_id: id, reason: 'r', actor: 'ada' });
});

test('a job that has ended, however it ended: job_terminal', async () => {
  const { id: succeeded, token } = await gates.held();
  await gates.call('fn_job_succeed', {
    job_id: succeeded,
    lease_token: token,
    result_ref: null,
    actor: 'w1',
  });
  const { id: dead, token: other } = await gates.held();
  await gates.call('fn_job_fail_permanent', {
    job_id: dead,
    lease_token: other,
    error_code: 'e',
    error_message: 'm',
    actor: 'w1',
  });
  const cancelled = await gates.enqueue();
  await cancel(cancelled);
  for (const id of [succeeded, dead, cancelled])
    await gates.refuses('job_terminal', gate, { job_id: id, reason: 'r', actor: 'ada' });
  await gates.db.clock.advance('90d');
  await gates.call('fn_job_cleanup_sweep');
  expect(await gates.statusOf(succeeded)).toBe('cleaned');
  await gates.refuses('job_terminal', gate, { job_id: succeeded, reason: 'r', actor: 'ada' });
});
