import { artifacts } from './artifacts.js';
import { buses } from './buses.js';
import type { Entry } from './entry.js';
import { evidence } from './evidence.js';
import { governance } from './governance.js';
import { governor } from './governor.js';
import { installation } from './installation.js';
import { ledger } from './ledger.js';
import { policies } from './policies.js';
import { receipts } from './receipts.js';
import { runs } from './runs.js';
import { secrets } from './secrets.js';
import { service } from './service.js';
import { spool } from './spool.js';
import { surroundings } from './surroundings.js';

/**
 * Every code that Writ answers with, in one place: what happened, what to do about it, the HTTP
 * status a server would give it, and whether the same call can succeed later without being changed.
 * docs/reference/errors.md is generated from this.
 */
export const registry = {
  // The queue is not open.
  job_substrate_disabled: {
    message: 'The queue is switched off in this database.',
    remedy:
      'Turn it on: `await writ.migrate({ enable: true })`, or the setting queue.job_substrate.enabled.',
    status: 503,
    retryable: true,
  },
  replay_disabled: {
    message: 'Replaying dead letters is switched off.',
    remedy: 'Turn it on with the setting queue.dlq.replay_enabled.',
    status: 503,
    retryable: true,
  },

  // The job cannot be taken as it is.
  unknown_job_kind: {
    message: 'Nobody has registered this kind of job.',
    remedy: 'Define it with defineJob, or call writ.fn_job_kind_register first.',
    status: 400,
    retryable: false,
  },
  reserved_job_kind: {
    message: 'Kinds of jobs that begin with governance., governor. or writ. are reserved for Writ.',
    remedy:
      'Choose a kind that begins otherwise. Only the gates of governance and governors make and finish jobs of reserved kinds.',
    status: 403,
    retryable: false,
  },
  reserved_idempotency_key: {
    message:
      'Idempotency keys that begin with schedule: or consumer: are reserved for schedules and consumers.',
    remedy: 'Choose a key that begins otherwise.',
    status: 403,
    retryable: false,
  },
  invalid_job_kind: {
    message: 'This is not a name for a kind of job.',
    remedy: 'Use 1 to 200 letters, digits and _ . : / - beginning with a letter or digit.',
    status: 400,
    retryable: false,
  },
  unknown_executor: {
    message: 'This executor is not on the list.',
    remedy: 'Leave it out: the kind carries it. docs/reference/names.md lists the names.',
    status: 400,
    retryable: false,
  },
  invalid_traceparent: {
    message: 'This is no place in a trace.',
    remedy:
      'Give the traceparent of W3C Trace Context, version 00, with its 55 characters, or none.',
    status: 400,
    retryable: false,
  },
  executor_mismatch: {
    message: 'The kind of this job belongs to another executor.',
    remedy: 'Leave the executor out: the kind carries it.',
    status: 400,
    retryable: false,
  },
  executor_forbidden: {
    message: 'This executor may not claim these jobs.',
    remedy: 'Claim with the executor that the kind was registered with.',
    status: 403,
    retryable: false,
  },
  invalid_limit_key: {
    message: 'This is not a limit key.',
    remedy: 'Use 1 to 200 bytes of text, or leave it out.',
    status: 400,
    retryable: false,
  },
  invalid_weight: {
    message: 'This is not a weight.',
    remedy: 'Use a number from 0.01 to 100; 1 is the weight of every tenant that has none.',
    status: 400,
    retryable: false,
  },
  invalid_job_id: {
    message: 'The supplied job id is missing, taken, or not a UUIDv7 of about now.',
    remedy: 'Let the client make the id.',
    status: 400,
    retryable: false,
  },
  invalid_job: {
    message: 'A value of the job has the wrong type, or is out of range.',
    remedy: 'See the detail.',
    status: 400,
    retryable: false,
  },
  invalid_job_definition: {
    message: 'The definition of this kind of job cannot be used.',
    remedy: 'See the detail: attempts are at least 1, times are not negative.',
    status: 400,
    retryable: false,
  },
  invalid_result: {
    message: 'The result of the job is not JSON.',
    remedy: 'Return what JSON can hold.',
    status: 400,
    retryable: false,
  },
  invalid_jobs: {
    message: 'The jobs are not an array.',
    remedy: 'Pass an array of jobs.',
    status: 400,
    retryable: false,
  },
  invalid_actor: {
    message: 'The name of the actor is longer than 200 characters.',
    remedy: 'Name the person or process that acts in at most 200 characters.',
    status: 400,
    retryable: false,
  },
  invalid_tenant: {
    message: 'The tenant is empty or longer than 200 characters.',
    remedy: 'Name the tenant, or leave it out for the default one.',
    status: 400,
    retryable: false,
  },
  invalid_idempotency_key: {
    message: 'The key is empty or longer than 1000 bytes.',
    remedy: 'Use a short natural key, such as the id of the order.',
    status: 400,
    retryable: false,
  },
  invalid_input: {
    message: 'The input does not fit the schema of this kind of job.',
    remedy: 'See the details: each names the place and what is wrong there.',
    status: 400,
    retryable: false,
  },
  invalid_text: {
    message:
      'A text contains a NUL character or half of a surrogate pair, which JSON in a database cannot hold.',
    remedy: 'Clean the text, or send binary data by reference.',
    status: 400,
    retryable: false,
  },
  invalid_safe_payload: {
    message: 'safe_payload is not an object.',
    remedy: 'Pass an object of labels.',
    status: 400,
    retryable: false,
  },
  forbidden_payload_key: {
    message: 'safe_payload carries a key that may not be in metadata.',
    remedy: 'What the job works on is its input; safe_payload holds labels only.',
    status: 400,
    retryable: false,
  },
  payload_too_large: {
    message: 'The input, result or metadata is larger than the limit.',
    remedy: 'Store it elsewhere and pass a reference, or raise the setting that the detail names.',
    status: 413,
    retryable: false,
  },
  invalid_payload_ref: {
    message: 'A job has an input or a payload_ref, not both.',
    remedy: 'Leave one of them out.',
    status: 400,
    retryable: false,
  },
  invalid_payload_classification: {
    message: 'The payload classification is neither safe_metadata nor restricted.',
    remedy: 'Leave it out, or use one of the two.',
    status: 400,
    retryable: false,
  },
  invalid_max_attempts: {
    message: 'A job needs at least one attempt.',
    remedy: 'Use 1 or more.',
    status: 400,
    retryable: false,
  },
  invalid_duration: {
    message: 'This is not a duration.',
    remedy: "Use milliseconds as a number, or a text such as '500ms', '30s', '5m', '2h', '7d'.",
    status: 400,
    retryable: false,
  },
  unknown_workflow: {
    message: 'This tenant has no such workflow.',
    remedy: 'Create the workflow before its jobs.',
    status: 400,
    retryable: false,
  },
  unknown_parent_job: {
    message: 'This tenant has no job with the id that is given as the parent.',
    remedy:
      'Enqueue the parent first, in a call of its own. A job that is past its retention is no parent.',
    status: 400,
    retryable: false,
  },
  tenant_forbidden: {
    message: 'This transaction is bound to another tenant.',
    remedy: 'Set writ.tenant to the tenant of the job, or leave it unset.',
    status: 403,
    retryable: false,
  },
  once_conflict: {
    message: 'Another call has used this key of `once`.',
    remedy: 'Send the first call again as it was, or give this one a key of its own.',
    status: 422,
    retryable: false,
  },
  invalid_once: {
    message: 'This call cannot be made once under this key.',
    remedy: 'Give a key of 1 to 255 characters. The detail says what is wrong.',
    status: 400,
    retryable: false,
  },
  actor_required: {
    message: 'The call does not say who makes it.',
    remedy: 'Name the actor.',
    status: 400,
    retryable: false,
  },

  invalid_workflow: {
    message: 'This workflow cannot be emitted as it is.',
    remedy: 'Give it a kind, a generator and, if you fix its id, a UUIDv7 of its own.',
    status: 400,
    retryable: false,
  },
  workflow_job_exists: {
    message: 'A job of the workflow has the key of a job that is there already, outside of it.',
    remedy:
      'Give the job a key of its own, or the workflow a key, if this is the same workflow again.',
    status: 409,
    retryable: false,
  },
  generator_forbidden: {
    message: 'A generator makes jobs and never works on them.',
    remedy: 'Give the worker a name that is not that of a generator.',
    status: 403,
    retryable: false,
  },

  // The job is not yours, or no longer.
  lease_lost: {
    message: 'This lease token does not hold the job.',
    remedy: 'Stop working on it: another worker has it, or will have.',
    status: 409,
    retryable: false,
  },
  already_committed: {
    message: 'An effect of this job stands already.',
    remedy: 'Do nothing and finish.',
    status: 409,
    retryable: false,
  },
  job_not_started: {
    message: 'The job is leased, not in progress.',
    remedy: 'Start it with fn_job_progress, then commit or succeed.',
    status: 409,
    retryable: false,
  },
  committed_cannot_fail: {
    message: 'The effect stands; the job can only succeed.',
    remedy: 'Finish it.',
    status: 409,
    retryable: false,
  },
  committed_cannot_release: {
    message: 'The effect stands; the job can only succeed.',
    remedy: 'Finish it.',
    status: 409,
    retryable: false,
  },
  committed_cannot_cancel: {
    message: 'The effect stands; it is too late to cancel.',
    remedy: 'Undo it with a job of its own.',
    status: 409,
    retryable: false,
  },
  invalid_heartbeat: {
    message:
      'In this heartbeat a number is out of range, or the kinds, domains or details are null.',
    remedy:
      'Send a cadence of 1 to 86,400 seconds and an idle time of 0 to 3,600 seconds. Send empty kinds, domains and details instead of null.',
    status: 400,
    retryable: false,
  },
  batch_too_large: {
    message: 'This call has more items than one call may have.',
    remedy: 'Split the call. The detail says how many items are allowed.',
    status: 400,
    retryable: false,
  },
  invalid_abort_kind: {
    message: 'A job fails as transient or permanent, or is released.',
    remedy: 'Use one of the three.',
    status: 400,
    retryable: false,
  },

  invalid_cursor: {
    message: 'The cursor is not one that a page of this list has answered.',
    remedy: 'Send the `next` of the page before, unchanged, or none for the first page.',
    status: 400,
    retryable: false,
  },

  // The job is not there, or not in a state for this.
  job_not_found: {
    message: 'This tenant has no such job.',
    remedy: 'Check the id and the tenant. The view writ.job_queue lists the jobs.',
    status: 404,
    retryable: false,
  },
  job_not_finished: {
    message: 'The job has not ended in time.',
    remedy: 'Wait longer, or look at where it stands (`writ.jobs.get`).',
    status: 504,
    retryable: true,
  },
  job_terminal: {
    message: 'The job has ended.',
    remedy: 'Nothing changes it any more. Enqueue a new one, or propose a new change.',
    status: 409,
    retryable: false,
  },
  job_busy: {
    message: 'The job kept moving while it was looked for.',
    remedy: 'Try again.',
    status: 409,
    retryable: true,
  },
  dead_letter_not_found: {
    message: 'There is no open dead letter with this id.',
    remedy:
      'Check the id. Dead letters are the jobs of the view writ.job_queue with the status dead_letter.',
    status: 404,
    retryable: false,
  },
  triage_required: {
    message: 'A requeue needs a reason.',
    remedy: 'Say why it will work now.',
    status: 400,
    retryable: false,
  },
  illegal_transition: {
    message: 'The database refused a change of state that no rule allows.',
    remedy: 'State changes go through the gates of schema writ.',
    status: 409,
    retryable: false,
  },

  // What a handler can end with.
  effect_rolled_back: {
    message:
      'The effect was rolled back: one of its statements failed and the error was swallowed, or it ended the transaction itself.',
    remedy:
      'Let errors of statements in commit() reach it, and leave BEGIN, COMMIT and ROLLBACK to it.',
    status: 500,
    retryable: true,
  },
  effect_committed_itself: {
    message:
      'The effect ended the transaction of commit() with a COMMIT of its own. It stands, and the job counts as done.',
    remedy:
      'Leave BEGIN, COMMIT and ROLLBACK to commit(): statements after your own COMMIT are not part of the effect.',
    status: 500,
    retryable: false,
  },
  kind_handled_twice: {
    message: 'Two handlers are given for one kind of job.',
    remedy: 'Give each kind one handler; a kind that does two things is two kinds.',
    status: 400,
    retryable: false,
  },
  kind_conflict: {
    message:
      'This kind of job is defined in different ways, and each definition takes back what the other says.',
    remedy:
      'Define the kind once in a program, and run one version of the program. `writ.command_run` has each change and who made it; then clear the alert KIND_CONFLICT.',
    status: 409,
    retryable: false,
  },
  transaction_ended: {
    message: 'A statement was sent to the transaction of a commit whose effect had ended.',
    remedy: 'Await every statement before the function given to commit() returns; it was not run.',
    status: 500,
    retryable: false,
  },
  failed_after_commit: {
    message: 'The handler failed after its commit. The effect stands, and the job counts as done.',
    remedy: 'Do what may fail before commit(), or in a job of its own.',
    status: 500,
    retryable: false,
  },
  timeout: {
    message: 'The handler ran past its timeout.',
    remedy: 'Make it faster, or raise `timeout`.',
    status: 504,
    retryable: true,
  },
  deadline_exceeded: {
    message: 'The deadline of the job passed.',
    remedy: 'Enqueue it with a later deadline.',
    status: 504,
    retryable: false,
  },
  cancelled: {
    message: 'The job was cancelled.',
    remedy: 'Nothing to do.',
    status: 409,
    retryable: false,
  },
  lease_expired: {
    message: 'The worker stopped renewing its lease.',
    remedy: 'See why it died; the job is retried.',
    status: 500,
    retryable: true,
  },
  poison: {
    message: 'The worker died each time it worked on this job, too often to be chance.',
    remedy: 'See what it does to its process; then requeue it, or raise queue.poison.crashes.',
    status: 500,
    retryable: false,
  },
  handler_error: {
    message: 'The handler threw an error.',
    remedy: 'See its message.',
    status: 500,
    retryable: true,
  },
  no_handler: {
    message: 'This worker has no handler for the kind.',
    remedy: 'Add the handler to writ.work([...]).',
    status: 500,
    retryable: true,
  },
  ...surroundings,
  ...receipts,
  ...installation,
  ...evidence,
  ...ledger,
  ...governance,
  ...policies,
  ...governor,
  ...runs,
  ...buses,
  ...secrets,
  ...artifacts,
  ...service,
  ...spool,
} as const satisfies Record<string, Entry>;

export type ErrorCode = keyof typeof registry;

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(registry, code);
}
