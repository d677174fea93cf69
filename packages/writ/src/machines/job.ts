import type { Machine } from './machine.js';

export const jobStates = [
  'queued',
  'leased',
  'in_progress',
  'succeeded',
  'failed',
  'retry_waiting',
  'dead_letter',
  'cancelled',
  'cleaned',
] as const;
export type JobState = (typeof jobStates)[number];

export const jobEvents = [
  'enqueue',
  'claim',
  'progress',
  'commit',
  'succeed',
  'fail_transient',
  'fail_permanent',
  'release',
  'cancel',
  'lease_expired',
  'deadline',
  'due',
  'replay',
  'sweep',
] as const;
export type JobEvent = (typeof jobEvents)[number];

/**
 * A job at rest. `failed` is a fact on the way (the event dot.job.failed) and no job rests in it:
 * the transaction that fails an attempt also moves the job on. The status is stored nowhere; the
 * view writ.job_queue derives it.
 */
export const job: Machine<JobState, JobEvent> = {
  name: 'job',
  source: 'specification 002 §4, design §5',
  states: jobStates,
  events: jobEvents,
  terminal: ['cleaned'],
  transitions: [
    { from: '', event: 'enqueue', to: 'queued' },
    { from: 'queued', event: 'claim', to: 'leased' },
    { from: 'retry_waiting', event: 'due', to: 'queued' },
    { from: 'queued', event: 'due', to: 'queued', when: 'it was enqueued for later' },
    { from: 'leased', event: 'progress', to: 'in_progress' },
    { from: 'in_progress', event: 'progress', to: 'in_progress', when: 'renews the lease' },
    {
      from: 'in_progress',
      event: 'commit',
      to: 'in_progress',
      when: 'the execution becomes COMMITTED',
    },
    { from: 'in_progress', event: 'succeed', to: 'succeeded' },
    { from: 'leased', event: 'fail_transient', to: 'retry_waiting', when: 'attempts left' },
    { from: 'leased', event: 'fail_transient', to: 'dead_letter', when: 'attempts used up' },
    { from: 'leased', event: 'fail_transient', to: 'cancelled', when: 'cancel requested' },
    { from: 'in_progress', event: 'fail_transient', to: 'retry_waiting', when: 'attempts left' },
    { from: 'in_progress', event: 'fail_transient', to: 'dead_letter', when: 'attempts used up' },
    { from: 'in_progress', event: 'fail_transient', to: 'cancelled', when: 'cancel requested' },
    { from: 'leased', event: 'fail_permanent', to: 'dead_letter' },
    { from: 'leased', event: 'fail_permanent', to: 'cancelled', when: 'cancel requested' },
    { from: 'in_progress', event: 'fail_permanent', to: 'dead_letter' },
    { from: 'in_progress', event: 'fail_permanent', to: 'cancelled', when: 'cancel requested' },
    { from: 'leased', event: 'release', to: 'queued' },
    { from: 'leased', event: 'release', to: 'cancelled', when: 'cancel requested' },
    { from: 'in_progress', event: 'release', to: 'queued' },
    { from: 'in_progress', event: 'release', to: 'cancelled', when: 'cancel requested' },
    { from: 'queued', event: 'cancel', to: 'cancelled' },
    { from: 'retry_waiting', event: 'cancel', to: 'cancelled' },
    { from: 'leased', event: 'cancel', to: 'leased', when: 'a request' },
    { from: 'in_progress', event: 'cancel', to: 'in_progress', when: 'a request' },
    {
      from: 'leased',
      event: 'lease_expired',
      to: 'queued',
      when: 'never started: nothing is charged',
    },
    { from: 'leased', event: 'lease_expired', to: 'cancelled', when: 'cancel requested' },
    { from: 'in_progress', event: 'lease_expired', to: 'retry_waiting' },
    {
      from: 'in_progress',
      event: 'lease_expired',
      to: 'dead_letter',
      when: 'its worker died too often',
    },
    { from: 'in_progress', event: 'lease_expired', to: 'succeeded', when: 'committed' },
    { from: 'in_progress', event: 'lease_expired', to: 'cancelled', when: 'cancel requested' },
    { from: 'queued', event: 'deadline', to: 'cancelled' },
    { from: 'retry_waiting', event: 'deadline', to: 'cancelled' },
    { from: 'dead_letter', event: 'replay', to: 'cleaned' },
    { from: 'succeeded', event: 'sweep', to: 'cleaned' },
    { from: 'cancelled', event: 'sweep', to: 'cleaned' },
    { from: 'dead_letter', event: 'sweep', to: 'cleaned', when: 'past a longer retention' },
  ],
};

/** The lifecycle facts of a job, as they are named in writ.event_outbox: dot.job.<name>. */
export const jobFacts = {
  enqueued: 'The job was taken into the queue.',
  leased: 'A worker holds the job.',
  started: 'A worker began the attempt.',
  progress: 'The handler reported how far it is.',
  committed: 'The effect of the job stands.',
  succeeded: 'The job ended with its effect applied once.',
  failed: 'An attempt ended without effect.',
  retry_waiting: 'Another attempt follows after a delay.',
  released: 'The job went back to the queue without an attempt being charged.',
  dead_letter: 'The job failed for good and waits for a person.',
  cancel_requested: 'Somebody asked the worker that holds the job to stop.',
  cancelled: 'The job ended without effect because somebody cancelled it or its deadline passed.',
  cleaned: 'The job left the books: its retention passed, or a replay took its place.',
} as const;
export type JobFact = keyof typeof jobFacts;
