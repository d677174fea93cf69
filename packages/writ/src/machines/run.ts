import type { Machine } from './machine.js';

export const runStates = [
  'PENDING',
  'APPROVED',
  'RUNNING',
  'PAUSED',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
] as const;
export type RunState = (typeof runStates)[number];

/** What moves a run is what its log says, by the same names. */
export const runMoves = [
  'RunApproved',
  'RunQueued',
  'RunStarted',
  'RunPaused',
  'RunResumed',
  'RunCompleted',
  'RunFailed',
  'RunCancelled',
] as const;
export type RunMove = (typeof runMoves)[number];

/**
 * One execution of a plan. The status is the reduction of the run's log; the stored one is written
 * with the event that moves it.
 */
export const run: Machine<RunState, RunMove> = {
  name: 'run',
  source: 'specification 004 §1.2 and §1.5, design §6',
  states: runStates,
  events: runMoves,
  terminal: ['COMPLETED', 'FAILED', 'CANCELLED'],
  transitions: [
    { from: '', event: 'RunApproved', to: 'APPROVED' },
    { from: '', event: 'RunQueued', to: 'PENDING' },
    { from: '', event: 'RunStarted', to: 'RUNNING' },
    { from: 'PENDING', event: 'RunApproved', to: 'APPROVED' },
    { from: 'PENDING', event: 'RunQueued', to: 'PENDING', when: 'it waits for its turn' },
    { from: 'APPROVED', event: 'RunQueued', to: 'APPROVED', when: 'it waits for its turn' },
    { from: 'PENDING', event: 'RunStarted', to: 'RUNNING' },
    { from: 'APPROVED', event: 'RunStarted', to: 'RUNNING' },
    {
      from: 'RUNNING',
      event: 'RunPaused',
      to: 'PAUSED',
      when: 'steps that run go on to their end',
    },
    { from: 'PAUSED', event: 'RunResumed', to: 'RUNNING' },
    { from: 'RUNNING', event: 'RunCompleted', to: 'COMPLETED' },
    { from: 'RUNNING', event: 'RunFailed', to: 'FAILED', when: 'what was done is undone' },
    { from: 'PAUSED', event: 'RunFailed', to: 'FAILED' },
    { from: 'PENDING', event: 'RunCancelled', to: 'CANCELLED' },
    { from: 'APPROVED', event: 'RunCancelled', to: 'CANCELLED' },
    { from: 'RUNNING', event: 'RunCancelled', to: 'CANCELLED', when: 'what was done is undone' },
    { from: 'PAUSED', event: 'RunCancelled', to: 'CANCELLED' },
  ],
  stored: { table: 'writ_data.run', column: 'status', states: runStates, layer: 'runs' },
};
