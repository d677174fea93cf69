import { expect, test } from 'vitest';
import { rolledBackGates, stranger } from './harness.js';

const gates = rolledBackGates();
const gate = 'fn_job_release';
const release = (id: string, token: string) =>
  gates.call(gate, { job_id: id, lease_token: token, actor: 'w1' });

test('a released job is queued again, with no attempt charged', async () => {
  const { id, token } = await gates.held();
  expect(await release(id, token)).toEqual({ job_id: id, status: 'queued' });
  expect(await gates.job(id)).toMatchObject({ status: 'queued', attempts: 0, lease_holder: null });
  expect(await gates.executions(id)).toMatchObject([
    { status: 'ABORTED', abort_kind: 'released', final: false },
  ]);
  expect(await gates.history(id)).toEqual(['enqueued', 'leased', 'started', 'released']);
});

test('the next execution has the next number and the same attempt', async () => {
  const { id, token } = await gates.held();
  await release(id, token);
  expect((await gates.claim()).ids).toEqual([id]);
  expect((await gates.executions(id)).map((e) => [e.execution_no, e.attempt])).toEqual([
    [1, 0],
    [2, 1],
  ]);
});

test('a job on its last attempt can be released any number of times', async () => {
  await gates.register('chore', { max_attempts: 1 });
  const id = await gates.enqueue();
  for (let i = 0; i < 5; i++) {
    const { token } = await gates.claim({ start: 1 });
    expect(await release(id, token)).toEqual({ job_id: id, status: 'queued' });
  }
});

test('after a request to cancel, a release ends the job as cancelled', async () => {
  const { id, token } = await gates.held();
  await gates.call('fn_job_cancel', { job_id: id, reason: 'r', actor: 'a' });
  expect(await release(id, token)).toEqual({ job_id: id, status: 'cancelled' });
  expect(await gates.executions(id)).toMatchObject([{ abort_kind: 'cancelled', final: true }]);
});

test('the array form and the single form agree', async () => {
  await gates.register();
  const first = await gates.enqueue();
  const one = await gates.claim({ start: 1 });
  const second = await gates.enqueue();
  const other = await gates.claim({ start: 1 });
  await release(first, one.token);
  await gates.call('fn_job_abort_many', {
    lease_token: other.token,
    positions: [1],
    abort_kinds: ['released'],
    codes: null,
    messages: null,
    actor: 'w1',
  });
  expect(await gates.outline(second)).toEqual(await gates.outline(first));
});

test('one array call sorts each job by its own kind of end', async () => {
  await gates.register();
  const ids = [await gates.enqueue(), await gates.enqueue(), await gates.enqueue()];
  const { token } = await gates.claim({ limit: 3, start: 3 });
  const answer = await gates.call('fn_job_abort_many', {
    lease_token: token,
    positions: [1, 2, 3],
    abort_kinds: ['released', 'transient', 'permanent'],
    codes: [null, 'a', 'b'],
    messages: [null, 'ma', 'mb'],
  });
  expect(answer).toMatchObject({
    queued: 1,
    retry_waiting: 1,
    dead_letter: 1,
    cancelled: 0,
    refused: [],
  });
  expect(await Promise.all(ids.map((id) => gates.statusOf(id)))).toEqual([
    'queued',
    'retry_waiting',
    'dead_letter',
  ]);
});

test('a token that does not hold the job: lease_lost', async () => {
  const { id } = await gates.held();
  await gates.refuses('lease_lost', gate, { job_id: id, lease_token: stranger, actor: 'w1' });
  await gates.refuses('lease_lost', gate, { job_id: null, lease_token: null, actor: null });
});

test('an effect that stands cannot be released: committed_cannot_release', async () => {
  const { id, token } = await gates.held();
  await gates.call('fn_job_commit', { job_id: id, lease_token: token });
  await gates.refuses('committed_cannot_release', gate, {
    job_id: id,
    lease_token: token,
    actor: 'w1',
  });
});

test('the array form knows no other kind of end: invalid_abort_kind', async () => {
  const { token } = await gates.held();
  for (const kind of ['cancelled', 'lease_expired', 'DONE', '', null]) {
    const call = {
      lease_token: token,
      positions: [1],
      abort_kinds: [kind],
      codes: null,
      messages: null,
    };
    await gates.refuses('invalid_abort_kind', 'fn_job_abort_many', call);
  }
});

test('the array form refuses when kinds are missing: invalid_abort_kind', async () => {
  await gates.register();
  await gates.enqueue();
  await gates.enqueue();
  const { token } = await gates.claim({ limit: 2, start: 2 });
  for (const kinds of [null, [], ['released']]) {
    const call = {
      lease_token: token,
      positions: [1, 2],
      abort_kinds: kinds,
      codes: null,
      messages: null,
    };
    await gates.refuses('invalid_abort_kind', 'fn_job_abort_many', call);
  }
});

test('places outside the lease: lease_lost', async () => {
  const { token } = await gates.held();
  const positions = [0, -1, 2, 2147483647];
  const call = {
    lease_token: token,
    positions,
    abort_kinds: positions.map(() => 'released'),
    codes: null,
    messages: null,
  };
  await gates.refusesEach('lease_lost', 'fn_job_abort_many', call);
});

test('the same place twice in one call ends the job once', async () => {
  await gates.register();
  const first = await gates.enqueue();
  const second = await gates.enqueue();
  const { token } = await gates.claim({ limit: 2, start: 2 });
  await gates.call('fn_job_abort_many', {
    lease_token: token,
    positions: [1, 1],
    abort_kinds: ['released', 'released'],
    codes: null,
    messages: null,
  });
  expect(await gates.db.query('select job_ids, attempts from writ_data.job_ready')).toEqual([
    { job_ids: [first], attempts: 0 },
  ]);
  expect(await gates.statusOf(second)).toBe('in_progress');
  expect(await gates.db.query('select open_jobs from writ_data.job_lease')).toEqual([
    { open_jobs: 1 },
  ]);
});
