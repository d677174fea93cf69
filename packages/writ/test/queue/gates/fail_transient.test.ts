import { expect, test } from 'vitest';
import { type Row, rolledBackGates, stranger } from './harness.js';

const gates = rolledBackGates();
const gate = 'fn_job_fail_transient';
const failure = {
  error_code: 'card_declined',
  error_message: 'The card was declined.',
  actor: 'w1',
};
const fail = (id: string, token: string, rest: Row = {}) =>
  gates.call(gate, { job_id: id, lease_token: token, ...failure, ...rest });

test('a failed attempt with attempts left waits for its retry', async () => {
  const { id, token } = await gates.held();
  expect(await fail(id, token)).toEqual({ job_id: id, status: 'retry_waiting' });
  expect(await gates.job(id)).toMatchObject({
    status: 'retry_waiting',
    attempts: 1,
    last_error: 'The card was declined.',
    last_error_code: 'card_declined',
  });
  expect(await gates.executions(id)).toMatchObject([
    { status: 'ABORTED', abort_kind: 'transient', final: false },
  ]);
  expect(await gates.history(id)).toEqual([
    'enqueued',
    'leased',
    'started',
    'failed',
    'retry_waiting',
  ]);
});

test('the delay is within its ceiling, which doubles with each attempt up to the cap', async () => {
  await gates.register('chore', { backoff_base_s: 10, backoff_cap_s: 25, max_attempts: 5 });
  const id = await gates.enqueue();
  for (const ceiling of [10, 20, 25]) {
    const { token } = await gates.claim({ start: 1 });
    await fail(id, token);
    const [row] = await gates.db.query(
      `select extract(epoch from w.due_at - e.finished_at)::float as delay from writ_data.job_wait w join writ_data.job_execution e using (job_id)
       where job_id = $1 order by e.execution_no desc limit 1`,
      [id],
    );
    expect(row?.delay).toBeGreaterThanOrEqual(0);
    expect(row?.delay).toBeLessThanOrEqual(ceiling);
    await gates.db.clock.advance('30s');
    await gates.call('fn_job_tick', { actor: 'test' });
  }
});

test('the last attempt that fails makes a dead letter', async () => {
  const { id, token } = await gates.held({ definition: { max_attempts: 1 } });
  expect(await fail(id, token)).toEqual({ job_id: id, status: 'dead_letter' });
  expect(await gates.executions(id)).toMatchObject([
    { status: 'ABORTED', abort_kind: 'transient', final: true },
  ]);
  expect(await gates.history(id)).toEqual([
    'enqueued',
    'leased',
    'started',
    'failed',
    'dead_letter',
  ]);
});

test('a deadline that has passed leaves no room for a retry', async () => {
  const { id, token } = await gates.held({ job: { deadline_ms: 1000 } });
  await gates.db.clock.advance('2s');
  expect(await fail(id, token)).toEqual({ job_id: id, status: 'dead_letter' });
});

test('a job that was leased and not started can fail too', async () => {
  const { id, token } = await gates.held({ started: false });
  expect(await fail(id, token)).toEqual({ job_id: id, status: 'retry_waiting' });
});

test('after a request to cancel, a failure ends the job as cancelled', async () => {
  const { id, token } = await gates.held();
  await gates.call('fn_job_cancel', { job_id: id, reason: 'r', actor: 'a' });
  expect(await fail(id, token)).toEqual({ job_id: id, status: 'cancelled' });
  expect(await gates.executions(id)).toMatchObject([{ abort_kind: 'cancelled', final: true }]);
});

test('a dead letter writes no retry, and a retry is claimable when it is due', async () => {
  const { id, token } = await gates.held();
  await fail(id, token);
  expect((await gates.claim().catch(() => ({ ids: [] as string[] }))).ids).toEqual([]);
  await gates.db.clock.advance('1h');
  await gates.call('fn_job_tick', { actor: 'test' });
  expect((await gates.claim()).ids).toEqual([id]);
});

test('long codes and messages are cut, not refused', async () => {
  const { id, token } = await gates.held();
  await fail(id, token, { error_code: 'c'.repeat(5000), error_message: 'm'.repeat(50_000) });
  const job = await gates.job(id);
  expect([job.last_error_code.length, job.last_error.length]).toEqual([200, 4000]);
});

test('the array form and the single form agree', async () => {
  const { error_code, error_message, actor } = failure;
  const array = {
    positions: [1],
    abort_kinds: ['transient'],
    codes: [error_code],
    messages: [error_message],
    actor,
  };
  await gates.agree(
    ({ id, token }) => fail(id, token),
    ({ token }) => gates.call('fn_job_abort_many', { lease_token: token, ...array }),
  );
});

test('a token that does not hold the job: lease_lost', async () => {
  const { id } = await gates.held();
  await gates.refuses('lease_lost', gate, { job_id: id, lease_token: stranger, ...failure });
  await gates.refuses('lease_lost', gate, { job_id: null, lease_token: null, ...failure });
});

test('a lease that was taken back: lease_lost', async () => {
  const { id, token } = await gates.held();
  await gates.db.clock.advance('31s');
  await gates.call('fn_job_lease_reaper');
  await gates.refuses('lease_lost', gate, { job_id: id, lease_token: token, ...failure });
});

test('an execution that has ended in a lease that lives on: lease_lost', async () => {
  await gates.register();
  const first = await gates.enqueue();
  await gates.enqueue();
  const { token } = await gates.claim({ limit: 2, start: 2 });
  await fail(first, token);
  await gates.refuses('lease_lost', gate, { job_id: first, lease_token: token, ...failure });
});

test('an effect that stands cannot fail: committed_cannot_fail', async () => {
  const { id, token } = await gates.held();
  await gates.call('fn_job_commit', { job_id: id, lease_token: token });
  await gates.refuses('committed_cannot_fail', gate, {
    job_id: id,
    lease_token: token,
    ...failure,
  });
});
