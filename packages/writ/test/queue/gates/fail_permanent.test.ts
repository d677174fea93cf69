import { expect, test } from 'vitest';
import { type Row, rolledBackGates, stranger } from './harness.js';

const gates = rolledBackGates();
const gate = 'fn_job_fail_permanent';
const failure = {
  error_code: 'card_declined',
  error_message: 'The card was declined.',
  actor: 'w1',
};
const fail = (id: string, token: string, rest: Row = {}) =>
  gates.call(gate, { job_id: id, lease_token: token, ...failure, ...rest });

test('a permanent failure is a dead letter at once', async () => {
  const { id, token } = await gates.held();
  expect(await fail(id, token)).toEqual({ job_id: id, status: 'dead_letter' });
  expect(await gates.job(id)).toMatchObject({
    status: 'dead_letter',
    attempts: 1,
    last_error_code: 'card_declined',
  });
  expect(await gates.executions(id)).toMatchObject([
    { status: 'ABORTED', abort_kind: 'permanent', final: true },
  ]);
  expect(await gates.history(id)).toEqual([
    'enqueued',
    'leased',
    'started',
    'failed',
    'dead_letter',
  ]);
});

test('a job that was leased and not started can fail too', async () => {
  const { id, token } = await gates.held({ started: false });
  expect(await fail(id, token)).toEqual({ job_id: id, status: 'dead_letter' });
});

test('after a request to cancel, a failure ends the job as cancelled', async () => {
  const { id, token } = await gates.held();
  await gates.call('fn_job_cancel', { job_id: id, reason: 'r', actor: 'a' });
  expect(await fail(id, token)).toEqual({ job_id: id, status: 'cancelled' });
  expect(await gates.history(id)).toEqual([
    'enqueued',
    'leased',
    'started',
    'cancel_requested',
    'cancelled',
  ]);
});

test('a dead letter is not claimed again', async () => {
  const { id, token } = await gates.held();
  await fail(id, token);
  await gates.db.clock.advance('30d');
  await gates.call('fn_job_tick', { actor: 'test' });
  expect((await gates.claim()).ids).toEqual([]);
});

test('the array form and the single form agree', async () => {
  const { error_code, error_message, actor } = failure;
  const array = {
    positions: [1],
    abort_kinds: ['permanent'],
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
