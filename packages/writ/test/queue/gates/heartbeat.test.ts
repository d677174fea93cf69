import { expect, test } from 'vitest';
import { rolledBackGates } from './harness.js';

const gates = rolledBackGates();
const gate = 'fn_queue_heartbeat';
const beat = {
  executor_id: 'w1',
  executor_kind: 'external_worker',
  domain_scope: ['dot'],
  cadence_seconds: 10,
};

test('a beat is answered with the clock of the database and shown as fresh', async () => {
  expect(await gates.call(gate, beat)).toEqual({ at: expect.any(String), alone: [] });
  expect(
    await gates.db.query(
      'select executor_id, executor_kind, domain_scope, freshness from writ.v_queue_heartbeat',
    ),
  ).toEqual([
    {
      executor_id: 'w1',
      executor_kind: 'external_worker',
      domain_scope: ['dot'],
      freshness: 'fresh',
    },
  ]);
});

test('silence is shown as warning after the threshold, as stale after twice that', async () => {
  await gates.call(gate, beat);
  const freshness = async () =>
    (await gates.db.query('select freshness from writ.v_queue_heartbeat'))[0]?.freshness;
  await gates.db.clock.advance('301s');
  expect(await freshness()).toBe('warning');
  await gates.db.clock.advance('300s');
  expect(await freshness()).toBe('stale');
  await gates.call(gate, beat);
  expect(await freshness()).toBe('fresh');
});

test('a silent worker is reported once, and again after it was heard in between', async () => {
  await gates.call(gate, beat);
  const reports = () =>
    gates.db.query(
      `select event_subject_ref, event_domain, event_stream from writ.event_outbox where event_type = 'system.queue_worker_silent'`,
    );
  await gates.db.clock.advance('601s');
  await gates.call('fn_job_tick', { actor: 'test' });
  await gates.call('fn_job_tick', { actor: 'test' });
  expect(await reports()).toEqual([
    { event_subject_ref: 'w1', event_domain: 'system', event_stream: 'alert' },
  ]);
  await gates.call(gate, beat);
  await gates.db.clock.advance('601s');
  await gates.call('fn_job_tick', { actor: 'test' });
  expect(await reports()).toHaveLength(2);
});

test('a worker that was killed is forgotten a day after it was reported silent', async () => {
  const known = async () =>
    (await gates.db.query('select executor_id from writ.v_queue_heartbeat')).map(
      (row) => row.executor_id,
    );
  await gates.call(gate, beat);
  await gates.db.clock.advance('601s');
  await gates.call('fn_job_tick', { actor: 'test' });
  await gates.db.clock.advance('23h');
  await gates.call('fn_job_tick', { actor: 'test' });
  expect(await known()).toEqual(['w1']);
  await gates.db.clock.advance('2h');
  await gates.call('fn_job_tick', { actor: 'test' });
  expect(await known()).toEqual([]);
});

test('a worker that leaves is gone, not silent', async () => {
  await gates.call(gate, beat);
  expect(await gates.call('fn_queue_worker_leave', { executor_id: 'w1' })).toEqual({ left: true });
  await gates.db.clock.advance('601s');
  await gates.call('fn_job_tick', { actor: 'test' });
  expect(await gates.db.query('select from writ.event_outbox')).toHaveLength(0);
});

test('leaving twice, or never having been there, changes nothing', async () => {
  expect(
    await gates.unchanged(() => gates.call('fn_queue_worker_leave', { executor_id: 'nobody' })),
  ).toEqual({ left: false });
  expect(
    await gates.unchanged(() => gates.call('fn_queue_worker_leave', { executor_id: null })),
  ).toEqual({ left: false });
});

test('who is not on the list of executors: executor_forbidden', async () => {
  for (const executor_kind of ['MOT', 'external_Worker', '', null])
    await gates.refuses('executor_forbidden', gate, { ...beat, executor_kind });
});

test('a beat without a name is turned away, and nothing changed', async () => {
  const answer = await gates.unchanged(() =>
    gates.call(gate, { ...beat, executor_id: null }).catch((error: unknown) => error),
  );
  expect(answer).toMatchObject({ reason: 'actor_required' });
});
