-- The queue's tables (specification 002) and executions (specification 003), in the write-once design:
-- a job is a row that never changes; where it stands follows from the one small row that moves (ready,
-- waiting, or a place in a lease) and from the executions that have ended. Nothing here is updated once per job.

create function writ.now() returns timestamptz language sql volatile
  as 'select pg_catalog.clock_timestamp()';
comment on function writ.now() is 'The clock of every gate. writ/testing replaces it; nothing else may.';

-- Settings ---------------------------------------------------------------------------------------------------

create table writ_data.dot_config (
  key         text primary key,
  value       jsonb not null,
  minimum     numeric,
  maximum     numeric,
  whole       boolean not null default false,
  description text not null,
  updated_at  timestamptz not null default clock_timestamp(),
  updated_by  text not null default 'migration',
  constraint number_is_within_bounds check (
    jsonb_typeof(value) <> 'number' or value::numeric between minimum and maximum and (not whole or value::numeric % 1 = 0))
);

insert into writ_data.dot_config (key, value, minimum, maximum, whole, description) values
  ('queue.job_substrate.enabled',             'false',   null, null,       false, 'Jobs may be enqueued and claimed.'),
  ('queue.worker.enabled',                    'true',    null, null,       false, 'Workers receive jobs; false pauses every worker and keeps what is queued.'),
  ('queue.notify.enabled',                    'true',    null, null,       false, 'An enqueue wakes idle workers with NOTIFY; false leaves them to their polling.'),
  ('queue.lease.reaper_enabled',              'true',    null, null,       false, 'Expired leases are taken back.'),
  ('queue.lease.reaper_batch',                '100',     1,    10000,      true,  'Leases that one call of the reaper takes back at most.'),
  ('queue.lease.duration_sec',                '300',     1,    86400,      false, 'Length of a lease when the worker does not ask for another.'),
  ('queue.lease.timeout_sec',                 '900',     1,    604800,     false, 'How long a started job may run before its lease is no longer renewed.'),
  ('queue.poison.crashes',                    '10',      1,    10000,      true,  'Crashes of its worker after which a job is quarantined as a dead letter.'),
  ('queue.retry.max_attempts_default',        '5',       1,    32767,      true,  'Attempts of a job whose kind does not say.'),
  ('queue.retry.backoff_base_sec',            '10',      0,    86400,      false, 'First ceiling of the delay before a retry; it doubles with each attempt.'),
  ('queue.retry.backoff_cap_sec',             '3600',    0,    2592000,    false, 'Highest ceiling of the delay before a retry.'),
  ('queue.payload.max_bytes',                 '1048576', 0,    104857600,  true,  'Largest input or result of a job, as JSON text.'),
  ('queue.safe_payload.max_bytes',            '8192',    0,    1048576,    true,  'Largest safe_payload, as JSON text.'),
  ('queue.dlq.replay_enabled',                'true',    null, null,       false, 'Dead letters may be replayed.'),
  ('queue.heartbeat.stale_threshold_seconds', '300',     1,    86400,      false, 'Silence after which a worker is shown as warning; twice this is stale.'),
  ('queue.retention.finished_sec',            '2592000', 0,    3153600000, false, 'Age at which the sweep cleans succeeded and cancelled jobs.');

-- Vocabulary -------------------------------------------------------------------------------------------------

create table writ_data.event_type_registry (
  event_type     text primary key,
  event_domain   text not null,
  event_stream   text not null,
  event_severity text not null default 'info',
  description    text not null,
  constraint event_domain_is_known check (event_domain in
    ('iu', 'birth_registry', 'governance', 'tac', 'kg', 'system', 'dot', 'health', 'piece')),
  constraint event_stream_is_known check (event_stream in
    ('comment', 'review', 'update', 'birth', 'task', 'alert', 'health')),
  constraint event_severity_is_known check (event_severity in ('info', 'warning', 'critical'))
);

create table writ_data.job_kind (
  job_kind       text primary key,
  event_domain   text not null default 'dot',
  executor       text not null default 'external_worker',
  source_system  text not null default 'writ',
  max_attempts   smallint,
  backoff_base_s double precision,
  backoff_cap_s  double precision,
  timeout_s      double precision,
  registered_by  text not null,
  registered_at  timestamptz not null default clock_timestamp(),
  constraint job_kind_is_a_name check (job_kind ~ '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$'),
  constraint event_domain_is_known check (event_domain in
    ('iu', 'birth_registry', 'governance', 'tac', 'kg', 'system', 'dot', 'health', 'piece')),
  constraint executor_is_whitelisted check (executor in
    ('DOT', 'Agent', 'Hermes', 'Codex', 'PG_worker', 'external_worker', 'future_Kestra_adapter')),
  constraint source_system_is_not_blank check (btrim(source_system) <> ''),
  constraint max_attempts_is_positive check (max_attempts > 0),
  constraint backoff_is_not_negative check (backoff_base_s >= 0 and backoff_cap_s >= 0),
  constraint timeout_is_positive check (timeout_s > 0)
);

-- Jobs -------------------------------------------------------------------------------------------------------

create table writ_data.payload (
  tenant_id  text not null,
  sha256     bytea not null,
  body       text not null,
  created_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, sha256)
);
comment on table writ_data.payload is 'Inputs and results by content. A job carries the hash, never the body.';

create table writ_data.job_workflow (
  workflow_id    uuid primary key,
  tenant_id      text not null,
  workflow_kind  text not null,
  generator      text not null,
  status         text not null default 'active',
  correlation_id text,
  enqueued_by    text not null,
  enqueued_at    timestamptz not null default clock_timestamp(),
  finished_at    timestamptz,
  constraint workflow_status_is_known check (status in
    ('active', 'succeeded', 'failed', 'partially_failed', 'cancelled'))
);

create table writ_data.job (
  job_id                 uuid primary key,
  tenant_id              text not null,
  job_kind               text not null,
  event_domain           text not null,
  idempotency_key        text,
  source_ref             text,
  target_ref             text,
  payload_ref            text,
  payload_sha256         bytea,
  safe_payload           jsonb,
  payload_classification text not null,
  executor               text not null,
  max_attempts           smallint not null,
  priority               smallint not null,
  process_after          timestamptz not null,
  deadline_at            timestamptz,
  correlation_id         text,
  causation_event_id     uuid,
  parent_job_id          uuid,
  workflow_id            uuid,
  enqueued_by            text not null,
  enqueued_at            timestamptz not null,
  source_system          text not null,
  constraint executor_is_whitelisted check (executor in
    ('DOT', 'Agent', 'Hermes', 'Codex', 'PG_worker', 'external_worker', 'future_Kestra_adapter')),
  constraint payload_classification_is_known check (payload_classification in ('safe_metadata', 'restricted')),
  constraint tenant_is_not_blank check (tenant_id <> ''),
  constraint enqueued_by_is_not_blank check (btrim(enqueued_by) <> ''),
  constraint source_system_is_not_blank check (btrim(source_system) <> ''),
  constraint max_attempts_is_positive check (max_attempts > 0),
  constraint input_is_stored_or_referenced check (payload_ref is null or payload_sha256 is null)
);
comment on column writ_data.job.idempotency_key is 'Null: nobody gave one, and the job answers to its own id.';
comment on column writ_data.job.safe_payload is 'Null: empty.';
create index job_by_workflow on writ_data.job (workflow_id) where workflow_id is not null;
create index job_by_correlation on writ_data.job (correlation_id) where correlation_id is not null;
create index job_by_parent on writ_data.job (parent_job_id) where parent_job_id is not null;

create table writ_data.job_key (
  tenant_id       text not null,
  job_kind        text not null,
  idempotency_key text not null,
  job_id          uuid not null,
  primary key (tenant_id, job_kind, idempotency_key)
);
comment on table writ_data.job_key is 'Which job a key stands for, for as long as the job is retained.';

-- Where a job stands -----------------------------------------------------------------------------------------

create sequence writ_data.job_ready_seq;
create table writ_data.job_ready (
  job_kind     text not null,
  tenant_id    text not null,
  priority     smallint not null,
  seq          bigint not null,
  job_id       uuid not null,
  attempts     smallint not null,
  execution_no smallint not null,
  deadline_at  timestamptz
);
comment on table writ_data.job_ready is 'What can be claimed now. A claim deletes the row and writes a lease.';
create index job_ready_claim on writ_data.job_ready (job_kind, priority desc, seq);
create index job_ready_by_job on writ_data.job_ready (job_id);
create index job_ready_by_deadline on writ_data.job_ready (deadline_at) where deadline_at is not null;

create table writ_data.job_wait (
  due_at       timestamptz not null,
  job_kind     text not null,
  tenant_id    text not null,
  priority     smallint not null,
  job_id       uuid primary key,
  attempts     smallint not null,
  execution_no smallint not null,
  deadline_at  timestamptz,
  reason       text not null,
  constraint wait_reason_is_known check (reason in ('delay', 'retry'))
);
comment on table writ_data.job_wait is 'What can be claimed later: delayed jobs and retries, promoted when due.';
create index job_wait_by_due on writ_data.job_wait (due_at);
create index job_wait_by_deadline on writ_data.job_wait (deadline_at) where deadline_at is not null;

create table writ_data.job_lease (
  lease_token   uuid primary key,
  lease_name    text,
  holder        text not null,
  claimed_at    timestamptz not null,
  leased_until  timestamptz not null,
  ttl_s         double precision not null,
  timeout_s     double precision not null,
  job_ids       uuid[] not null,
  attempts      smallint[] not null,
  execution_nos smallint[] not null,
  start_upto    integer[] not null default '{}',
  start_at      timestamptz[] not null default '{}',
  open_jobs     integer not null,
  ended_early   integer not null default 0,
  constraint lease_arrays_are_parallel check (
    cardinality(attempts) = cardinality(job_ids) and cardinality(execution_nos) = cardinality(job_ids)),
  constraint start_marks_are_parallel check (cardinality(start_upto) = cardinality(start_at)),
  constraint open_jobs_are_of_the_lease check (open_jobs between 0 and cardinality(job_ids)),
  constraint holder_is_not_blank check (btrim(holder) <> '')
);
comment on column writ_data.job_lease.ended_early is 'Jobs that ended without having been started; a later start mark passes over them.';
comment on table writ_data.job_lease is
  'One row per claimed batch. Jobs 1..n are LEASED; those up to the last element of start_upto are IN_PROGRESS since the time beside it.';
-- Random ids do not compress: keep the arrays as they are, and out of the row when the leased_until in it moves.
alter table writ_data.job_lease alter job_ids set storage external;
create index job_lease_by_expiry on writ_data.job_lease (leased_until);

create table writ_data.job_execution (
  job_id        uuid not null,
  execution_no  smallint not null,
  attempt       smallint not null,
  lease_token   uuid,
  lease_owner   text,
  status        text not null,
  abort_kind    text,
  final         boolean not null default false,
  started_at    timestamptz,
  committed_at  timestamptz,
  finished_at   timestamptz,
  result_sha256 bytea,
  result_ref    text,
  error_code    text,
  error_message text,
  primary key (job_id, execution_no),
  constraint execution_status_is_stored check (status in ('COMMITTED', 'DONE', 'ABORTED')),
  constraint abort_kind_matches_status check ((abort_kind is not null) = (status = 'ABORTED')),
  constraint abort_kind_is_known check (abort_kind in
    ('transient', 'permanent', 'lease_expired', 'released', 'cancelled')),
  constraint committed_at_matches_status check ((committed_at is not null) = (status in ('COMMITTED', 'DONE'))),
  constraint finished_at_matches_status check ((finished_at is not null) = (status in ('DONE', 'ABORTED'))),
  constraint final_means_aborted check (not final or status = 'ABORTED')
);
comment on table writ_data.job_execution is
  'Executions that have reached their commit boundary or ended. Open ones are places in job_lease. Attempt 0: ended without ever being tried.';
create unique index a_job_has_one_effect_or_one_end on writ_data.job_execution (job_id)
  where status in ('COMMITTED', 'DONE') or final;
create index job_execution_dead_letter on writ_data.job_execution (finished_at)
  where final and abort_kind <> 'cancelled';

create table writ_data.job_cancel (
  job_id       uuid primary key,
  requested_at timestamptz not null,
  requested_by text not null,
  reason       text
);
comment on table writ_data.job_cancel is 'Requests to stop a job that a worker holds; whatever ends it next, except success, ends it as cancelled.';

create table writ_data.job_cleaned (
  job_id           uuid primary key,
  cleaned_at       timestamptz not null,
  was              text not null,
  successor_job_id uuid,
  constraint only_ended_jobs_are_cleaned check (was in ('succeeded', 'cancelled', 'dead_letter')),
  constraint dead_letter_has_successor check ((was = 'dead_letter') = (successor_job_id is not null))
);

-- The record -------------------------------------------------------------------------------------------------

create table writ_data.event_batch (
  batch_id  uuid primary key,
  xid       xid8 not null default pg_current_xact_id(),
  at        timestamptz not null,
  command   text not null,
  actor     text not null,
  types     text[] not null,
  first     integer[] not null,
  last      integer[] not null,
  subjects  uuid[] not null,
  details   jsonb,
  note      text,
  constraint event_ranges_are_parallel check (
    cardinality(types) = cardinality(first) and cardinality(types) = cardinality(last))
);
comment on table writ_data.event_batch is
  'One row per gate call that changed something. Who called what, shown by writ.command_run; and its facts, types[i] happened to subjects[first[i]..last[i]], shown one by one by writ.event_outbox.';
alter table writ_data.event_batch alter subjects set storage external;
create index event_batch_by_xid on writ_data.event_batch (xid, batch_id);

create table writ_data.queue_worker (
  executor_id              text primary key,
  executor_kind            text not null,
  domain_scope             text[] not null,
  kinds                    text[] not null,
  last_beat_at             timestamptz not null,
  expected_cadence_seconds integer not null,
  idle_until               timestamptz,
  silent_since             timestamptz,
  details                  jsonb not null default '{}',
  constraint executor_is_whitelisted check (executor_kind in
    ('DOT', 'Agent', 'Hermes', 'Codex', 'PG_worker', 'external_worker', 'future_Kestra_adapter'))
) with (fillfactor = 50);
comment on table writ_data.queue_worker is 'Heartbeats of workers, and which of them wait for a wake-up.';

-- Rows that are written once stay as they were written ----------------------------------------------------------

create function writ_data.refuse_change() returns trigger language plpgsql
  set search_path = pg_catalog, pg_temp as $$
begin
  raise exception using errcode = 'WR002',
    message = format('illegal_transition: %s.%s does not allow this %s', tg_table_schema, tg_table_name, lower(tg_op)),
    hint = 'State changes go through the gates of schema writ.';
end $$;

create trigger job_is_written_once before update on writ_data.job
  for each row execute function writ_data.refuse_change();
create trigger event_batch_is_written_once before update or delete on writ_data.event_batch
  for each row execute function writ_data.refuse_change();
create trigger job_cleaned_is_written_once before update or delete on writ_data.job_cleaned
  for each row execute function writ_data.refuse_change();
