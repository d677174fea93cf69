-- What surrounds the queue (specification 002): consumers, which turn facts into jobs; subscriptions, which limit what a worker claims; and
-- workflows, jobs that were emitted together.

-- Consumers --------------------------------------------------------------------------------------------------

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
  constraint subject_is_a_job check (event_type like 'dot.job.%' or subject_kind is null and subject_domain is null),
  constraint consumer_does_not_feed_itself check (subject_kind is null or subject_kind <> job_kind),
  constraint delay_is_not_negative check (delay_ms >= 0),
  constraint max_attempts_is_positive check (max_attempts > 0)
);
comment on table writ_data.consumer_registry is 'Which job follows from which fact. Null subject_kind or subject_domain: of all.';

create table writ_data.consumer_position (
  consumer text primary key references writ_data.consumer_registry on delete cascade,
  since    uuid not null,
  xid      xid8 not null,
  event_id uuid not null,
  moved_at timestamptz not null,
  refused  text
) with (fillfactor = 50);
comment on table writ_data.consumer_position is
  'How far each consumer has followed the log: every fact up to (xid, event_id) is behind it. Moves once per call, whatever the number of facts.';
comment on column writ_data.consumer_position.since is 'Facts recorded before this id are none of its business.';
comment on column writ_data.consumer_position.refused is 'Why the queue does not take its jobs; it stays where it is until that has changed.';

-- Subscriptions ----------------------------------------------------------------------------------------------

create table writ_data.job_subscription (
  executor_id    text not null,
  job_kind       text references writ_data.job_kind,
  event_domain   text,
  priority_floor smallint not null default -32768,
  put_by         text not null,
  put_at         timestamptz not null,
  constraint subscription_is_said_once unique nulls not distinct (executor_id, job_kind, event_domain),
  constraint executor_id_is_not_blank check (btrim(executor_id) <> ''),
  constraint event_domain_is_known check (event_domain in
    ('iu', 'birth_registry', 'governance', 'tac', 'kg', 'system', 'dot', 'health', 'piece'))
);
comment on table writ_data.job_subscription is
  'What a worker, by its name or its lease name, may claim: jobs that match any of its rows. No rows: no limit. Null kind or domain: all.';

-- Workflows --------------------------------------------------------------------------------------------------

-- A workflow's status follows from its jobs: stored, it would be a second truth, and a row to update when a job ends.
drop view if exists writ.job_workflow;
alter table writ_data.job_workflow drop column status, drop column finished_at,
  add column workflow_key text,
  add column job_ids uuid[] not null default '{}',
  add constraint workflow_kind_is_not_blank check (btrim(workflow_kind) <> ''),
  add constraint generator_is_named_as_one check (generator like 'MOT:_%');
comment on column writ_data.job_workflow.workflow_key is 'Null: the workflow answers to its id alone.';
comment on column writ_data.job_workflow.job_ids is 'The jobs that were emitted with it, in the order of the call. Replays and later jobs name the workflow themselves.';
create unique index job_workflow_key on writ_data.job_workflow (tenant_id, workflow_kind, workflow_key) where workflow_key is not null;
create trigger job_workflow_is_written_once before update on writ_data.job_workflow
  for each row execute function writ_data.refuse_change();

-- A generator makes jobs and never works on them. Its name says what it is, so that no claim has to look it up.
alter table writ_data.job_lease add constraint a_generator_never_leases check (holder not like 'MOT:%');
alter table writ_data.queue_worker add constraint a_generator_never_beats check (executor_id not like 'MOT:%');
