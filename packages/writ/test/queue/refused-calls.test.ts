/** Whoever is refused is on record: which gate, which actor, which login, and why. */
import { describe, expect, test } from 'vitest';
import { uuidv7 } from '../../src/database/uuid.js';
import { type Row, rolledBackGates, stranger } from './gates/harness.js';

const gates = rolledBackGates();
const refusals = () =>
  gates.db.query(
    `select command, actor, jobs, note, login = session_user as mine from writ.command_run where note like 'refused: %' order by run_id`,
  );
const lease = { lease_token: stranger };
const schedule = { schedule: 's', actor: 'eve' };
const subscription = { executor_id: 'w', job_kind: 'none', event_domain: null, actor: 'eve' };

const calls: [command: string, gate: string, parameters: Row, reason: string][] = [
  ['fn_job_enqueue', 'fn_job_enqueue_many', { jobs: '{}', actor: 'eve' }, 'invalid_jobs'],
  [
    'fn_job_enqueue',
    'fn_job_enqueue_many',
    { jobs: JSON.stringify([{ id: uuidv7(), kind: 'none' }]), actor: 'eve' },
    '1 unknown_job_kind',
  ],
  [
    'fn_job_enqueue',
    'fn_job_enqueue_alike',
    { kind: 'none', ids: [uuidv7(), uuidv7()], inputs: null, actor: 'eve' },
    '2 unknown_job_kind',
  ],
  [
    'fn_mot_graph_emit',
    'fn_mot_graph_emit',
    { workflow: {}, jobs: '[]', actor: 'eve' },
    'invalid_workflow',
  ],
  [
    'fn_job_cancel',
    'fn_job_cancel',
    { job_id: stranger, reason: 'r', actor: 'eve' },
    'job_not_found',
  ],
  [
    'fn_job_dead_letter_replay',
    'fn_job_dead_letter_replay',
    { job_id: stranger, triage: 't', actor: 'eve' },
    'dead_letter_not_found',
  ],
  [
    'fn_job_kind_register',
    'fn_job_kind_register',
    { kind: 'writ.mine', definition: {}, actor: 'eve' },
    'reserved_job_kind',
  ],
  [
    'fn_setting_set',
    'fn_setting_set',
    { key: 'none', value: '1', actor: 'eve' },
    'unknown_setting',
  ],
  [
    'fn_tenant_weight_set',
    'fn_tenant_weight_set',
    { tenant_id: 'acme', weight: 0, actor: 'eve' },
    'invalid_weight',
  ],
  [
    'fn_consumer_remove',
    'fn_consumer_remove',
    { consumer: 'none', actor: 'eve' },
    'consumer_not_found',
  ],
  [
    'fn_job_subscription_put',
    'fn_job_subscription_put',
    { ...subscription, priority_floor: 0 },
    'unknown_job_kind',
  ],
  [
    'fn_job_subscription_remove',
    'fn_job_subscription_remove',
    subscription,
    'subscription_not_found',
  ],
  ['fn_schedule_remove', 'fn_schedule_remove', schedule, 'schedule_not_found'],
  ['fn_schedule_pause', 'fn_schedule_pause', schedule, 'schedule_not_found'],
  ['fn_schedule_run_now', 'fn_schedule_run_now', schedule, 'schedule_not_found'],
  [
    'fn_job_progress',
    'fn_job_progress',
    { ...lease, job_id: stranger, status_signal_only: null, actor: 'eve' },
    'lease_lost',
  ],
  ['fn_job_progress', 'fn_job_start_many', { ...lease, upto: 1, actor: 'eve' }, 'lease_lost'],
  [
    'fn_job_succeed',
    'fn_job_succeed',
    { ...lease, job_id: stranger, result_ref: null, actor: 'eve' },
    'lease_lost',
  ],
  [
    'fn_job_succeed',
    'fn_job_succeed_many',
    { ...lease, positions: [1], actor: 'eve' },
    'lease_lost',
  ],
  [
    'fn_job_fail',
    'fn_job_abort_many',
    {
      ...lease,
      positions: [1],
      abort_kinds: ['transient'],
      codes: ['c'],
      messages: ['m'],
      actor: 'eve',
    },
    'lease_lost',
  ],
  [
    'fn_job_fail',
    'fn_job_fail_permanent',
    { ...lease, job_id: stranger, error_code: 'c', error_message: 'm', actor: 'eve' },
    'lease_lost',
  ],
  ['fn_job_release', 'fn_job_release', { ...lease, job_id: stranger, actor: 'eve' }, 'lease_lost'],
  ['fn_lease_release', 'fn_lease_release', { ...lease, actor: 'eve' }, 'lease_lost'],
];

test.each(calls)('records that %s was refused by %s', async (command, gate, parameters, reason) => {
  await gates.call(gate, parameters);
  expect(await refusals()).toEqual([
    {
      command,
      actor: 'eve',
      jobs: 0,
      note: expect.stringMatching(new RegExp(`^refused: ${reason}(: |$)`)),
      mine: true,
    },
  ]);
});

describe('the record of a refusal', () => {
  test('names the login when the call names no actor', async () => {
    await gates.call('fn_job_cancel', { job_id: stranger, reason: 'r', actor: ' ' });
    const [row] = await gates.db.query(
      `select actor = session_user as login, note from writ.command_run`,
    );
    expect(row).toEqual({ login: true, note: 'refused: actor_required' });
  });

  test('counts the refused items of a call by reason, without what they contain', async () => {
    await gates.register();
    const jobs = [{ priority: 'hunter2' }, { kind: 'none' }, { kind: 'none' }, {}].map((job) => ({
      id: uuidv7(),
      kind: 'chore',
      ...job,
    }));
    expect(await gates.enqueueMany(jobs, { actor: 'eve' })).toMatchObject({ enqueued: 1 });
    expect(await refusals()).toMatchObject([
      { note: 'refused: 1 invalid_job, 2 unknown_job_kind' },
    ]);
  });

  test('says which results of a report were refused', async () => {
    const { token } = await gates.held();
    await gates.call('fn_job_succeed_many', { lease_token: token, positions: [1, 2], actor: 'w1' });
    expect(await refusals()).toMatchObject([
      { command: 'fn_job_succeed', note: 'refused: 1 lease_lost' },
    ]);
  });

  test('is missing while the queue is switched off: that is on record already', async () => {
    await gates.set('queue.job_substrate.enabled', false);
    await gates.enqueueMany([{ id: uuidv7(), kind: 'chore' }]);
    expect(await refusals()).toEqual([]);
  });
});
