import { expect, test } from 'vitest';
import { type Row, rolledBackGates, stranger } from './harness.js';

const gates = rolledBackGates();
const succeed = (id: string | null, token: string | null, rest: Row = {}) =>
  gates.call('fn_job_succeed', {
    job_id: id,
    lease_token: token,
    result_ref: null,
    actor: 'w1',
    ...rest,
  });

test('a started job succeeds: committed and done in one step', async () => {
  const { id, token } = await gates.held();
  expect(await succeed(id, token)).toEqual({ job_id: id, status: 'succeeded' });
  expect(await gates.statusOf(id)).toBe('succeeded');
  expect(await gates.executions(id)).toMatchObject([
    { status: 'DONE', committed_at: expect.any(Date), finished_at: expect.any(Date) },
  ]);
  expect(await gates.history(id)).toEqual([
    'enqueued',
    'leased',
    'started',
    'committed',
    'succeeded',
  ]);
});

test('a committed job succeeds, and its commit is recorded once', async () => {
  const { id, token } = await gates.held();
  await gates.call('fn_job_commit', { job_id: id, lease_token: token });
  expect(await succeed(id, token)).toEqual({ job_id: id, status: 'succeeded' });
  expect(await gates.history(id)).toEqual([
    'enqueued',
    'leased',
    'started',
    'committed',
    'succeeded',
  ]);
});

test('a result kept elsewhere is shown as result_ref', async () => {
  const { id, token } = await gates.held();
  await succeed(id, token, { result_ref: 's3://results/1' });
  expect(await gates.job(id)).toMatchObject({ result_ref: 's3://results/1' });
});

test('a result given as JSON text is kept, and its reference is the hash of its text', async () => {
  const { id, token } = await gates.held();
  await gates.call('fn_job_succeed_many', {
    lease_token: token,
    positions: [1],
    results: ['{"sum":3}'],
  });
  const { result_ref } = await gates.job(id);
  expect(result_ref).toMatch(/^sha256:[0-9a-f]{64}$/);
  expect(await gates.call('fn_job_payload', { job_id: id })).toEqual({ result: { sum: 3 } });
});

test('results belong to their places, also where some have none', async () => {
  await gates.register();
  const ids = [await gates.enqueue(), await gates.enqueue(), await gates.enqueue()];
  const { token } = await gates.claim({ limit: 3, start: 3 });
  await gates.call('fn_job_succeed_many', {
    lease_token: token,
    positions: [3, 1, 2],
    results: ['{"n":3}', '{"n":1}', null],
  });
  const found = await Promise.all(ids.map((id) => gates.call('fn_job_payload', { job_id: id })));
  expect(found).toEqual([{ result: { n: 1 } }, {}, { result: { n: 3 } }]);
});

test('a lease whose jobs have all ended is gone', async () => {
  const { id, token } = await gates.held();
  await succeed(id, token);
  expect(await gates.db.query('select from writ_data.job_lease')).toHaveLength(0);
});

test('the array form and the single form agree', async () => {
  const outline = await gates.agree(
    ({ id, token }) => succeed(id, token),
    ({ token }) =>
      gates.call('fn_job_succeed_many', { lease_token: token, positions: [1], actor: 'w1' }),
  );
  expect(outline).toMatchObject({ status: 'succeeded', attempts: 1 });
});

test('the array form marks further jobs of its lease as started in the same call', async () => {
  await gates.register();
  const first = await gates.enqueue();
  const second = await gates.enqueue();
  const { token } = await gates.claim({ limit: 2, start: 1 });
  const answer = await gates.call('fn_job_succeed_many', {
    lease_token: token,
    positions: [1],
    start_upto: 2,
  });
  expect(answer).toEqual({ done: 1, started_upto: 2, refused: [] });
  expect([await gates.statusOf(first), await gates.statusOf(second)]).toEqual([
    'succeeded',
    'in_progress',
  ]);
  expect(await gates.history(second)).toEqual(['enqueued', 'leased', 'started']);
});

test('one bad place in an array does not hold up the others', async () => {
  await gates.register();
  const first = await gates.enqueue();
  const second = await gates.enqueue();
  const { token } = await gates.claim({ limit: 2, start: 1 });
  const answer = await gates.call('fn_job_succeed_many', { lease_token: token, positions: [1, 2] });
  expect(answer).toEqual({
    done: 1,
    started_upto: 1,
    refused: [{ position: 2, reason: 'job_not_started' }],
  });
  expect([await gates.statusOf(first), await gates.statusOf(second)]).toEqual([
    'succeeded',
    'leased',
  ]);
});

test('the same place twice in one call is one success', async () => {
  await gates.register();
  const first = await gates.enqueue();
  const second = await gates.enqueue();
  const { token } = await gates.claim({ limit: 2, start: 2 });
  await gates.call('fn_job_succeed_many', { lease_token: token, positions: [1, 1] });
  expect([await gates.statusOf(first), await gates.statusOf(second)]).toEqual([
    'succeeded',
    'in_progress',
  ]);
  expect(await gates.history(first)).toEqual([
    'enqueued',
    'leased',
    'started',
    'committed',
    'succeeded',
  ]);
  expect(await gates.db.query('select open_jobs from writ_data.job_lease')).toEqual([
    { open_jobs: 1 },
  ]);
});

test('a token that does not hold the job: lease_lost', async () => {
  const { id } = await gates.held();
  await gates.refuses('lease_lost', 'fn_job_succeed', {
    job_id: id,
    lease_token: stranger,
    result_ref: null,
    actor: 'w1',
  });
  await gates.refuses('lease_lost', 'fn_job_succeed_many', {
    lease_token: stranger,
    positions: [1],
  });
});

test('a job of another lease: lease_lost', async () => {
  const { id } = await gates.held();
  await gates.enqueue();
  const other = await gates.claim({ start: 1 });
  await gates.refuses('lease_lost', 'fn_job_succeed', {
    job_id: id,
    lease_token: other.token,
    result_ref: null,
    actor: 'w1',
  });
});

test('a lease that was taken back: lease_lost', async () => {
  const { id, token } = await gates.held();
  await gates.db.clock.advance('31s');
  await gates.call('fn_job_lease_reaper');
  await gates.refuses('lease_lost', 'fn_job_succeed', {
    job_id: id,
    lease_token: token,
    result_ref: null,
    actor: 'w1',
  });
});

test('a job that was not started: job_not_started', async () => {
  const { id, token } = await gates.held({ started: false });
  await gates.refuses('job_not_started', 'fn_job_succeed', {
    job_id: id,
    lease_token: token,
    result_ref: null,
    actor: 'w1',
  });
  await gates.refusesEach('job_not_started', 'fn_job_succeed_many', {
    lease_token: token,
    positions: [1],
  });
});

test('a job of the lease that has succeeded already: already_committed', async () => {
  await gates.register();
  const first = await gates.enqueue();
  await gates.enqueue();
  const { token } = await gates.claim({ limit: 2, start: 2 });
  await succeed(first, token);
  await gates.refuses('already_committed', 'fn_job_succeed', {
    job_id: first,
    lease_token: token,
    result_ref: null,
    actor: 'w1',
  });
  await gates.refusesEach('already_committed', 'fn_job_succeed_many', {
    lease_token: token,
    positions: [1],
  });
});

test('a job of the lease that has failed already: lease_lost', async () => {
  await gates.register();
  const first = await gates.enqueue();
  await gates.enqueue();
  const { token } = await gates.claim({ limit: 2, start: 2 });
  await gates.call('fn_job_fail_permanent', {
    job_id: first,
    lease_token: token,
    error_code: 'e',
    error_message: 'm',
    actor: 'w1',
  });
  await gates.refuses('lease_lost', 'fn_job_succeed', {
    job_id: first,
    lease_token: token,
    result_ref: null,
    actor: 'w1',
  });
});

test('places outside the lease: lease_lost', async () => {
  const { token } = await gates.held();
  await gates.refusesEach('lease_lost', 'fn_job_succeed_many', {
    lease_token: token,
    positions: [0, -1, 2, 2147483647],
  });
});

test('nothing named: lease_lost', async () => {
  await gates.held();
  await gates.refuses('lease_lost', 'fn_job_succeed', {
    job_id: null,
    lease_token: null,
    result_ref: null,
    actor: null,
  });
  await gates.refuses('lease_lost', 'fn_job_succeed_many', { lease_token: null, positions: null });
});

test('a call that names no places changes nothing', async () => {
  const { token } = await gates.held();
  for (const positions of [[], null]) {
    expect(
      await gates.unchanged(() =>
        gates.call('fn_job_succeed_many', { lease_token: token, positions }),
      ),
    ).toEqual({
      done: 0,
      started_upto: 1,
      refused: [],
    });
  }
});

test('a result that is not JSON is refused by itself', async () => {
  await gates.register();
  const ids = [await gates.enqueue(), await gates.enqueue(), await gates.enqueue()];
  const { token } = await gates.claim({ limit: 3, start: 3 });
  const results = ['1', '{"half":', '['.repeat(100_000)];
  expect(
    await gates.call('fn_job_succeed_many', { lease_token: token, positions: [1, 2, 3], results }),
  ).toMatchObject({
    done: 1,
    refused: [
      { position: 2, reason: 'invalid_result' },
      { position: 3, reason: 'invalid_result' },
    ],
  });
  expect(await Promise.all(ids.map((id) => gates.statusOf(id)))).toEqual([
    'succeeded',
    'in_progress',
    'in_progress',
  ]);
});

test('a result larger than queue.payload.max_bytes: payload_too_large', async () => {
  const { token } = await gates.held();
  await gates.set('queue.payload.max_bytes', 100);
  await gates.refusesEach('payload_too_large', 'fn_job_succeed_many', {
    lease_token: token,
    positions: [1],
    results: [JSON.stringify('x'.repeat(200))],
  });
});
