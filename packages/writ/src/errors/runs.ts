import type { Entry } from './entry.js';

/** Codes of runs and their plans, spelt as the specification does. Part of the registry. */
export const runs = {
  // Plans.
  INVALID_STEP_SCHEMA: {
    message: 'The plan cannot be run as it is.',
    remedy: 'See the detail: it names the step and what is wrong with it.',
    status: 400,
    retryable: false,
  },
  PLAN_SECRET_INSIDE: {
    message: 'The plan carries something that looks like a secret.',
    remedy:
      'Write { "$secret": "name" } in its place: the worker looks it up when the step begins.',
    status: 400,
    retryable: false,
  },
  PLAN_INTEGRITY_VALIDATION_FAILED: {
    message: 'The plan is not the one that its reference names.',
    remedy:
      'See the detail; take plan and reference from the same place, and change a plan only together with its version.',
    status: 409,
    retryable: false,
  },
  PLAN_URI_NOT_ALLOWED: {
    message: 'Plans are not taken from there.',
    remedy: 'Use a reference that begins with writ:plan/, or one of the places that are allowed.',
    status: 403,
    retryable: false,
  },
  // The log of a run.
  ARTIFACT_BODY_NOT_ALLOWED: {
    message: 'An event of a run carries more than references.',
    remedy:
      'Store the content elsewhere, and name it by { uri, kind, sha256, sizeBytes, expiresAt }.',
    status: 400,
    retryable: false,
  },
  PROJECTOR_GAP_DETECTED: {
    message: 'Events are missing in the log of the run.',
    remedy:
      'Read the log again from the last event that was seen; if the gap stays, the log is damaged.',
    status: 503,
    retryable: true,
  },
  PLAN_VERSION_EXISTS: {
    message: 'This version of the plan is registered with another content.',
    remedy: 'Give the changed plan a new version: runs keep the one that they were started with.',
    status: 409,
    retryable: false,
  },
  PLAN_NOT_FOUND: {
    message: 'No such plan is registered here.',
    remedy:
      'Register it first: `writ.runs.register(plan)`, or start a run of it from code that defines it.',
    status: 404,
    retryable: false,
  },
  // Runs.
  INVALID_RUN_ID: {
    message: 'The run id is not one.',
    remedy: 'Leave it out, or give a UUIDv7 made within the last hour.',
    status: 400,
    retryable: false,
  },
  RUN_NOT_FOUND: {
    message: 'There is no such run.',
    remedy: 'Check the id and the tenant; a run past its retention is gone.',
    status: 404,
    retryable: false,
  },
  alert_not_found: {
    message: 'There is no such alert.',
    remedy: 'Check the id: `writ.alerts.list` shows the alerts that stand.',
    status: 404,
    retryable: false,
  },
  TENANT_ACCESS_DENIED: {
    message: 'The run belongs to another tenant.',
    remedy: 'Start it for the tenant that this transaction is set to.',
    status: 403,
    retryable: false,
  },
  CAPABILITIES_NOT_SUPPORTED: {
    message: 'The engine of the run cannot do this.',
    remedy: 'See the detail; a foreign engine takes its own commands.',
    status: 422,
    retryable: false,
  },
  EVENT_OUT_OF_ORDER: {
    message: 'The event cannot have happened at this point of the run.',
    remedy: 'See the detail. Read the log, and append what comes next.',
    status: 409,
    retryable: false,
  },
  WRITE_BUDGET_EXCEEDED: {
    message: 'The database has not answered within the write budget.',
    remedy:
      'Whether it was written is not known. Make the same call again: what has been written is found, and not written twice.',
    status: 504,
    retryable: true,
  },
  run_not_finished: {
    message: 'The run has not ended in time.',
    remedy: 'Wait longer, or look at what it waits for (`writ.runs.detail`).',
    status: 504,
    retryable: true,
  },
  step_of_run: {
    message: 'The job is a step of a run.',
    remedy: 'Signal the run instead (`writ.runs.signal`): CANCEL, SKIP_STEP or RETRY_STEP.',
    status: 409,
    retryable: false,
  },
  TENANT_OVERLOADED: {
    message: 'The tenant has as many runs as it may have at once.',
    remedy: 'Try again after the time in the detail; `writ.runs.admissions` shows the rule.',
    status: 429,
    retryable: true,
  },
  not_the_projector: {
    message: 'Another projector has the turn.',
    remedy: 'Ask for what has changed again.',
    status: 409,
    retryable: true,
  },
  // Signals.
  SIGNAL_INVALID_PAYLOAD: {
    message: 'The signal is not one that a run can take.',
    remedy: 'See the detail.',
    status: 400,
    retryable: false,
  },
  SIGNAL_DUPLICATE: {
    message: 'Another signal has this signalId.',
    remedy: 'Make a new id for a new signal; repeat the same signal with the same id.',
    status: 409,
    retryable: false,
  },
  SIGNAL_NOT_APPLICABLE: {
    message: 'The run is not in a state in which this signal means anything.',
    remedy: 'Look at the run first (`writ.runs.detail`).',
    status: 409,
    retryable: false,
  },
  OUTBOX_RATE_LIMIT_EXCEEDED: {
    message: 'The run has been sent too many signals.',
    remedy: 'Wait a minute; what sends them may be in a loop.',
    status: 429,
    retryable: true,
  },
  not_the_engine: {
    message: 'This login is not allowed to append to the log of this run.',
    remedy:
      'Use the login that started the run, or a login with writ_engine that is bound to the tenant of the run.',
    status: 403,
    retryable: false,
  },
  AUTHZ_DENIED: {
    message: 'You may not send this signal to this run.',
    remedy: 'Ask somebody who may. The attempt is in the log of the run.',
    status: 403,
    retryable: false,
  },
  AUTHZ_REASON_REQUIRED: {
    message: 'This signal needs a reason.',
    remedy: 'Say why, for those who read it in a year.',
    status: 400,
    retryable: false,
  },
  AUTHZ_TENANT_FORBIDDEN: {
    message: 'The run belongs to a tenant that you may not act for.',
    remedy: 'Ask somebody of that tenant. The attempt is in the log of the run.',
    status: 403,
    retryable: false,
  },
  RUN_TERMINAL: {
    message: 'The run has ended, or is ending.',
    remedy: 'Nothing was changed. A run that failed can be started again: RETRY_RUN.',
    status: 409,
    retryable: false,
  },
  RUN_NOT_TERMINAL: {
    message: 'The run has not ended.',
    remedy:
      'Cancel it first, or wait: RETRY_RUN starts a run again that has failed or was cancelled.',
    status: 409,
    retryable: false,
  },
  STEP_NOT_TERMINAL: {
    message: 'The step has not ended.',
    remedy: 'Wait for it, or cancel the run.',
    status: 409,
    retryable: true,
  },
  STEP_TERMINAL: {
    message: 'The step has ended.',
    remedy: 'Nothing was changed.',
    status: 409,
    retryable: false,
  },
} as const satisfies Record<string, Entry>;
