-- The queue at full strength. Three changes of shape, each for a reason that docs/speed.md measures:
--   lanes       what can be claimed stands in lanes, one per (kind, tenant, limit key, priority); a ready row holds the jobs of one call in one
--               lane; a lane's head says where its live rows begin, so that a claim never walks dead ones
--   partitions  what is only ever added (jobs, executions, the record) is kept by the day and retired by dropping
--   inputs      stand in the row of their job, results in the row of their execution: they live and go with it

-- Views and gates are made anew from their files; here only what stands in the way of the tables goes.
do $$
declare
  v_name text;
begin
  for v_name in select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'writ' and c.relkind = 'v' loop
    execute format('drop view if exists %s cascade', v_name);
  end loop;
end $$;
drop function if exists writ.fn_payload_read(text, text);
drop function if exists writ.fn_job_claim_many(text[], text, text, double precision, integer, integer, text, boolean, uuid);
drop function if exists writ_data.record(text, text, timestamptz, uuid[], text[], integer[], integer[], jsonb, text);
drop function if exists writ_data.wake(text[], timestamptz);
drop function if exists writ_data.store_payload(text[], text[]);
drop function if exists writ_data.settle_lease(writ_data.job_lease, boolean, integer, integer, integer, timestamptz);

-- Partitions ---------------------------------------------------------------------------------------------------

-- The smallest UUIDv7 of a day, in UTC.
create function writ_data.day_floor(p_day date) returns uuid language sql immutable
  return (lpad(to_hex((p_day - date '1970-01-01') * 86400000::bigint), 12, '0') || '70008000000000000000')::uuid;

-- Used below and by writ_data.keep_partitions. A table of its own first, then attached: that needs no lock which a reader or writer of the
-- other partitions would have to wait for. Its indexes have the names of its table's, and the day: they are what a violation is reported by.
create function writ_data.make_partition(p_table text, p_day date) returns boolean language plpgsql as $$
declare
  v_suffix text := to_char(p_day, '_YYYYMMDD'); v_name text := p_table || v_suffix; v_index record;
begin
  if to_regclass('writ_data.' || v_name) is not null then
    return false;
  end if;
  execute format('create table writ_data.%I (like writ_data.%I including all)', v_name, p_table);
  execute format('alter table writ_data.%I attach partition writ_data.%I for values from (%L) to (%L)', p_table, v_name,
    writ_data.day_floor(p_day), writ_data.day_floor(p_day + 1));
  for v_index in
    select i.inhrelid::regclass::text as name, c.relname || v_suffix as called from pg_index x join pg_inherits i on i.inhrelid = x.indexrelid join pg_class c on c.oid = i.inhparent
    where x.indrelid = format('writ_data.%I', v_name)::regclass
  loop
    execute format('alter index %s rename to %I', v_index.name, v_index.called);
  end loop;
  return true;
end $$;

-- Jobs ---------------------------------------------------------------------------------------------------------

alter table writ_data.job rename to job_old;
alter index writ_data.job_pkey rename to job_old_pkey;
drop index writ_data.job_by_workflow, writ_data.job_by_correlation, writ_data.job_by_parent;
create sequence writ_data.job_ready_safe;
comment on sequence writ_data.job_ready_safe is
  'No transaction in flight can still add a ready row at or below this number. A sequence, because it moves once a second and is read by claims: a row would grow old versions beside a held snapshot.';

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
  constraint executor_is_whitelisted check (executor in
    ('DOT', 'Agent', 'Hermes', 'Codex', 'PG_worker', 'external_worker', 'future_Kestra_adapter')),
  constraint payload_classification_is_known check (payload_classification in ('safe_metadata', 'restricted')),
  constraint tenant_is_not_blank check (tenant_id <> ''),
  constraint enqueued_by_is_not_blank check (btrim(enqueued_by) <> ''),
  constraint source_system_is_not_blank check (btrim(source_system) <> ''),
  constraint max_attempts_is_positive check (max_attempts > 0),
  constraint input_is_stored_or_referenced check (payload_ref is null or input is null)
) partition by range (job_id);
comment on column writ_data.job.idempotency_key is 'Null: nobody gave one, and the job answers to its own id.';
comment on column writ_data.job.safe_payload is 'Null: empty.';
comment on column writ_data.job.limit_key is 'What the limits of its kind count together; null: the kind as a whole.';
comment on column writ_data.job.ready_seq is 'Where in its lane it stood first; null when it was enqueued for later.';
create index job_by_workflow on writ_data.job (workflow_id) where workflow_id is not null;
create index job_by_correlation on writ_data.job (correlation_id) where correlation_id is not null;
create index job_by_parent on writ_data.job (parent_job_id) where parent_job_id is not null;

alter table writ_data.job_execution rename to job_execution_old;
alter index writ_data.job_execution_pkey rename to job_execution_old_pkey;
alter index writ_data.a_job_has_one_effect_or_one_end rename to job_execution_old_end;
drop index writ_data.job_execution_dead_letter;
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
  result        json,
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
) partition by range (job_id);
comment on table writ_data.job_execution is
  'Executions that have reached their commit boundary or ended. Open ones are places in job_lease. Attempt 0: ended without ever being tried.';
create unique index a_job_has_one_effect_or_one_end on writ_data.job_execution (job_id)
  where status in ('COMMITTED', 'DONE') or final;
create index job_execution_dead_letter on writ_data.job_execution (job_id)
  where final and abort_kind <> 'cancelled';

alter table writ_data.job_cleaned rename to job_cleaned_old;
alter index writ_data.job_cleaned_pkey rename to job_cleaned_old_pkey;
create table writ_data.job_cleaned (
  job_id           uuid primary key,
  cleaned_at       timestamptz not null,
  was              text not null,
  successor_job_id uuid,
  constraint only_ended_jobs_are_cleaned check (was in ('succeeded', 'cancelled', 'dead_letter')),
  constraint only_dead_letters_have_successors check (successor_job_id is null or was = 'dead_letter')
) partition by range (job_id);

alter table writ_data.event_batch rename to event_batch_old;
alter index writ_data.event_batch_pkey rename to event_batch_old_pkey;
alter index writ_data.event_batch_by_xid rename to event_batch_old_by_xid;
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
) partition by range (batch_id);
comment on table writ_data.event_batch is
  'One row per gate call that changed something. Who called what, shown by writ.command_run; and its facts, types[i] happened to subjects[first[i]..last[i]], shown one by one by writ.event_outbox.';
alter table writ_data.event_batch alter subjects set storage external;
create index event_batch_by_xid on writ_data.event_batch (xid, batch_id);

-- A job has its day in each of its three tables, though nothing may have happened to it yet: all of them begin with the oldest job.
do $$
declare
  v_today date := (clock_timestamp() at time zone 'UTC')::date; v_table text; v_first date;
begin
  foreach v_table in array array['job', 'job_execution', 'job_cleaned', 'event_batch'] loop
    execute format('select least(%L::date, (select to_timestamp((''x'' || left(replace(x.id::text, ''-'', ''''), 12))::bit(48)::bigint / 1000.0) at time zone ''UTC''
      from (select %s as id from writ_data.%I order by 1 limit 1) x)::date)', v_today - 1,
      case v_table when 'event_batch' then 'batch_id' else 'job_id' end, case v_table when 'event_batch' then 'event_batch_old' else 'job_old' end) into v_first;
    for v_day in 0 .. v_today + 14 - v_first loop
      perform writ_data.make_partition(v_table, v_first + v_day);
    end loop;
  end loop;
end $$;

-- What can be claimed --------------------------------------------------------------------------------------------

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
comment on table writ_data.lane is 'Where jobs of one kind, tenant, limit key and priority stand in line. Made by the first job, removed some minutes after the last. There may be two of a name for a while: nobody waits for another''s transaction to make one.';
comment on column writ_data.lane.alone is 'For jobs whose worker died in them: each runs with nothing beside it.';
comment on column writ_data.lane.head is 'No ready row of the lane stands before it.';
comment on column writ_data.lane.closing is '0: found empty. A transaction that has seen this mark stand: removed when every older one has ended.';
create index lane_by_name on writ_data.lane (job_kind, tenant_id, limit_key, priority desc, alone);
create index lane_by_key on writ_data.lane (job_kind, tenant_id, md5(limit_key), priority desc) where limit_key <> '';
create index lane_alone on writ_data.lane (job_kind) where alone;

alter table writ_data.job_ready rename to job_ready_old;
drop index writ_data.job_ready_claim, writ_data.job_ready_by_job, writ_data.job_ready_by_deadline;
create table writ_data.job_ready (
  lane_id      bigint not null,
  seq          bigint not null,
  part         integer not null,
  job_ids      uuid[] not null,
  attempts     smallint not null,
  execution_no smallint not null,
  deadline_at  timestamptz,
  moved        boolean not null default false,
  inputs       text[],
  max_attempts smallint,
  constraint ready_row_has_jobs check (cardinality(job_ids) between 1 and 100),
  constraint moved_jobs_stand_by_themselves check (not moved or cardinality(job_ids) = 1)
);
comment on table writ_data.job_ready is
  'What can be claimed now: the jobs that one call added to a lane, at most a hundred to a row. A claim deletes the row and writes a lease.';
comment on column writ_data.job_ready.max_attempts is
  'Set: the row carries all that a worker needs to know, with the inputs beside it, and a claim need not look the jobs up. Null: it has to.';
alter table writ_data.job_ready alter inputs set storage external;
comment on column writ_data.job_ready.moved is 'Came here after a delay, a retry or a release, and so not where its ready_seq says.';
create index job_ready_claim on writ_data.job_ready (lane_id, seq, part);
create index job_ready_by_deadline on writ_data.job_ready (deadline_at) where deadline_at is not null;
create index job_ready_moved on writ_data.job_ready ((job_ids[1])) where moved;

alter table writ_data.job_wait add column limit_key text, add column alone boolean not null default false;
alter table writ_data.job_lease add column limited boolean not null default false, add column alone boolean not null default false;
comment on column writ_data.job_lease.alone is 'Holds one job that is suspected of killing its worker; nothing runs beside it.';
comment on column writ_data.job_lease.limited is 'Counts in limit_hold.';

-- Limits and shares ------------------------------------------------------------------------------------------------

alter table writ_data.job_kind
  add column limit_concurrency integer, add column limit_rate double precision, add column limit_burst double precision,
  add constraint limit_is_positive check (limit_concurrency > 0 and limit_rate > 0 and limit_burst >= 1),
  add constraint rate_has_a_burst check ((limit_rate is null) = (limit_burst is null));
comment on column writ_data.job_kind.limit_concurrency is 'Jobs of one limit key that may be leased at a time.';
comment on column writ_data.job_kind.limit_rate is 'Jobs of one limit key that may start per second, after a burst of limit_burst.';

create table writ_data.limit_hold (
  lease_token uuid not null,
  job_kind    text not null,
  limit_key   text not null,
  open_jobs   integer not null,
  primary key (lease_token, job_kind, limit_key),
  constraint open_jobs_are_counted check (open_jobs > 0)
);
comment on table writ_data.limit_hold is 'How many open jobs of a limited kind and key each lease holds.';
create index limit_hold_by_key on writ_data.limit_hold (job_kind, limit_key);

create table writ_data.limit_meter (
  job_kind  text not null,
  limit_key text not null,
  full_at   timestamptz not null,
  primary key (job_kind, limit_key)
) with (fillfactor = 50);
comment on table writ_data.limit_meter is 'When the burst of a rate-limited kind and key will be full again, if nothing more starts.';

create table writ_data.tenant_weight (
  tenant_id text primary key,
  weight    double precision not null,
  set_by    text not null,
  set_at    timestamptz not null,
  constraint weight_is_sensible check (weight between 0.01 and 100)
);
comment on table writ_data.tenant_weight is 'Shares of tenants that are not 1.';

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
comment on column writ_data.clockwork.ready_writers is 'Transactions that could still add ready rows at or below ready_seen.';

-- What was there comes over --------------------------------------------------------------------------------------

insert into writ_data.job (job_id, tenant_id, job_kind, event_domain, idempotency_key, source_ref, target_ref, payload_ref, input, safe_payload,
  payload_classification, executor, max_attempts, priority, process_after, deadline_at, correlation_id, causation_event_id, parent_job_id, workflow_id,
  enqueued_by, enqueued_at, source_system)
select j.job_id, j.tenant_id, j.job_kind, j.event_domain, j.idempotency_key, j.source_ref, j.target_ref, j.payload_ref, p.body::json, j.safe_payload,
  j.payload_classification, j.executor, j.max_attempts, j.priority, j.process_after, j.deadline_at, j.correlation_id, j.causation_event_id, j.parent_job_id, j.workflow_id,
  j.enqueued_by, j.enqueued_at, j.source_system
from writ_data.job_old j left join writ_data.payload p on p.tenant_id = j.tenant_id and p.sha256 = j.payload_sha256;

insert into writ_data.job_execution (job_id, execution_no, attempt, lease_token, lease_owner, status, abort_kind, final, started_at, committed_at,
  finished_at, result, result_ref, error_code, error_message)
select e.job_id, e.execution_no, e.attempt, e.lease_token, e.lease_owner, e.status, e.abort_kind, e.final, e.started_at, e.committed_at,
  e.finished_at, p.body::json, e.result_ref, e.error_code, e.error_message
from writ_data.job_execution_old e left join writ_data.job_old j using (job_id)
left join writ_data.payload p on p.tenant_id = j.tenant_id and p.sha256 = e.result_sha256;

insert into writ_data.job_cleaned select * from writ_data.job_cleaned_old;
insert into writ_data.event_batch select * from writ_data.event_batch_old;
insert into writ_data.lane (job_kind, tenant_id, priority) select distinct job_kind, tenant_id, priority from writ_data.job_ready_old;
insert into writ_data.job_ready (lane_id, seq, part, job_ids, attempts, execution_no, deadline_at, moved)
select l.lane_id, r.seq, 0, array[r.job_id], r.attempts, r.execution_no, r.deadline_at, true
from writ_data.job_ready_old r join writ_data.lane l using (job_kind, tenant_id, priority);
drop table writ_data.job_old, writ_data.job_execution_old, writ_data.job_cleaned_old, writ_data.event_batch_old, writ_data.job_ready_old, writ_data.payload;

-- Rows that are written once stay as they were written -----------------------------------------------------------

create trigger job_is_written_once before update on writ_data.job
  for each row execute function writ_data.refuse_change();
create trigger event_batch_is_written_once before update or delete on writ_data.event_batch
  for each row execute function writ_data.refuse_change();
create trigger job_cleaned_is_written_once before update or delete on writ_data.job_cleaned
  for each row execute function writ_data.refuse_change();

-- Settings ---------------------------------------------------------------------------------------------------------

update writ_data.dot_config set value = case value when '10' then '3' else value end,
  description = 'Crashes of its worker, with nothing running beside it, after which a job is quarantined as a dead letter.'
where key = 'queue.poison.crashes';
insert into writ_data.dot_config (key, value, minimum, maximum, whole, description) values
  ('queue.retention.dead_letter_sec', '31536000', 0,  3153600000, false, 'Age at which the sweep cleans dead letters that nobody has replayed.'),
  ('queue.retention.record_sec',      '7776000',  0,  3153600000, false, 'Age at which a day of the record (facts, commands) is dropped.'),
  ('queue.partition.days_ahead',      '14',       3,  365,        true,  'Days for which partitions are made in advance.');
