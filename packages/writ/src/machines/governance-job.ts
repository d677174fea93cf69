import type { Machine } from './machine.js';

export const governanceJobStates = [
  'PENDING',
  'RUNNING',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
  'AUDIT_PENDING',
  'ROLLBACK_PENDING',
  'ROLLED_BACK',
  'ROLLBACK_FAILED',
] as const;
export type GovernanceJobState = (typeof governanceJobStates)[number];

const moves = [
  'contract_activated',
  'rollback_created',
  'run_started',
  'cancel',
  'window_elapsed',
  'deployment_renewed',
  'step_completed',
  'run_completed',
  'step_failed',
  'health_block',
  'scope_violation',
  'pre_value_conflict',
  'duration_exceeded',
  'emergency_stop',
  'verdict_pass',
  'verdict_inconclusive',
  'verdict_fail',
  'rollback_needed',
  'nothing_to_undo',
  'rollback_failed',
  'rollback_completed',
] as const;
export type GovernanceJobMove = (typeof moves)[number];

const failures = [
  'step_failed',
  'health_block',
  'scope_violation',
  'pre_value_conflict',
  'duration_exceeded',
  'emergency_stop',
] as const satisfies GovernanceJobMove[];

/**
 * The execution of one contract, or its undoing. At rest, COMPLETED means audited with PASS: a run
 * that has completed leads through it to AUDIT_PENDING in one transaction, with a row of history
 * for each.
 */
export const governanceJob: Machine<GovernanceJobState, GovernanceJobMove> = {
  name: 'governance-job',
  source: 'specification 000, governor §6',
  states: governanceJobStates,
  events: moves,
  terminal: ['CANCELLED', 'ROLLED_BACK', 'ROLLBACK_FAILED', 'COMPLETED'],
  transitions: [
    { from: '', event: 'contract_activated', to: 'PENDING' },
    { from: '', event: 'rollback_created', to: 'PENDING' },
    { from: 'PENDING', event: 'run_started', to: 'RUNNING' },
    { from: 'PENDING', event: 'cancel', to: 'CANCELLED', when: 'it is no rollback' },
    { from: 'PENDING', event: 'window_elapsed', to: 'CANCELLED', when: 'it is no rollback' },
    ...failures.map((event) => ({ from: 'PENDING', event, to: 'FAILED' }) as const),
    ...(['PENDING', 'RUNNING', 'AUDIT_PENDING', 'ROLLBACK_PENDING'] as const).map(
      (from) =>
        ({
          from,
          event: 'deployment_renewed',
          to: 'CANCELLED',
          when: 'the database is a copy; nothing is undone',
        }) as const,
    ),
    { from: 'RUNNING', event: 'step_completed', to: 'RUNNING' },
    {
      from: 'RUNNING',
      event: 'run_completed',
      to: 'AUDIT_PENDING',
      when: 'every step is done; through COMPLETED',
    },
    ...failures.map((event) => ({ from: 'RUNNING', event, to: 'FAILED' }) as const),
    { from: 'AUDIT_PENDING', event: 'verdict_pass', to: 'COMPLETED' },
    {
      from: 'AUDIT_PENDING',
      event: 'verdict_inconclusive',
      to: 'AUDIT_PENDING',
      when: 'once more, then a person decides',
    },
    { from: 'AUDIT_PENDING', event: 'verdict_fail', to: 'FAILED' },
    {
      from: 'FAILED',
      event: 'rollback_needed',
      to: 'ROLLBACK_PENDING',
      when: 'it is no rollback, and there is something to undo',
    },
    { from: 'FAILED', event: 'nothing_to_undo', to: 'ROLLED_BACK', when: 'it is no rollback' },
    { from: 'FAILED', event: 'rollback_failed', to: 'ROLLBACK_FAILED', when: 'it is a rollback' },
    {
      from: 'ROLLBACK_PENDING',
      event: 'rollback_completed',
      to: 'ROLLED_BACK',
      when: 'the state is what it was',
    },
    { from: 'ROLLBACK_PENDING', event: 'rollback_failed', to: 'ROLLBACK_FAILED' },
  ],
  stored: {
    table: 'writ_data.governance_job',
    column: 'status',
    states: governanceJobStates,
    layer: 'governance',
  },
};
