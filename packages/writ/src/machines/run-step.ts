import type { Machine } from './machine.js';

export const runStepStates = ['PENDING', 'RUNNING', 'SUCCESS', 'FAILED', 'SKIPPED'] as const;
export type RunStepState = (typeof runStepStates)[number];

export const runStepMoves = ['StepStarted', 'StepCompleted', 'StepFailed', 'StepSkipped'] as const;
export type RunStepMove = (typeof runStepMoves)[number];

/**
 * One step of a run, one item of an `each`, or the undoing of either. Its status is stored nowhere:
 * it is the reduction of the run's log.
 */
export const runStep: Machine<RunStepState, RunStepMove> = {
  name: 'run-step',
  source: 'specification 004 §1.2 and §1.3, design §6',
  states: runStepStates,
  events: runStepMoves,
  terminal: ['SUCCESS', 'SKIPPED'],
  transitions: [
    { from: '', event: 'StepStarted', to: 'RUNNING' },
    { from: '', event: 'StepCompleted', to: 'SUCCESS', when: 'its StepStarted is late' },
    {
      from: '',
      event: 'StepFailed',
      to: 'FAILED',
      when: 'it could not start, or its StepStarted is late',
    },
    { from: '', event: 'StepSkipped', to: 'SKIPPED' },
    { from: 'PENDING', event: 'StepStarted', to: 'RUNNING' },
    { from: 'PENDING', event: 'StepCompleted', to: 'SUCCESS', when: 'its StepStarted is late' },
    {
      from: 'PENDING',
      event: 'StepFailed',
      to: 'FAILED',
      when: 'it could not start, or its StepStarted is late',
    },
    { from: 'PENDING', event: 'StepSkipped', to: 'SKIPPED' },
    { from: 'RUNNING', event: 'StepCompleted', to: 'SUCCESS' },
    { from: 'RUNNING', event: 'StepFailed', to: 'FAILED' },
    {
      from: 'RUNNING',
      event: 'StepSkipped',
      to: 'SKIPPED',
      when: 'a wait whose time ran out, or that nobody needs any more',
    },
    { from: 'FAILED', event: 'StepStarted', to: 'RUNNING', when: 'a higher logical attempt' },
    {
      from: 'FAILED',
      event: 'StepCompleted',
      to: 'SUCCESS',
      when: 'a higher logical attempt, whose StepStarted is late',
    },
    {
      from: 'FAILED',
      event: 'StepFailed',
      to: 'FAILED',
      when: 'a higher logical attempt, whose StepStarted is late',
    },
    { from: 'FAILED', event: 'StepSkipped', to: 'SKIPPED', when: 'an operator goes on without it' },
  ],
};
