import { expect, test } from 'vitest';
import { uuidv7 } from '../../../src/database/uuid.js';
import { type Row, rolledBackGates, stranger } from './harness.js';

const gates = rolledBackGates();
const gate = 'fn_job_enqueue';
const nothing = {
  kind: null,
  idempotency_key: null,
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
  actor: null,
};
const plain: Row = { ...nothing, kind: 'chore', actor: 'test' };

test('a job is queued with what the call says', async () => {
  await gates.register();
  await gates.enqueue();
  const [event] = await gates.db.query('select id from writ.event_outbox');
  const causation = String(event?.id);
  const { job_id, duplicate } = await gates.call(gate, {
    ...plain,
    idempotency_key: 'k',
    executor: 'external_worker',
    source_ref: 'src',
    target_ref: 'tgt',
    payload_ref: 's3://bucket/1',
    safe_payload: { label: 'x' },
    priority: 7,
    correlation_id: 'corr',
    causation_event_id: causation,
    max_attempts: 9,
  });
  expect(duplicate).toBe(false);
  expect(await gates.job(job_id)).toMatchObject({
    status: 'queued',
    tenant_id: 'default',
    job_kind: 'chore',
    idempotency_key: 'k',
    executor: 'external_worker',
    source_ref: 'src',
    target_ref: 'tgt',
    payload_ref: 's3://bucket/1',
    safe_payload: { label: 'x' },
    payload_classification: 'safe_metadata',
    priority: 7,
    correlation_id: 'corr',
    causation_event_id: causation,
    attempts: 0,
    max_attempts: 9,
    enqueued_by: 'test',
    source_system: 'writ',
    event_domain: 'dot',
  });
  expect(await gates.history(job_id)).toEqual(['enqueued']);
});

test('what the call leaves out has defaults', async () => {
  await gates.register();
  const { job_id } = await gates.call(gate, plain);
  expect(await gates.job(job_id)).toMatchObject({
    priority: 0,
    safe_payload: {},
    payload_ref: null,
    idempotency_key: job_id,
    max_attempts: 5,
  });
});

test('the same key again answers the job that is there, and changes nothing', async () => {
  await gates.register();
  const first = await gates.call(gate, { ...plain, idempotency_key: 'k', input: { n: 1 } });
  const again = (input: Row) =>
    gates.unchanged(() => gates.call(gate, { ...plain, idempotency_key: 'k', input }));
  expect(await again({ n: 1 })).toEqual({
    job_id: first.job_id,
    duplicate: true,
    same_payload: true,
  });
  expect(await again({ n: 2 })).toEqual({
    job_id: first.job_id,
    duplicate: true,
    same_payload: false,
  });
});

test('the same key of another kind or tenant is another job', async () => {
  await gates.register('chore');
  await gates.register('errand');
  const answers = [
    await gates.call(gate, { ...plain, idempotency_key: 'k' }),
    await gates.call(gate, { ...plain, idempotency_key: 'k', kind: 'errand' }),
    await gates.call(gate, { ...plain, idempotency_key: 'k', tenant_id: 'acme' }),
  ];
  expect(answers.map((answer) => answer.duplicate)).toEqual([false, false, false]);
});

test('a job for later waits', async () => {
  await gates.register();
  const { job_id } = await gates.call(gate, {
    ...plain,
    process_after: new Date(Date.now() + 60_000),
  });
  expect(await gates.statusOf(job_id)).toBe('queued');
  expect((await gates.claim()).ids).toEqual([]);
});

test('the array form and the single form agree', async () => {
  await gates.register();
  const body = { safe_payload: { a: 1 }, input: { n: 1 }, priority: 3, correlation_id: 'c' };
  const one = await gates.call(gate, { ...plain, ...body, idempotency_key: 'a' });
  const other = await gates.enqueue({ ...body, key: 'b' });
  const comparable = async (id: string) => {
    const { job_id, idempotency_key, process_after, enqueued_at, ...rest } = await gates.job(id);
    return rest;
  };
  expect(await comparable(other)).toEqual(await comparable(one.job_id));
  expect(await gates.outline(other)).toEqual(await gates.outline(one.job_id));
});

test('an input of JSON null is stored as such or left out, but read back as null', async () => {
  await gates.register();
  const { job_id } = await gates.call(gate, { ...plain, input: 'null' });
  const answer = await gates.call('fn_job_claim', {
    kind: 'chore',
    executor: 'external_worker',
    lease_name: null,
    lease_holder: 'w1',
    lease_ttl_seconds: 30,
  });
  expect(answer.jobs).toMatchObject([{ job_id, input: null }]);
});

test('with the queue switched off: job_substrate_disabled', async () => {
  await gates.register();
  await gates.set('queue.job_substrate.enabled', false);
  await gates.refuses('job_substrate_disabled', gate, plain);
  await gates.refuses('job_substrate_disabled', 'fn_job_enqueue_many', {
    jobs: '[]',
    actor: 'test',
  });
});

test('each bad parameter is refused by its own reason', async () => {
  await gates.register();
  await gates.register('agents', { executor: 'Agent' });
  await gates.set('queue.payload.max_bytes', 1000);
  const refusals: [string, Row][] = [
    ['unknown_job_kind', { kind: 'unheard' }],
    ['unknown_job_kind', { kind: null }],
    ['unknown_executor', { executor: 'MOT' }],
    ['unknown_executor', { executor: 'MOT', kind: 'unheard' }],
    ['executor_mismatch', { kind: 'agents', executor: 'external_worker' }],
    ['invalid_tenant', { tenant_id: '' }],
    ['invalid_tenant', { tenant_id: 't'.repeat(201) }],
    ['invalid_idempotency_key', { idempotency_key: '' }],
    ['invalid_idempotency_key', { idempotency_key: 'k'.repeat(1001) }],
    ['payload_too_large', { input: { x: 'x'.repeat(1000) } }],
    ['payload_too_large', { safe_payload: { x: 'x'.repeat(8192) } }],
    ['payload_too_large', { source_ref: 'x'.repeat(8193) }],
    ['invalid_payload_ref', { input: { a: 1 }, payload_ref: 's3://b/1' }],
    ['invalid_safe_payload', { safe_payload: '[1]' }],
    ['invalid_safe_payload', { safe_payload: '"text"' }],
    ['forbidden_payload_key', { safe_payload: { password: 'x' } }],
    ['invalid_max_attempts', { max_attempts: 0 }],
    ['unknown_workflow', { workflow_id: '01890000-0000-7000-8000-000000000001' }],
    ['actor_required', { actor: ' ' }],
  ];
  for (const [reason, change] of refusals)
    await gates.refuses(reason, gate, { ...plain, ...change });
});

test('NULL everywhere is refused', async () => {
  await gates.refuses('actor_required', gate, nothing);
});

test('refuses a parent that its tenant does not have', async () => {
  await gates.register();
  const parent = await gates.enqueue();
  const { job_id } = await gates.call(gate, { ...plain, parent_job_id: parent });
  expect(await gates.job(job_id)).toMatchObject({ parent_job_id: parent });
  await gates.refuses('unknown_parent_job', gate, { ...plain, parent_job_id: stranger });
  await gates.refuses('unknown_parent_job', gate, {
    ...plain,
    parent_job_id: parent,
    tenant_id: 'globex',
  });
});

test('refuses a causation that is no fact', async () => {
  await gates.register();
  const id = uuidv7();
  await gates.enqueueMany([
    { id, kind: 'chore' },
    { id: uuidv7(), kind: 'chore' },
  ]);
  const facts = await gates.db.query('select id from writ.event_outbox order by id');
  expect(facts).toHaveLength(2);
  for (const { id: fact } of facts) {
    expect(await gates.call(gate, { ...plain, causation_event_id: fact })).toMatchObject({
      duplicate: false,
    });
  }
  const next = (ordinal: string) => String(facts[0]?.id).slice(0, -6) + ordinal;
  for (const none of [stranger, id, next('000000'), next('000003')]) {
    await gates.refuses('event_not_found', gate, { ...plain, causation_event_id: none });
  }
});
