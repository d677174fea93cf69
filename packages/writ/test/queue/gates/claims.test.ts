import { expect, test } from 'vitest';
import { uuidv7 } from '../../../src/database/uuid.js';
import { type Row, rolledBackGates } from './harness.js';

const gates = rolledBackGates();
const claim = { kinds: ['chore'], executor: 'external_worker', lease_holder: 'w1', limit: 1 };
const single = {
  kind: 'chore',
  executor: 'external_worker',
  lease_name: null,
  lease_holder: 'w1',
  lease_ttl_seconds: 30,
};

test('a claim leases the job to its holder and answers what there is to know', async () => {
  await gates.register();
  const id = await gates.enqueue({
    key: 'order-1',
    input: { n: 1 },
    safe_payload: { label: 'x' },
    correlation_id: 'c',
    priority: 2,
  });
  const answer = await gates.call('fn_job_claim', { ...single, lease_name: 'night shift' });
  expect(answer).toMatchObject({
    lease_token: expect.any(String),
    leased_until: expect.any(String),
    jobs: [
      {
        job_id: id,
        job_kind: 'chore',
        tenant_id: 'default',
        idempotency_key: 'order-1',
        attempt: 1,
        execution_no: 1,
        input: { n: 1 },
        safe_payload: { label: 'x' },
        correlation_id: 'c',
        priority: 2,
        max_attempts: 5,
      },
    ],
  });
  expect(await gates.job(id)).toMatchObject({
    status: 'leased',
    attempts: 0,
    lease_holder: 'w1',
    lease_name: 'night shift',
  });
  expect(await gates.executions(id)).toMatchObject([
    { status: 'LEASED', attempt: 1, lease_owner: 'w1' },
  ]);
  expect(await gates.history(id)).toEqual(['enqueued', 'leased']);
});

test('the array form and the single form agree', async () => {
  await gates.register();
  const first = await gates.enqueue();
  const one = await gates.call('fn_job_claim', single);
  const second = await gates.enqueue();
  const other = await gates.call('fn_job_claim_many', { ...claim, lease_ttl_seconds: 30 });
  expect([one.jobs[0].job_id, other.jobs[0][0]]).toEqual([first, second]);
  expect(await gates.outline(second)).toEqual(await gates.outline(first));
});

test('without work a claim answers no jobs and changes nothing', async () => {
  await gates.register();
  expect(await gates.unchanged(() => gates.call('fn_job_claim', single))).toEqual({ jobs: [] });
  expect(await gates.unchanged(() => gates.call('fn_job_claim_many', claim))).toEqual({ jobs: [] });
});

test('a job is claimed once', async () => {
  await gates.register();
  const id = await gates.enqueue();
  expect((await gates.claim({ limit: 10 })).ids).toEqual([id]);
  expect((await gates.claim({ limit: 10 })).ids).toEqual([]);
});

test('higher priority first, then the order of enqueueing', async () => {
  await gates.register();
  const plain = await gates.enqueue();
  const low = await gates.enqueue({ priority: -5 });
  const next = await gates.enqueue();
  const high = await gates.enqueue({ priority: 5 });
  expect((await gates.claim({ limit: 10 })).ids).toEqual([high, plain, next, low]);
});

test('several kinds are visited by their best priority', async () => {
  await gates.register('chore');
  await gates.register('errand');
  const chore = await gates.enqueue({ kind: 'chore' });
  const errand = await gates.enqueue({ kind: 'errand', priority: 9 });
  expect((await gates.claim({ kinds: ['chore', 'errand'], limit: 2 })).ids).toEqual([
    errand,
    chore,
  ]);
});

test('other kinds are left alone', async () => {
  await gates.register('chore');
  await gates.register('errand');
  const id = await gates.enqueue({ kind: 'errand' });
  expect((await gates.claim({ kinds: ['chore'], limit: 10 })).ids).toEqual([]);
  expect(await gates.statusOf(id)).toBe('queued');
});

test('kinds that nobody registered are no work, not an error', async () => {
  await gates.register();
  const id = await gates.enqueue();
  expect((await gates.claim({ kinds: ['unheard', 'chore'], limit: 10 })).ids).toEqual([id]);
  expect(
    await gates.unchanged(() => gates.call('fn_job_claim_many', { ...claim, kinds: ['unheard'] })),
  ).toEqual({ jobs: [] });
});

test('the same kind named twice is claimed once', async () => {
  await gates.register();
  const ids = [await gates.enqueue(), await gates.enqueue()];
  expect((await gates.claim({ kinds: ['chore', 'chore'], limit: 10 })).ids).toEqual(ids);
});

test('jobs that the caller begins at once are started, the others are not', async () => {
  await gates.register();
  const ids = [await gates.enqueue(), await gates.enqueue(), await gates.enqueue()];
  await gates.claim({ limit: 3, start: 2 });
  expect(await Promise.all(ids.map((id) => gates.statusOf(id)))).toEqual([
    'in_progress',
    'in_progress',
    'leased',
  ]);
});

test('a claim goes under the token that its caller fixed before it asked', async () => {
  await gates.register();
  const id = await gates.enqueue();
  const token = uuidv7();
  expect((await gates.claim({ lease_token: token, limit: 5 })).token).toBe(token);
  expect(
    await gates.db.query('select lease_token from writ_data.job_lease where $1 = any (job_ids)', [
      id,
    ]),
  ).toEqual([{ lease_token: token }]);
});

test('a job past its deadline is cancelled instead of handed out', async () => {
  await gates.register();
  const late = await gates.enqueue({ deadline_ms: 1000 });
  const fine = await gates.enqueue();
  await gates.db.clock.advance('2s');
  expect((await gates.claim({ limit: 10 })).ids).toEqual([fine]);
  expect(await gates.job(late)).toMatchObject({
    status: 'cancelled',
    last_error_code: 'deadline_exceeded',
  });
});

test.each([0, -1, null])('a limit of %s is one job', async (limit) => {
  await gates.register();
  const id = await gates.enqueue();
  await gates.enqueue();
  expect((await gates.claim({ limit })).ids).toEqual([id]);
});

test('a huge limit takes what there is', async () => {
  await gates.register();
  const ids = [await gates.enqueue(), await gates.enqueue()];
  expect((await gates.claim({ limit: 2147483647, start: 2147483647 })).ids).toEqual(ids);
  expect(await gates.statusOf(ids[1] as string)).toBe('in_progress');
});

test('start marks below zero are none', async () => {
  await gates.register();
  const id = await gates.enqueue();
  await gates.claim({ start: -7 });
  expect(await gates.statusOf(id)).toBe('leased');
});

test('a lease without a length of its own lasts queue.lease.duration_sec', async () => {
  await gates.register();
  await gates.enqueue();
  await gates.set('queue.lease.duration_sec', 120);
  await gates.claim({ lease_ttl_seconds: null });
  const [row] = await gates.db.query(
    'select extract(epoch from leased_until - claimed_at)::int as s from writ_data.job_lease',
  );
  expect(row).toEqual({ s: 120 });
});

test.each([1e12, Number.MAX_VALUE, 'Infinity'])(
  'a lease of %s seconds does not last for ever',
  async (ttl) => {
    await gates.register();
    await gates.enqueue();
    await gates.claim({ lease_ttl_seconds: ttl }).catch(() => undefined);
    const rows = await gates.db.query(
      `select from writ_data.job_lease where leased_until > writ.now() + interval '7 days'`,
    );
    expect(rows).toHaveLength(0);
  },
);

test('a paused queue hands nothing out and loses nothing', async () => {
  await gates.register();
  const id = await gates.enqueue();
  await gates.set('queue.worker.enabled', false);
  expect(await gates.unchanged(() => gates.call('fn_job_claim_many', claim))).toEqual({
    jobs: [],
    paused: true,
  });
  await gates.set('queue.worker.enabled', true);
  expect((await gates.claim()).ids).toEqual([id]);
});

test('with the queue switched off: job_substrate_disabled', async () => {
  await gates.register();
  await gates.enqueue();
  await gates.set('queue.job_substrate.enabled', false);
  await gates.refuses('job_substrate_disabled', 'fn_job_claim', single);
  await gates.refuses('job_substrate_disabled', 'fn_job_claim_many', claim);
});

test('an executor that is not on the list: executor_forbidden', async () => {
  await gates.register();
  await gates.enqueue();
  for (const executor of ['MOT', 'dot', '', null]) {
    await gates.refuses('executor_forbidden', 'fn_job_claim', { ...single, executor });
    await gates.refuses('executor_forbidden', 'fn_job_claim_many', { ...claim, executor });
  }
});

test("another executor's kind: executor_forbidden", async () => {
  await gates.register('chore', { executor: 'Agent' });
  await gates.enqueue();
  await gates.refuses('executor_forbidden', 'fn_job_claim', single);
});

test('a lease without a holder: actor_required', async () => {
  await gates.register();
  await gates.enqueue();
  for (const lease_holder of [null, '', ' ']) {
    await gates.refuses('actor_required', 'fn_job_claim', { ...single, lease_holder });
    await gates.refuses('actor_required', 'fn_job_claim_many', { ...claim, lease_holder });
  }
});

test.each<Row>([{ kinds: [] }, { kinds: null }, { kinds: [null] }])(
  'no kinds (%j) are no work',
  async (kinds) => {
    await gates.register();
    await gates.enqueue();
    expect(
      await gates.unchanged(() => gates.call('fn_job_claim_many', { ...claim, ...kinds })),
    ).toEqual({ jobs: [] });
  },
);
