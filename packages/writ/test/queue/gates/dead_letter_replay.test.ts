import { expect, test } from 'vitest';
import { type Row, rolledBackGates, stranger } from './harness.js';

const gates = rolledBackGates();
const gate = 'fn_job_dead_letter_replay';

async function deadLetter(job: Row = {}): Promise<string> {
  const { id, token } = await gates.held({ job });
  await gates.call('fn_job_fail_permanent', {
    job_id: id,
    lease_token: token,
    error_code: 'e',
    error_message: 'm',
    actor: 'w1',
  });
  return id;
}
const replay = (id: string) =>
  gates.call(gate, { job_id: id, triage: 'the account is open again', actor: 'ada' });

test('a replay is a new job with no attempts charged, whose parent is the dead one', async () => {
  const dead = await deadLetter({ input: { order: 1 }, priority: 3 });
  const answer = await replay(dead);
  expect(answer).toEqual({ job_id: expect.any(String), replayed: dead });
  expect(await gates.job(answer.job_id)).toMatchObject({
    status: 'queued',
    attempts: 0,
    parent_job_id: dead,
    priority: 3,
    enqueued_by: 'ada',
  });
  expect((await gates.job(answer.job_id)).payload_ref).toBe((await gates.job(dead)).payload_ref);
  expect(await gates.history(answer.job_id)).toEqual(['enqueued']);
});

test('the dead one is cleaned, and remembers that it failed', async () => {
  const dead = await deadLetter();
  await replay(dead);
  expect(await gates.statusOf(dead)).toBe('cleaned');
  expect((await gates.history(dead)).at(-1)).toBe('cleaned');
  expect(
    await gates.db.query('select state from writ.v_job_state where job_id = $1', [dead]),
  ).toEqual([{ state: 'FAILED' }]);
});

test('the key stands for the new job from then on', async () => {
  const dead = await deadLetter({ key: 'order-1' });
  const { job_id } = await replay(dead);
  expect(
    await gates.enqueueMany([
      {
        id: (await gates.db.query('select writ_data.uuidv7() as id'))[0]?.id,
        kind: 'chore',
        key: 'order-1',
      },
    ]),
  ).toMatchObject({
    enqueued: 0,
    duplicates: [{ job_id }],
  });
  expect(await gates.job(job_id)).toMatchObject({ idempotency_key: 'order-1' });
});

test('without a key of its own, every replay answers to the id of the first job', async () => {
  const first = await deadLetter();
  const second = (await replay(first)).job_id;
  const { token } = await gates.claim({ start: 1 });
  await gates.call('fn_job_fail_permanent', {
    job_id: second,
    lease_token: token,
    error_code: 'e',
    error_message: 'm',
    actor: 'w1',
  });
  const third = (await replay(second)).job_id;
  expect([
    (await gates.job(second)).idempotency_key,
    (await gates.job(third)).idempotency_key,
  ]).toEqual([first, first]);
});

test('a deadline that killed the first does not kill the replay', async () => {
  const dead = await deadLetter({ deadline_ms: 60_000 });
  await gates.db.clock.advance('1h');
  const { job_id } = await replay(dead);
  expect((await gates.claim()).ids).toEqual([job_id]);
});

test('a second replay of the same dead letter: dead_letter_not_found', async () => {
  const dead = await deadLetter();
  await replay(dead);
  await gates.refuses('dead_letter_not_found', gate, { job_id: dead, triage: 't', actor: 'ada' });
});

test('jobs that are not dead letters: dead_letter_not_found', async () => {
  const { id: held } = await gates.held();
  const queued = await gates.enqueue();
  const cancelled = await gates.enqueue();
  await gates.call('fn_job_cancel', { job_id: cancelled, reason: 'r', actor: 'ada' });
  for (const id of [held, queued, cancelled, stranger, null]) {
    await gates.refuses('dead_letter_not_found', gate, { job_id: id, triage: 't', actor: 'ada' });
  }
});

test("another tenant's dead letter: dead_letter_not_found", async () => {
  const dead = await deadLetter({ tenant: 'acme' });
  await gates.refuses('dead_letter_not_found', gate, {
    job_id: dead,
    triage: 't',
    actor: 'ada',
    tenant_id: 'globex',
  });
});

test('without a look at the failure: triage_required', async () => {
  const dead = await deadLetter();
  for (const triage of [null, '', '  \t '])
    await gates.refuses('triage_required', gate, { job_id: dead, triage, actor: 'ada' });
});

test('without an actor: actor_required', async () => {
  const dead = await deadLetter();
  for (const actor of [null, '', ' '])
    await gates.refuses('actor_required', gate, { job_id: dead, triage: 't', actor });
});

test('with replays switched off: replay_disabled', async () => {
  const dead = await deadLetter();
  await gates.set('queue.dlq.replay_enabled', false);
  await gates.refuses('replay_disabled', gate, { job_id: dead, triage: 't', actor: 'ada' });
});

test('with the queue switched off: job_substrate_disabled', async () => {
  const dead = await deadLetter();
  await gates.set('queue.job_substrate.enabled', false);
  await gates.refuses('job_substrate_disabled', gate, { job_id: dead, triage: 't', actor: 'ada' });
});
