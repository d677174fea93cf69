import { expect, test } from 'vitest';
import { rolledBackGates } from './harness.js';

const gates = rolledBackGates();
const gate = 'fn_job_queue_health';

test('an empty queue is described by zeros', async () => {
  expect(await gates.unchanged(() => gates.call(gate))).toEqual({
    backlog: 0,
    waiting: 0,
    in_progress: 0,
    dead_letter_open: 0,
    oldest_queued_age_s: null,
    lease_active: 0,
    lease_expired: 0,
    workers: 0,
    enabled: true,
  });
});

test('each figure counts what it names', async () => {
  const { id, token } = await gates.held();
  await gates.call('fn_job_fail_permanent', {
    job_id: id,
    lease_token: token,
    error_code: 'e',
    error_message: 'm',
    actor: 'w1',
  });
  await gates.enqueue();
  await gates.enqueue();
  await gates.claim({ limit: 2, start: 1 });
  await gates.enqueue();
  await gates.enqueue({ delay_ms: 3_600_000 });
  await gates.call('fn_queue_heartbeat', {
    executor_id: 'w1',
    executor_kind: 'external_worker',
    domain_scope: ['dot'],
    cadence_seconds: 10,
  });
  await gates.db.clock.advance('5s');
  const health = await gates.call(gate);
  expect(health).toMatchObject({
    backlog: 1,
    waiting: 1,
    in_progress: 2,
    dead_letter_open: 1,
    lease_active: 1,
    workers: 1,
  });
  expect(health.oldest_queued_age_s).toBeGreaterThanOrEqual(5);
});

test('the views of specification 002 §8 agree with it', async () => {
  const { id, token } = await gates.held();
  await gates.call('fn_job_fail_permanent', {
    job_id: id,
    lease_token: token,
    error_code: 'e',
    error_message: 'm',
    actor: 'w1',
  });
  await gates.enqueue();
  await gates.claim();
  await gates.enqueue();
  expect(await gates.db.query('select * from writ.v_job_queue_backlog')).toEqual([
    { job_kind: 'chore', backlog: '1' },
  ]);
  expect(await gates.db.query('select * from writ.v_job_queue_in_progress')).toEqual([
    { job_kind: 'chore', in_progress: '1' },
  ]);
  expect(await gates.db.query('select job_id from writ.v_job_queue_dead_letter_open')).toEqual([
    { job_id: id },
  ]);
  expect(await gates.call(gate)).toMatchObject({ backlog: 1, in_progress: 1, dead_letter_open: 1 });
  const [view] = await gates.db.query(
    'select to_jsonb(h) - $1 as figures from writ.v_queue_health h',
    ['oldest_queued_age_s'],
  );
  const { oldest_queued_age_s: _, ...figures } = await gates.call(gate);
  expect(view?.figures).toEqual(figures);
});

test('a replayed dead letter is no longer open', async () => {
  const { id, token } = await gates.held();
  await gates.call('fn_job_fail_permanent', {
    job_id: id,
    lease_token: token,
    error_code: 'e',
    error_message: 'm',
    actor: 'w1',
  });
  await gates.call('fn_job_dead_letter_replay', { job_id: id, triage: 't', actor: 'ada' });
  expect(await gates.call(gate)).toMatchObject({ dead_letter_open: 0, backlog: 1 });
  expect(await gates.db.query('select from writ.v_job_queue_dead_letter_open')).toHaveLength(0);
});
