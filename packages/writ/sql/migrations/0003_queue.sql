-- The queue's tables (specification 002) and executions (specification 003), in the write-once
-- design: a job is a row that never changes; where it stands follows from the one small row that
-- moves (ready, waiting, or a place in a lease) and from the executions that have ended. Nothing
-- here is updated once per job.
--
-- Three shapes have a reason that docs/speed.md measures:
--   lanes       what can be claimed stands in lanes, one per (kind, tenant, limit key, priority);
--               a ready row holds the jobs of one call in one lane; a lane's head says where its
--               live rows begin, so that a claim never walks dead ones
--   partitions  what is only ever added (jobs, executions, the record) is kept by the day and
--               retired by dropping
--   inputs      stand in the row of their job, results in the row of their execution: they live
--               and go with it

-- Settings ----------------------------------------------------------------------------------------

insert into writ_data.dot_config (key, value, minimum, maximum, whole, description) values
  ('queue.job_substrate.enabled', 'false', null, null, false,
    'Jobs may be enqueued and claimed.'),
  ('queue.worker.enabled', 'true', null, null, false,
    'Workers receive jobs; false pauses every worker and keeps what is queued.'),
  ('queue.notify.enabled', 'true', null, null, false,
    'An enqueue wakes idle workers with NOTIFY; false leaves them to their polling.'),
  ('queue.lease.reaper_enabled', 'true', null, null, false,
    'Expired leases are taken back.'),
  ('queue.lease.reaper_batch', '100', 1, 10000, true,
    'Leases that one call of the reaper takes back at most.'),
  ('queue.lease.duration_sec', '300', 1, 86400, false,
    'Length of a lease when the worker does not ask for another.'),
  ('queue.lease.timeout_sec', '900', 1, 604800, false,
    'How long a started job may run before its lease is no longer renewed.'),
  ('queue.poison.crashes', '3', 1, 10000, true,
    'Crashes of its worker, with nothing running beside it, after which a job is quarantined as a '
    'dead letter.'),
  ('queue.retry.max_attempts_default', '5', 1, 32767, true,
    'Attempts of a job whose kind does not say.'),
  ('queue.retry.backoff_base_sec', '10', 0, 86400, false,
    'First ceiling of the delay before a retry; it doubles with each attempt.'),
  ('queue.retry.backoff_cap_sec', '3600', 0, 2592000, false,
    'Highest ceiling of the delay before a retry.'),
  ('queue.payload.max_bytes', '1048576', 0, 104857600, true,
    'Largest input or result of a job, as JSON text.'),
  ('queue.safe_payload.max_bytes', '8192', 0, 1048576, true,
    'Largest safe_payload, as JSON text.'),
  ('queue.dlq.replay_enabled', 'true', null, null, false,
    'Dead letters may be replayed.'),
  ('queue.heartbeat.stale_threshold_seconds', '300', 1, 86400, false,
    'Silence after which a worker is shown as warning; twice this is stale.'),
  ('queue.retention.finished_sec', '2592000', 0, 3153600000, false,
    'Age at which the sweep cleans succeeded and cancelled jobs.'),
  ('queue.retention.dead_letter_sec', '31536000', 0, 3153600000, false,
    'Age at which the sweep cleans dead letters that nobody has replayed.'),
  ('queue.retention.record_sec', '7776000', 0, 3153600000, false,
    'Age at which a day of the record (facts, commands) is dropped.'),
  ('queue.partition.days_ahead', '14', 3, 365, true,
    'Days for which partitions are made in advance.');

-- Kinds -------------------------------------------------------------------------------------------

create table writ_data.job_kind (
  job_kind          text primary key,
  event_domain      text not null default 'dot',
  executor          text not null default 'external_worker',
  source_system     text not null default 'writ',
  max_attempts      smallint,
  backoff_base_s    double precision,
  backoff_cap_s     double precision,
  timeout_s         double precision,
  limit_concurrency integer,
  limit_rate        double precision,
  limit_burst       double precision,
  registered_by     text not null,
  registered_at     timestamptz not null default clock_timestamp(),
  former            jsonb,
  paused_at         timestamptz,
  paused_by         text,
  constraint paused_by_somebody check ((paused_at is null) = (paused_by is null)),
  constraint job_kind_is_a_name check (job_kind ~ '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$'),
  constraint event_domain_is_known check (event_domain in
    ('iu', 'birth_registry', 'governance', 'tac', 'kg', 'system', 'dot', 'health', 'piece')),
  constraint executor_is_whitelisted check (executor in
    ('DOT', 'Agent', 'Hermes', 'Codex', 'PG_worker', 'external_worker', 'future_Kestra_adapter')),
  constraint source_system_is_not_blank
    check (btrim(source_system) <> '' and length(source_system) <= 200),
  constraint max_attempts_is_positive check (max_attempts > 0),
  -- NaN is larger than every number.
  constraint backoff_is_bounded
    check (backoff_base_s between 0 and 2592000 and backoff_cap_s between 0 and 2592000),
  constraint timeout_is_bounded check (timeout_s between 0.001 and 2592000),
  constraint limit_is_bounded check (
    limit_concurrency between 1 and 1000000 and limit_rate between 1e-6 and 1e6
    and limit_burst between 1 and 1e6),
  constraint rate_has_a_burst check ((limit_rate is null) = (limit_burst is null))
);
comment on column writ_data.job_kind.former is
  'The definition before the last change. A change that brings it back within a day shows that two '
  'processes disagree.';
comment on column writ_data.job_kind.paused_at is
  'Since when workers receive none of its jobs.';
comment on column writ_data.job_kind.limit_concurrency is
  'Jobs of one limit key that may be leased at a time.';
comment on column writ_data.job_kind.limit_rate is
  'Jobs of one limit key that may start per second, after a burst of limit_burst.';

-- Jobs --------------------------------------------------------------------------------------------

create table writ_data.job (
  job_id                 uuid primary key,
  tenant_id              text not null,
  job_kind               text not null,
  event_domain           text not null,
  idempotency_key        text,
  limit_key              text,
  source_ref             text,
  target_ref             text,
  payload_ref            text,
  input                  json,
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
  ready_seq              bigint,
  run_id                 uuid,
  step_no                smallint,
  place                  integer,
  logical_attempt        smallint,
  undo                   boolean,
  traceparent            text,
  constraint executor_is_whitelisted check (executor in
    ('DOT', 'Agent', 'Hermes', 'Codex', 'PG_worker', 'external_worker', 'future_Kestra_adapter')),
  constraint payload_classification_is_known
    check (payload_classification in ('safe_metadata', 'restricted')),
  constraint tenant_is_not_blank check (tenant_id <> ''),
  constraint enqueued_by_is_not_blank check (btrim(enqueued_by) <> ''),
  constraint source_system_is_not_blank check (btrim(source_system) <> ''),
  constraint max_attempts_is_positive check (max_attempts > 0),
  constraint event_domain_is_known check (event_domain in
    ('iu', 'birth_registry', 'governance', 'tac', 'kg', 'system', 'dot', 'health', 'piece')),
  constraint safe_payload_is_a_short_object check (
    safe_payload is null
    or jsonb_typeof(safe_payload) = 'object' and octet_length(safe_payload::text) <= 1048576),
  -- The keys of writ_data.forbidden_key, at any depth.
  constraint safe_payload_has_no_forbidden_key check (
    safe_payload is null
    or not jsonb_path_exists(safe_payload, 'strict $.** ? (
      exists (@.body) || exists (@.content) || exists (@.raw) || exists (@.vector)
      || exists (@.embedding) || exists (@.secret) || exists (@.token) || exists (@.password)
      || exists (@.ssn) || exists (@.personal_data))')),
  constraint input_is_stored_or_referenced check (payload_ref is null or input is null),
  -- One regular expression would say the same and take ten times as long, for each traced job.
  constraint traceparent_is_a_place_in_a_trace check (
    traceparent like '00-________________________________-________________-__'
    and traceparent not like '%-%-%-%-%' and traceparent !~ '[^0-9a-f-]')
) partition by range (job_id);
comment on column writ_data.job.idempotency_key is
  'Null: nobody gave one, and the job answers to its own id.';
comment on column writ_data.job.safe_payload is 'Null: empty.';
comment on column writ_data.job.limit_key is
  'What the limits of its kind count together; null: the kind as a whole.';
comment on column writ_data.job.ready_seq is
  'Where in its lane it stood first; null when it was enqueued for later.';
create index job_by_workflow on writ_data.job (workflow_id) where workflow_id is not null;
create index job_by_correlation on writ_data.job (correlation_id) where correlation_id is not null;
create index job_by_parent on writ_data.job (parent_job_id) where parent_job_id is not null;
comment on column writ_data.job.run_id is
  'Set: the job is a step of this run, the step step_no of its plan; place: of an element of its '
  'list; undo: its compensation.';
comment on column writ_data.job.traceparent is
  'Where in a trace it was enqueued; of a step, where its run was started.';
create index job_by_run
  on writ_data.job (run_id, step_no, logical_attempt, place) where run_id is not null;

create table writ_data.job_key (
  tenant_id       text not null,
  job_kind        text not null,
  idempotency_key text not null,
  job_id          uuid not null,
  primary key (tenant_id, job_kind, idempotency_key)
);
comment on table writ_data.job_key is
  'Which job a key stands for, for as long as the job is retained.';

-- Where a job stands ------------------------------------------------------------------------------

create table writ_data.lane (
  lane_id   bigint generated always as identity primary key,
  job_kind  text not null,
  tenant_id text not null,
  limit_key text not null default '',
  priority  smallint not null,
  alone     boolean not null default false,
  head      bigint not null default 0,
  closing   xid8
) with (fillfactor = 50);
comment on table writ_data.lane is
  'Where jobs of one kind, tenant, limit key and priority stand in line. Made by the first job, '
  'removed some minutes after the last. There may be two of a name for a while: nobody waits for '
  'another''s transaction to make one.';
comment on column writ_data.lane.alone is
  'For jobs whose worker died in them: each runs with nothing beside it.';
comment on column writ_data.lane.head is 'No ready row of the lane stands before it.';
comment on column writ_data.lane.closing is
  '0: found empty. A transaction that has seen this mark stand: removed when every older one has '
  'ended.';
create index lane_by_name on writ_data.lane (job_kind, tenant_id, limit_key, priority desc, alone);
create index lane_by_key
  on writ_data.lane (job_kind, tenant_id, md5(limit_key), priority desc) where limit_key <> '';
create index lane_alone on writ_data.lane (job_kind) where alone;

create sequence writ_data.job_ready_seq;
create sequence writ_data.job_ready_safe;
comment on sequence writ_data.job_ready_safe is
  'No transaction in flight can still add a ready row at or below this number. A sequence, '
  'because it moves once a second and is read by claims: a row would grow old versions beside a '
  'held snapshot.';

create table writ_data.job_ready (
  lane_id      bigint not null,
  seq          bigint not null,
  part         bigint not null,
  job_ids      uuid[] not null,
  attempts     smallint not null,
  execution_no integer not null,
  deadline_at  timestamptz,
  moved        boolean not null default false,
  inputs       text[],
  max_attempts smallint,
  steps        text[],
  constraint ready_row_has_jobs check (cardinality(job_ids) between 1 and 100),
  constraint moved_jobs_stand_by_themselves check (not moved or cardinality(job_ids) = 1)
);
comment on table writ_data.job_ready is
  'What can be claimed now: the jobs that one call added to a lane, at most a hundred to a row. A '
  'claim deletes the row and writes a lease.';
comment on column writ_data.job_ready.max_attempts is
  'Set: the row carries all that a worker needs to know, with the inputs beside it, and a claim '
  'need not look the jobs up. Null: it has to.';
alter table writ_data.job_ready alter inputs set storage external;
comment on column writ_data.job_ready.moved is
  'Came here after a delay, a retry or a release, in a row of its own.';
comment on column writ_data.job_ready.part is
  'The order within seq: from 0 on for the rows of one call. What was given back stands before '
  'them, in the order of its ids.';
create index job_ready_claim on writ_data.job_ready (lane_id, seq, part);
create index job_ready_by_deadline
  on writ_data.job_ready (deadline_at) where deadline_at is not null;
create index job_ready_moved on writ_data.job_ready ((job_ids[1])) where moved;
comment on column writ_data.job_ready.steps is
  'Set: the jobs are steps, and this is what a claim says of each.';

create table writ_data.job_wait (
  due_at       timestamptz not null,
  job_kind     text not null,
  tenant_id    text not null,
  priority     smallint not null,
  job_id       uuid primary key,
  attempts     smallint not null,
  execution_no integer not null,
  deadline_at  timestamptz,
  reason       text not null,
  limit_key    text,
  alone        boolean not null default false,
  constraint wait_reason_is_known check (reason in ('delay', 'retry'))
);
comment on table writ_data.job_wait is
  'What can be claimed later: delayed jobs and retries, promoted when due.';
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
  execution_nos integer[] not null,
  start_upto    integer[] not null default '{}',
  start_at      timestamptz[] not null default '{}',
  open_jobs     integer not null,
  ended_early   integer not null default 0,
  limited       boolean not null default false,
  alone         boolean not null default false,
  stepped       boolean not null default false,
  reserved      boolean not null default true,
  login         name not null default session_user,
  constraint lease_arrays_are_parallel check (
    cardinality(attempts) = cardinality(job_ids)
    and cardinality(execution_nos) = cardinality(job_ids)),
  constraint start_marks_are_parallel check (cardinality(start_upto) = cardinality(start_at)),
  constraint open_jobs_are_of_the_lease check (open_jobs between 0 and cardinality(job_ids)),
  constraint holder_is_not_blank check (btrim(holder) <> ''),
  -- A generator makes jobs and never works on them. Its name says what it is, so that no claim
  -- has to look it up.
  constraint a_generator_never_leases check (holder not like 'MOT:%')
);
comment on column writ_data.job_lease.ended_early is
  'Jobs that ended without having been started; a later start mark passes over them.';
comment on table writ_data.job_lease is
  'One row per claimed batch. Jobs 1..n are LEASED; those up to the last element of start_upto '
  'are IN_PROGRESS since the time beside it.';
-- Random ids do not compress: keep the arrays as they are, and out of the row when the leased_until
-- in it moves.
alter table writ_data.job_lease alter job_ids set storage external;
create index job_lease_by_expiry on writ_data.job_lease (leased_until);
comment on column writ_data.job_lease.alone is
  'Holds one job that is suspected of killing its worker; nothing runs beside it.';
comment on column writ_data.job_lease.limited is 'Counts in limit_hold.';
comment on column writ_data.job_lease.stepped is 'Holds steps of runs.';
comment on column writ_data.job_lease.reserved is
  'May hold jobs of reserved kinds, which a worker cannot finish by itself: the queue''s gates '
  'look them up. False where the claim knows better.';
comment on column writ_data.job_lease.login is
  'The database login that claimed it. A claim takes only jobs that its login may touch, so a '
  'later call through the same login need not look up whose they are.';

create table writ_data.job_execution (
  job_id        uuid not null,
  execution_no  integer not null,
  attempt       smallint not null,
  lease_token   uuid,
  lease_owner   text,
  status        text not null,
  abort_kind    text,
  final         boolean not null default false,
  started_at    timestamptz,
  committed_at  timestamptz,
  finished_at   timestamptz,
  result        json,
  result_ref    text,
  error_code    text,
  error_message text,
  error_stack   text,
  primary key (job_id, execution_no),
  constraint execution_status_is_stored check (status in ('COMMITTED', 'DONE', 'ABORTED')),
  constraint abort_kind_matches_status check ((abort_kind is not null) = (status = 'ABORTED')),
  constraint abort_kind_is_known check (abort_kind in
    ('transient', 'permanent', 'lease_expired', 'released', 'delayed', 'cancelled')),
  constraint committed_at_matches_status
    check ((committed_at is not null) = (status in ('COMMITTED', 'DONE'))),
  constraint finished_at_matches_status
    check ((finished_at is not null) = (status in ('DONE', 'ABORTED'))),
  constraint final_means_aborted check (not final or status = 'ABORTED')
) partition by range (job_id);
comment on table writ_data.job_execution is
  'Executions that have reached their commit boundary or ended. Open ones are places in '
  'job_lease. Attempt 0: ended without ever being tried.';
create unique index a_job_has_one_effect_or_one_end on writ_data.job_execution (job_id)
  where status in ('COMMITTED', 'DONE') or final;
create index job_execution_dead_letter on writ_data.job_execution (job_id)
  where final and abort_kind <> 'cancelled';

create table writ_data.job_cancel (
  job_id       uuid primary key,
  requested_at timestamptz not null,
  requested_by text not null,
  reason       text
);
comment on table writ_data.job_cancel is
  'Requests to stop a job that a worker holds; whatever ends it next, except success, ends it as '
  'cancelled.';

create table writ_data.job_cleaned (
  job_id           uuid primary key,
  cleaned_at       timestamptz not null,
  was              text not null,
  successor_job_id uuid,
  constraint only_ended_jobs_are_cleaned check (was in ('succeeded', 'cancelled', 'dead_letter')),
  constraint only_dead_letters_have_successors
    check (successor_job_id is null or was = 'dead_letter')
) partition by range (job_id);

-- Limits and shares -------------------------------------------------------------------------------

create table writ_data.limit_hold (
  lease_token uuid not null,
  job_kind    text not null,
  limit_key   text not null,
  open_jobs   integer not null,
  primary key (lease_token, job_kind, limit_key),
  constraint open_jobs_are_counted check (open_jobs > 0)
);
comment on table writ_data.limit_hold is
  'How many open jobs of a limited kind and key each lease holds.';
create index limit_hold_by_key on writ_data.limit_hold (job_kind, limit_key);

create table writ_data.limit_meter (
  job_kind  text not null,
  limit_key text not null,
  full_at   timestamptz not null,
  primary key (job_kind, limit_key)
) with (fillfactor = 50);
comment on table writ_data.limit_meter is
  'When the burst of a rate-limited kind and key will be full again, if nothing more starts.';

create table writ_data.limit_turn (
  slot smallint primary key
);
insert into writ_data.limit_turn (slot) select generate_series(0, 4095);
comment on table writ_data.limit_turn is
  'A claim locks the slot that a limited kind and key hashes to while it counts. The rows are made '
  'once, so that a claim never waits for another to insert one; keys that share a slot only take '
  'turns.';

create table writ_data.tenant_weight (
  tenant_id text primary key,
  weight    double precision not null,
  set_by    text not null,
  set_at    timestamptz not null,
  constraint weight_is_sensible check (weight between 0.01 and 100)
);
comment on table writ_data.tenant_weight is 'Shares of tenants that are not 1.';

-- Consumers ---------------------------------------------------------------------------------------

create table writ_data.consumer_registry (
  consumer       text primary key,
  event_type     text not null references writ_data.event_type_registry,
  subject_kind   text references writ_data.job_kind,
  subject_domain text,
  job_kind       text not null references writ_data.job_kind,
  priority       smallint not null default 0,
  delay_ms       bigint not null default 0,
  max_attempts   smallint,
  registered_by  text not null,
  registered_at  timestamptz not null,
  constraint consumer_is_a_name check (consumer ~ '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$'),
  constraint subject_domain_is_known check (subject_domain in
    ('iu', 'birth_registry', 'governance', 'tac', 'kg', 'system', 'dot', 'health', 'piece')),
  constraint subject_is_a_job
    check (event_type like 'dot.job.%' or subject_kind is null and subject_domain is null),
  constraint consumer_does_not_feed_itself check (subject_kind is null or subject_kind <> job_kind),
  constraint delay_is_at_most_ten_years check (delay_ms between 0 and 316224000000),
  constraint max_attempts_is_positive check (max_attempts > 0)
);
comment on table writ_data.consumer_registry is
  'Which job follows from which fact. Null subject_kind or subject_domain: of all.';

create table writ_data.consumer_position (
  consumer text primary key references writ_data.consumer_registry on delete cascade,
  since    uuid not null,
  position writ_data.record_position not null,
  moved_at timestamptz not null,
  refused  text
) with (fillfactor = 50);
comment on table writ_data.consumer_position is
  'How far each consumer has followed the record. Moves once per call, whatever the number of '
  'facts.';
comment on column writ_data.consumer_position.since is
  'Facts recorded before this id are none of its business.';
comment on column writ_data.consumer_position.refused is
  'Why the queue does not take its jobs; it stays where it is until that has changed.';

-- Subscriptions -----------------------------------------------------------------------------------

create table writ_data.job_subscription (
  executor_id    text not null,
  job_kind       text references writ_data.job_kind,
  event_domain   text,
  priority_floor smallint not null default -32768,
  put_by         text not null,
  put_at         timestamptz not null,
  constraint subscription_is_said_once
    unique nulls not distinct (executor_id, job_kind, event_domain),
  constraint executor_id_is_not_blank check (btrim(executor_id) <> ''),
  constraint event_domain_is_known check (event_domain in
    ('iu', 'birth_registry', 'governance', 'tac', 'kg', 'system', 'dot', 'health', 'piece'))
);
comment on table writ_data.job_subscription is
  'What a worker, by its name or its lease name, may claim: jobs that match any of its rows. No '
  'rows: no limit. Null kind or domain: all.';

-- Workflows ---------------------------------------------------------------------------------------

-- A workflow's status follows from its jobs: stored, it would be a second truth, and a row to
-- update when a job ends.
create table writ_data.job_workflow (
  workflow_id    uuid primary key,
  tenant_id      text not null,
  workflow_kind  text not null,
  generator      text not null,
  correlation_id text,
  enqueued_by    text not null,
  enqueued_at    timestamptz not null default clock_timestamp(),
  workflow_key   text,
  job_ids        uuid[] not null default '{}',
  constraint workflow_kind_is_not_blank check (btrim(workflow_kind) <> ''),
  constraint generator_is_named_as_one check (generator like 'MOT:_%')
);
comment on column writ_data.job_workflow.workflow_key is
  'Null: the workflow answers to its id alone.';
comment on column writ_data.job_workflow.job_ids is
  'The jobs that were emitted with it, in the order of the call. Replays and later jobs name the '
  'workflow themselves.';
create unique index job_workflow_key
  on writ_data.job_workflow (tenant_id, workflow_kind, workflow_key) where workflow_key is not null;

-- Workers and clockwork ---------------------------------------------------------------------------

create table writ_data.queue_worker (
  executor_id              text not null,
  executor_kind            text not null,
  domain_scope             text[] not null,
  kinds                    text[] not null,
  last_beat_at             timestamptz not null,
  expected_cadence_seconds integer not null,
  idle_until               timestamptz,
  silent_since             timestamptz,
  details                  jsonb not null default '{}',
  login                    name not null default session_user,
  primary key (login, executor_id),
  constraint executor_is_whitelisted check (executor_kind in
    ('DOT', 'Agent', 'Hermes', 'Codex', 'PG_worker', 'external_worker', 'future_Kestra_adapter')),
  constraint a_generator_never_beats check (executor_id not like 'MOT:%')
) with (fillfactor = 50);
comment on table writ_data.queue_worker is
  'Heartbeats of workers, and which of them wait for a wake-up.';

-- What the clockwork remembers from one turn to the next.
create table writ_data.clockwork (
  one           boolean primary key default true check (one),
  ready_seen    bigint not null default 0,
  ready_writers text[] not null default '{}',
  upkeep_at     timestamptz not null default '-infinity',
  swept_upto    uuid not null default '00000000-0000-0000-0000-000000000000',
  sweep_on      boolean not null default false,
  retired_at    timestamptz not null default '-infinity'
) with (fillfactor = 10);
insert into writ_data.clockwork default values;
comment on column writ_data.clockwork.ready_writers is
  'Transactions that could still add ready rows at or below ready_seen.';

insert into writ_data.turn (name) values
  ('clockwork'), ('sweep'), ('consumers'), ('relay_idle');

-- Days --------------------------------------------------------------------------------------------

do $$
declare
  v_today date := (clock_timestamp() at time zone 'UTC')::date;
  v_table text;
begin
  foreach v_table in array array['job', 'job_execution', 'job_cleaned'] loop
    for v_day in -1 .. 14 loop
      perform writ_data.make_partition(v_table, v_today + v_day);
    end loop;
  end loop;
end $$;

-- Rows that are written once stay as they were written --------------------------------------------

create trigger job_is_written_once before update on writ_data.job
  for each row execute function writ_data.refuse_change();
create trigger job_cleaned_is_written_once before update or delete on writ_data.job_cleaned
  for each row execute function writ_data.refuse_change();
create trigger job_workflow_is_written_once before update on writ_data.job_workflow
  for each row execute function writ_data.refuse_change();
