-- Runs: plans as data, executed step by step as jobs of the queue. A run's log of events is only
-- ever added to, and everything that is known of a run follows from it; the run's own row moves
-- when the run does (started, paused, ended), not when a step does. What a step leaves behind, its
-- event, its execution and the jobs of its successors, is one commit.

-- Plans -------------------------------------------------------------------------------------------

create table writ_data.plan (
  plan_no       integer generated always as identity primary key,
  plan_id       text not null,
  plan_version  text not null,
  tenant_id     text not null default '',
  sha256        bytea not null,
  document      text not null,
  on_failure    text not null,
  last_steps    smallint[] not null,
  registered_by text not null,
  registered_at timestamptz not null,
  unique (plan_id, plan_version, tenant_id),
  constraint plan_is_what_its_hash_says check (sha256 = sha256(convert_to(document, 'UTF8'))),
  constraint failure_fails_or_pauses check (on_failure in ('fail', 'pause'))
);
comment on table writ_data.plan is
  'Versions of plans, as the canonical JSON that is hashed. A version never changes; a run keeps '
  'the one it started with.';
comment on column writ_data.plan.tenant_id is
  'The tenant of the login that registered it; empty: for every tenant.';
comment on column writ_data.plan.last_steps is
  'Steps that nothing comes after: when they have ended, the run has.';

create table writ_data.plan_step (
  plan_no       integer not null references writ_data.plan,
  step_no       smallint not null,
  step_id       text not null,
  type          text not null,
  job_kind      text not null references writ_data.job_kind,
  after         smallint[] not null,
  next          smallint[] not null,
  condition     jsonb,
  optional      boolean not null,
  input         jsonb,
  over          text,
  parallel      integer,
  event         text,
  schema        jsonb,
  wait_ms       bigint,
  on_timeout    text,
  max_attempts  smallint,
  timeout_ms    bigint,
  undo_kind     text references writ_data.job_kind,
  undo_input    jsonb,
  undo_attempts smallint,
  plain         boolean not null default false,
  primary key (plan_no, step_no),
  unique (plan_no, step_id),
  constraint type_is_known check (type in ('job', 'each', 'wait', 'timer')),
  constraint only_each_goes_over_a_list
    check ((type = 'each') = (over is not null and parallel is not null)),
  constraint only_a_wait_has_an_event check ((type = 'wait') = (event is not null)),
  constraint a_timer_has_a_time check (type <> 'timer' or wait_ms is not null),
  constraint numbers_of_a_step_have_bounds check (
    parallel between 1 and 1000
    and wait_ms between 1 and 316224000000
    and timeout_ms between 1 and 316224000000
    and max_attempts > 0
    and undo_attempts > 0)
);
comment on column writ_data.plan_step.input is
  'A template; null: the input of the run, or the element of the list.';
comment on column writ_data.plan_step.plain is
  'What comes after it are jobs that wait for nothing else and have no condition; or nothing, and '
  'the plan has no other last step. Then its end decides alone what follows.';

-- Runs --------------------------------------------------------------------------------------------

create table writ_data.run (
  run_id          uuid primary key,
  tenant_id       text not null,
  project_id      text not null,
  environment_id  text not null,
  plan_no         integer not null,
  engine          text not null,
  engine_run_ref  jsonb,
  engine_login    name,
  priority        smallint not null,
  request_id      text,
  original_run_id uuid,
  status          text not null,
  ending          text,
  ending_with     jsonb,
  input           jsonb,
  pauses          integer not null default 0,
  steered         boolean not null default false,
  started_by      text not null,
  created_at      timestamptz not null,
  moved_at        timestamptz not null,
  start_after     timestamptz,
  traceparent     text,
  governed_by     uuid,
  constraint run_status_is_known
    check (status in ('PENDING', 'APPROVED', 'RUNNING', 'PAUSED', 'COMPLETED', 'FAILED',
      'CANCELLED')),
  constraint a_run_ends_badly_or_not_at_all check (ending in ('FAILED', 'CANCELLED')),
  constraint tenant_is_not_blank check (tenant_id <> ''),
  constraint started_by_somebody check (btrim(started_by) <> ''),
  -- One regular expression would say the same and take ten times as long, for each traced run.
  constraint traceparent_is_a_place_in_a_trace check (
    traceparent like '00-________________________________-________________-__'
    and traceparent not like '%-%-%-%-%' and traceparent !~ '[^0-9a-f-]')
) partition by range (run_id);
comment on table writ_data.run is
  'One execution of a plan. Its row is locked by whoever appends to its log, and written only '
  'when the run itself moves.';
comment on column writ_data.run.engine_login is
  'Of a run of another engine: the login that started it, and that alone appends to its log.';
comment on column writ_data.run.ending is
  'Set: nothing new begins; when what runs has ended and what was done is undone, the run ends so.';
comment on column writ_data.run.steered is
  'Somebody has retried or skipped a step of it: then the end of a step does not decide alone '
  'what follows.';
comment on column writ_data.run.start_after is
  'Set: a run that waits is started at this time, whether there is room or not.';
comment on column writ_data.run.traceparent is 'Where in a trace it was started.';
comment on column writ_data.run.governed_by is
  'The governance job that the run is the execution of: it takes no signal but EMERGENCY_STOP, '
  'and its end is told to the job.';
create index run_by_tenant on writ_data.run (tenant_id, run_id);
-- For lists: the runs of one plan, and the few among many that did not end well or do not go on.
create index run_by_plan on writ_data.run (plan_no, run_id);
create index run_by_status on writ_data.run (status, run_id)
  where status in ('PENDING', 'APPROVED', 'FAILED', 'CANCELLED');
create index run_paused on writ_data.run (moved_at) where status = 'PAUSED';
create index run_ending
  on writ_data.run (moved_at) where ending is not null and status in ('RUNNING', 'PAUSED');
create index run_pending
  on writ_data.run (tenant_id, priority desc, run_id)
  where status = 'PENDING' and engine = 'native';
create index run_open on writ_data.run (tenant_id) where status in ('RUNNING', 'PAUSED');

create table writ_data.run_request (
  request_sha256 bytea primary key,
  run_id         uuid not null
);
comment on table writ_data.run_request is
  'SHA-256 of [tenant, project, environment, plan, version, request] as JSON: the same request is '
  'the same run, for as long as the run is kept.';
create index run_request_by_run on writ_data.run_request (run_id);

create table writ_data.run_event (
  run_id          uuid not null,
  run_seq         integer not null,
  event_type      text not null,
  step_id         text not null,
  logical_attempt text not null,
  engine_attempt  integer,
  data            jsonb not null,
  signal_id       uuid,
  at              timestamptz not null,
  batch_id        uuid not null,
  each_no         smallint,
  tally           integer,
  stopped_at      integer,
  primary key (run_id, run_seq),
  constraint run_seq_counts_from_one check (run_seq > 0),
  constraint items_are_counted check ((each_no is null) = (tally is null)),
  constraint data_holds_references_only check (octet_length(data::text) <= 70000)
) partition by range (run_id);
comment on table writ_data.run_event is
  'The logs of the runs. run_seq is dense: the run''s row is locked while a number is taken. The '
  'key of an event is that of its index: the run''s version of the plan is the same throughout.';
comment on column writ_data.run_event.batch_id is 'The row of the record that seals it.';
comment on column writ_data.run_event.tally is
  'Of an element of a list: how many of it have ended by now. stopped_at: how many had when the '
  'first one failed.';
create unique index an_event_happens_once
  on writ_data.run_event (run_id, step_id, logical_attempt, event_type);
-- The index (eventType, persistedAt) of the specification, in two: the events of a step are nine in
-- ten, and are found by their time at almost no cost for the transaction that writes them.
create index run_event_by_type
  on writ_data.run_event (event_type, at)
  where event_type not in ('StepStarted', 'StepCompleted');
create index run_event_by_time on writ_data.run_event using brin (at);
create index run_event_by_each
  on writ_data.run_event (run_id, each_no, logical_attempt, tally) where each_no is not null;

create table writ_data.run_item (
  run_id  uuid not null,
  step_no smallint not null,
  attempt smallint not null,
  place   integer not null,
  item    integer not null,
  value   jsonb not null,
  primary key (run_id, step_no, attempt, place)
) partition by range (run_id);
comment on table writ_data.run_item is
  'The elements of a list that a step goes over, as they were when it began.';

create table writ_data.run_delivery (
  run_id      uuid not null,
  delivery_id text not null,
  event       text not null,
  payload     json,
  delivered_at timestamptz not null,
  delivered_by text not null,
  taken_by    text,
  primary key (run_id, delivery_id)
) partition by range (run_id);
comment on table writ_data.run_delivery is
  'What came from outside for a run. One that no step waits for yet is kept for it.';

create table writ_data.run_signal (
  run_id    uuid not null,
  signal_id uuid not null,
  type      text not null,
  accepted  boolean not null,
  code      text,
  new_run_id uuid,
  principal text not null,
  at        timestamptz not null,
  primary key (run_id, signal_id)
) partition by range (run_id);

create table writ_data.run_snapshot (
  run_id     uuid primary key,
  last_seq   integer not null,
  status     text not null,
  snapshot   json not null,
  missing    integer,
  updated_at timestamptz not null
) partition by range (run_id);
comment on column writ_data.run_snapshot.missing is
  'Set: the event of this number is not there, and the projector waits for it.';
create index run_snapshot_stale on writ_data.run_snapshot (updated_at) where missing is not null;

create table writ_data.run_projector (
  one        boolean primary key default true check (one),
  position   writ_data.record_position not null default row(
    '00000000-0000-0000-0000-000000000000', '0', '00000000-0000-0000-0000-000000000000'
  )::writ_data.record_position,
  holder     text,
  held_until timestamptz not null default '-infinity',
  turn       uuid,
  turn_end   writ_data.record_position,
  oldest     timestamptz,
  moved_at   timestamptz not null default '-infinity'
) with (fillfactor = 10);
insert into writ_data.run_projector default values;
comment on table writ_data.run_projector is
  'How far the projector has followed the record. It moves once per turn, whatever the number of '
  'events.';
comment on column writ_data.run_projector.turn is
  'The turn that was given last. It ends at turn_end; oldest is the time of its first row.';

-- How many runs go on at once ---------------------------------------------------------------------

create table writ_data.admission (
  tenant_id   text primary key,
  policy      text not null,
  max_running integer not null,
  max_pending integer not null default 10000,
  delay_ms    integer not null default 1000,
  put_by      text not null,
  put_at      timestamptz not null,
  constraint tenant_is_not_blank check (tenant_id <> ''),
  constraint policy_is_known check (policy in ('REJECT', 'QUEUE', 'DELAY')),
  constraint at_least_one_run_goes_on check (max_running > 0),
  constraint pending_runs_are_counted check (max_pending >= 0),
  constraint delay_is_at_most_a_day check (delay_ms between 1 and 86400000),
  constraint put_by_is_not_blank check (btrim(put_by) <> '')
);
comment on table writ_data.admission is
  'How many runs of a tenant go on at once, and what becomes of more: refused, started when there '
  'is room, or started later. The tenant * is every one that has no row of its own.';

-- Days, guards, and what others read --------------------------------------------------------------

do $$
declare
  v_today date := (clock_timestamp() at time zone 'UTC')::date;
  v_table text;
begin
  foreach v_table in array
    array['run', 'run_event', 'run_item', 'run_delivery', 'run_signal', 'run_snapshot']
  loop
    for v_day in -1 .. 14 loop
      perform writ_data.make_partition(v_table, v_today + v_day);
    end loop;
  end loop;
end $$;

create trigger plan_is_written_once
  before update or delete on writ_data.plan
  for each row execute function writ_data.refuse_change();
create trigger run_event_is_written_once
  before update or delete on writ_data.run_event
  for each row execute function writ_data.refuse_change();

insert into writ_data.job_kind (job_kind, executor, max_attempts, registered_by) values
  ('writ.wait', 'PG_worker', 1, 'migration'),
  ('writ.timer', 'PG_worker', 1, 'migration');

insert into writ_data.dot_config (key, value, minimum, maximum, whole, description) values
  ('runs.signal.max_bytes', '65536', 1024, 65536, true,
    'Largest signal, or event from outside, as JSON text.'),
  ('runs.signal.per_minute', '60', 1, 6000, true,
    'Signals that one run takes in a minute.'),
  ('runs.pause.drain_sec', '300', 1, 86400, false,
    'How long steps may go on after a pause before PAUSE_DRAIN_TIMEOUT is raised.'),
  ('runs.projector.lag_alert_sec', '5', 0.1, 3600, false,
    'How far the projector may be behind before PROJECTOR_LAG_HIGH is raised.'),
  ('runs.admission.retry_after_sec', '5', 1, 86400, false,
    'What a tenant whose run is refused because too many go on is told to wait.'),
  ('runs.retention_sec', '7776000', 0, 3153600000, false,
    'Age at which a day of runs is dropped, if all of them have ended.');

insert into writ_data.event_type_registry (event_type, event_domain, event_stream, event_severity,
  description) values
  ('dot.run.RunApproved', 'dot', 'task', 'info',
    'The run may start.'),
  ('dot.run.RunQueued', 'dot', 'task', 'info',
    'The run waits for its turn.'),
  ('dot.run.RunStarted', 'dot', 'task', 'info',
    'The run has begun.'),
  ('dot.run.StepStarted', 'dot', 'task', 'info',
    'A step of the run has begun.'),
  ('dot.run.StepCompleted', 'dot', 'task', 'info',
    'A step of the run has succeeded.'),
  ('dot.run.StepFailed', 'dot', 'task', 'warning',
    'A step of the run has failed for good.'),
  ('dot.run.StepSkipped', 'dot', 'task', 'info',
    'A step of the run was passed over.'),
  ('dot.run.SignalAccepted', 'dot', 'task', 'info',
    'A signal to the run was accepted.'),
  ('dot.run.SignalRejected', 'dot', 'task', 'warning',
    'A signal to the run was refused to whoever sent it.'),
  ('dot.run.RunPaused', 'dot', 'task', 'info',
    'Nothing new of the run begins.'),
  ('dot.run.RunResumed', 'dot', 'task', 'info',
    'The run goes on.'),
  ('dot.run.RunCompleted', 'dot', 'task', 'info',
    'The run has ended as planned.'),
  ('dot.run.RunFailed', 'dot', 'task', 'critical',
    'The run has failed, and what could be undone was.'),
  ('dot.run.RunCancelled', 'dot', 'task', 'info',
    'The run was stopped.');
