import type { Machine } from './machine.js';

export const executionStates = ['LEASED', 'IN_PROGRESS', 'COMMITTED', 'DONE', 'ABORTED'] as const;
export type ExecutionState = (typeof executionStates)[number];

export const executionEvents = ['claim', 'start', 'commit', 'succeed', 'abort', 'reap'] as const;
export type ExecutionEvent = (typeof executionEvents)[number];

/** One attempt at a job. COMMITTED is the only point of effect. */
export const execution: Machine<ExecutionState, ExecutionEvent> = {
  name: 'execution',
  source: 'specification 003, execution level transitions',
  states: executionStates,
  events: executionEvents,
  terminal: ['DONE', 'ABORTED'],
  transitions: [
    { from: '', event: 'claim', to: 'LEASED' },
    { from: 'LEASED', event: 'start', to: 'IN_PROGRESS' },
    { from: 'IN_PROGRESS', event: 'commit', to: 'COMMITTED' },
    {
      from: 'IN_PROGRESS',
      event: 'succeed',
      to: 'DONE',
      when: 'commits first, in the same transaction',
    },
    { from: 'COMMITTED', event: 'succeed', to: 'DONE' },
    { from: 'LEASED', event: 'abort', to: 'ABORTED' },
    { from: 'IN_PROGRESS', event: 'abort', to: 'ABORTED' },
    { from: 'LEASED', event: 'reap', to: 'ABORTED' },
    { from: 'IN_PROGRESS', event: 'reap', to: 'ABORTED' },
    { from: 'COMMITTED', event: 'reap', to: 'DONE' },
  ],
  stored: {
    table: 'writ_data.job_execution',
    column: 'status',
    states: ['COMMITTED', 'DONE', 'ABORTED'],
    layer: 'queue',
  },
};
