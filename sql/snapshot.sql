-- Written by `npm run snapshot`: the schema after all migrations, on any supported server. Do not edit, and do not run.

create schema writ; -- owner writ_owner
grant usage on schema writ to dot_executor;
grant usage on schema writ to workflow_admin;
grant usage on schema writ to writ_auditor;

create schema writ_data; -- owner writ_owner

create sequence writ_data.job_ready_seq; -- owner writ_owner

create table writ_data.dot_config ( -- owner writ_owner
  key text not null,
  value jsonb not null,
  minimum numeric,
  maximum numeric,
  whole boolean not null default false,
  description text not null,
  updated_at timestamp with time zone not null default clock_timestamp(),
  updated_by text not null default 'migration'::text,
  constraint dot_config_pkey PRIMARY KEY (key),
  constraint number_is_within_bounds CHECK (((jsonb_typeof(value) <> 'number'::text) OR ((((value)::numeric >= minimum) AND ((value)::numeric <= maximum)) AND ((NOT whole) OR (((value)::numeric % (1)::numeric) = (0)::numeric)))))
);

create table writ_data.event_batch ( -- owner writ_owner
  batch_id uuid not null,
  xid xid8 not null default pg_current_xact_id(),
  at timestamp with time zone not null,
  command text not null,
  actor text not null,
  types text[] not null,
  first integer[] not null,
  last integer[] not null,
  subjects uuid[] not null storage external,
  details jsonb,
  note text,
  constraint event_batch_pkey PRIMARY KEY (batch_id),
  constraint event_ranges_are_parallel CHECK (((cardinality(types) = cardinality(first)) AND (cardinality(types) = cardinality(last))))
);
CREATE INDEX event_batch_by_xid ON writ_data.event_batch USING btree (xid, batch_id);
CREATE TRIGGER event_batch_is_written_once BEFORE DELETE OR UPDATE ON writ_data.event_batch FOR EACH ROW EXECUTE FUNCTION writ_data.refuse_change();
comment on table writ_data.event_batch is 'One row per gate call that changed something. Who called what, shown by writ.command_run; and its facts, types[i] happened to subjects[first[i]..last[i]], shown one by one by writ.event_outbox.';

create table writ_data.event_type_registry ( -- owner writ_owner
  event_type text not null,
  event_domain text not null,
  event_stream text not null,
  event_severity text not null default 'info'::text,
  description text not null,
  constraint event_domain_is_known CHECK ((event_domain = ANY (ARRAY['iu'::text, 'birth_registry'::text, 'governance'::text, 'tac'::text, 'kg'::text, 'system'::text, 'dot'::text, 'health'::text, 'piece'::text]))),
  constraint event_severity_is_known CHECK ((event_severity = ANY (ARRAY['info'::text, 'warning'::text, 'critical'::text]))),
  constraint event_stream_is_known CHECK ((event_stream = ANY (ARRAY['comment'::text, 'review'::text, 'update'::text, 'birth'::text, 'task'::text, 'alert'::text, 'health'::text]))),
  constraint event_type_registry_pkey PRIMARY KEY (event_type)
);

create table writ_data.job ( -- owner writ_owner
  job_id uuid not null,
  tenant_id text not null,
  job_kind text not null,
  event_domain text not null,
  idempotency_key text,
  source_ref text,
  target_ref text,
  payload_ref text,
  payload_sha256 bytea,
  safe_payload jsonb,
  payload_classification text not null,
  executor text not null,
  max_attempts smallint not null,
  priority smallint not null,
  process_after timestamp with time zone not null,
  deadline_at timestamp with time zone,
  correlation_id text,
  causation_event_id uuid,
  parent_job_id uuid,
  workflow_id uuid,
  enqueued_by text not null,
  enqueued_at timestamp with time zone not null,
  source_system text not null,
  constraint enqueued_by_is_not_blank CHECK ((btrim(enqueued_by) <> ''::text)),
  constraint executor_is_whitelisted CHECK ((executor = ANY (ARRAY['DOT'::text, 'Agent'::text, 'Hermes'::text, 'Codex'::text, 'PG_worker'::text, 'external_worker'::text, 'future_Kestra_adapter'::text]))),
  constraint input_is_stored_or_referenced CHECK (((payload_ref IS NULL) OR (payload_sha256 IS NULL))),
  constraint job_pkey PRIMARY KEY (job_id),
  constraint max_attempts_is_positive CHECK ((max_attempts > 0)),
  constraint payload_classification_is_known CHECK ((payload_classification = ANY (ARRAY['safe_metadata'::text, 'restricted'::text]))),
  constraint source_system_is_not_blank CHECK ((btrim(source_system) <> ''::text)),
  constraint tenant_is_not_blank CHECK ((tenant_id <> ''::text))
);
CREATE INDEX job_by_correlation ON writ_data.job USING btree (correlation_id) WHERE (correlation_id IS NOT NULL);
CREATE INDEX job_by_parent ON writ_data.job USING btree (parent_job_id) WHERE (parent_job_id IS NOT NULL);
CREATE INDEX job_by_workflow ON writ_data.job USING btree (workflow_id) WHERE (workflow_id IS NOT NULL);
CREATE TRIGGER job_is_written_once BEFORE UPDATE ON writ_data.job FOR EACH ROW EXECUTE FUNCTION writ_data.refuse_change();
comment on column writ_data.job.idempotency_key is 'Null: nobody gave one, and the job answers to its own id.';
comment on column writ_data.job.safe_payload is 'Null: empty.';

create table writ_data.job_cancel ( -- owner writ_owner
  job_id uuid not null,
  requested_at timestamp with time zone not null,
  requested_by text not null,
  reason text,
  constraint job_cancel_pkey PRIMARY KEY (job_id)
);
comment on table writ_data.job_cancel is 'Requests to stop a job that a worker holds; whatever ends it next, except success, ends it as cancelled.';

create table writ_data.job_cleaned ( -- owner writ_owner
  job_id uuid not null,
  cleaned_at timestamp with time zone not null,
  was text not null,
  successor_job_id uuid,
  constraint dead_letter_has_successor CHECK (((was = 'dead_letter'::text) = (successor_job_id IS NOT NULL))),
  constraint job_cleaned_pkey PRIMARY KEY (job_id),
  constraint only_ended_jobs_are_cleaned CHECK ((was = ANY (ARRAY['succeeded'::text, 'cancelled'::text, 'dead_letter'::text])))
);
CREATE TRIGGER job_cleaned_is_written_once BEFORE DELETE OR UPDATE ON writ_data.job_cleaned FOR EACH ROW EXECUTE FUNCTION writ_data.refuse_change();

create table writ_data.job_execution ( -- owner writ_owner
  job_id uuid not null,
  execution_no smallint not null,
  attempt smallint not null,
  lease_token uuid,
  lease_owner text,
  status text not null,
  abort_kind text,
  final boolean not null default false,
  started_at timestamp with time zone,
  committed_at timestamp with time zone,
  finished_at timestamp with time zone,
  result_sha256 bytea,
  result_ref text,
  error_code text,
  error_message text,
  constraint abort_kind_is_known CHECK ((abort_kind = ANY (ARRAY['transient'::text, 'permanent'::text, 'lease_expired'::text, 'released'::text, 'cancelled'::text]))),
  constraint abort_kind_matches_status CHECK (((abort_kind IS NOT NULL) = (status = 'ABORTED'::text))),
  constraint committed_at_matches_status CHECK (((committed_at IS NOT NULL) = (status = ANY (ARRAY['COMMITTED'::text, 'DONE'::text])))),
  constraint execution_status_is_stored CHECK ((status = ANY (ARRAY['COMMITTED'::text, 'DONE'::text, 'ABORTED'::text]))),
  constraint final_means_aborted CHECK (((NOT final) OR (status = 'ABORTED'::text))),
  constraint finished_at_matches_status CHECK (((finished_at IS NOT NULL) = (status = ANY (ARRAY['DONE'::text, 'ABORTED'::text])))),
  constraint job_execution_pkey PRIMARY KEY (job_id, execution_no)
);
CREATE INDEX job_execution_dead_letter ON writ_data.job_execution USING btree (finished_at) WHERE (final AND (abort_kind <> 'cancelled'::text));
CREATE UNIQUE INDEX a_job_has_one_effect_or_one_end ON writ_data.job_execution USING btree (job_id) WHERE ((status = ANY (ARRAY['COMMITTED'::text, 'DONE'::text])) OR final);
CREATE TRIGGER execution_moves_legally BEFORE UPDATE ON writ_data.job_execution FOR EACH ROW WHEN ((((old.status || '>'::text) || new.status) <> 'COMMITTED>DONE'::text)) EXECUTE FUNCTION writ_data.refuse_change();
comment on table writ_data.job_execution is 'Executions that have reached their commit boundary or ended. Open ones are places in job_lease. Attempt 0: ended without ever being tried.';

create table writ_data.job_key ( -- owner writ_owner
  tenant_id text not null,
  job_kind text not null,
  idempotency_key text not null,
  job_id uuid not null,
  constraint job_key_pkey PRIMARY KEY (tenant_id, job_kind, idempotency_key)
);
comment on table writ_data.job_key is 'Which job a key stands for, for as long as the job is retained.';

create table writ_data.job_kind ( -- owner writ_owner
  job_kind text not null,
  event_domain text not null default 'dot'::text,
  executor text not null default 'external_worker'::text,
  source_system text not null default 'writ'::text,
  max_attempts smallint,
  backoff_base_s double precision,
  backoff_cap_s double precision,
  timeout_s double precision,
  registered_by text not null,
  registered_at timestamp with time zone not null default clock_timestamp(),
  constraint backoff_is_not_negative CHECK (((backoff_base_s >= (0)::double precision) AND (backoff_cap_s >= (0)::double precision))),
  constraint event_domain_is_known CHECK ((event_domain = ANY (ARRAY['iu'::text, 'birth_registry'::text, 'governance'::text, 'tac'::text, 'kg'::text, 'system'::text, 'dot'::text, 'health'::text, 'piece'::text]))),
  constraint executor_is_whitelisted CHECK ((executor = ANY (ARRAY['DOT'::text, 'Agent'::text, 'Hermes'::text, 'Codex'::text, 'PG_worker'::text, 'external_worker'::text, 'future_Kestra_adapter'::text]))),
  constraint job_kind_is_a_name CHECK ((job_kind ~ '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$'::text)),
  constraint job_kind_pkey PRIMARY KEY (job_kind),
  constraint max_attempts_is_positive CHECK ((max_attempts > 0)),
  constraint source_system_is_not_blank CHECK ((btrim(source_system) <> ''::text)),
  constraint timeout_is_positive CHECK ((timeout_s > (0)::double precision))
);

create table writ_data.job_lease ( -- owner writ_owner
  lease_token uuid not null,
  lease_name text,
  holder text not null,
  claimed_at timestamp with time zone not null,
  leased_until timestamp with time zone not null,
  ttl_s double precision not null,
  timeout_s double precision not null,
  job_ids uuid[] not null storage external,
  attempts smallint[] not null,
  execution_nos smallint[] not null,
  start_upto integer[] not null default '{}'::integer[],
  start_at timestamp with time zone[] not null default '{}'::timestamp with time zone[],
  open_jobs integer not null,
  ended_early integer not null default 0,
  constraint holder_is_not_blank CHECK ((btrim(holder) <> ''::text)),
  constraint job_lease_pkey PRIMARY KEY (lease_token),
  constraint lease_arrays_are_parallel CHECK (((cardinality(attempts) = cardinality(job_ids)) AND (cardinality(execution_nos) = cardinality(job_ids)))),
  constraint open_jobs_are_of_the_lease CHECK (((open_jobs >= 0) AND (open_jobs <= cardinality(job_ids)))),
  constraint start_marks_are_parallel CHECK ((cardinality(start_upto) = cardinality(start_at)))
);
CREATE INDEX job_lease_by_expiry ON writ_data.job_lease USING btree (leased_until);
comment on table writ_data.job_lease is 'One row per claimed batch. Jobs 1..n are LEASED; those up to the last element of start_upto are IN_PROGRESS since the time beside it.';
comment on column writ_data.job_lease.ended_early is 'Jobs that ended without having been started; a later start mark passes over them.';

create table writ_data.job_ready ( -- owner writ_owner
  job_kind text not null,
  tenant_id text not null,
  priority smallint not null,
  seq bigint not null,
  job_id uuid not null,
  attempts smallint not null,
  execution_no smallint not null,
  deadline_at timestamp with time zone
);
CREATE INDEX job_ready_by_deadline ON writ_data.job_ready USING btree (deadline_at) WHERE (deadline_at IS NOT NULL);
CREATE INDEX job_ready_by_job ON writ_data.job_ready USING btree (job_id);
CREATE INDEX job_ready_claim ON writ_data.job_ready USING btree (job_kind, priority DESC, seq);
comment on table writ_data.job_ready is 'What can be claimed now. A claim deletes the row and writes a lease.';

create table writ_data.job_wait ( -- owner writ_owner
  due_at timestamp with time zone not null,
  job_kind text not null,
  tenant_id text not null,
  priority smallint not null,
  job_id uuid not null,
  attempts smallint not null,
  execution_no smallint not null,
  deadline_at timestamp with time zone,
  reason text not null,
  constraint job_wait_pkey PRIMARY KEY (job_id),
  constraint wait_reason_is_known CHECK ((reason = ANY (ARRAY['delay'::text, 'retry'::text])))
);
CREATE INDEX job_wait_by_deadline ON writ_data.job_wait USING btree (deadline_at) WHERE (deadline_at IS NOT NULL);
CREATE INDEX job_wait_by_due ON writ_data.job_wait USING btree (due_at);
comment on table writ_data.job_wait is 'What can be claimed later: delayed jobs and retries, promoted when due.';

create table writ_data.job_workflow ( -- owner writ_owner
  workflow_id uuid not null,
  tenant_id text not null,
  workflow_kind text not null,
  generator text not null,
  status text not null default 'active'::text,
  correlation_id text,
  enqueued_by text not null,
  enqueued_at timestamp with time zone not null default clock_timestamp(),
  finished_at timestamp with time zone,
  constraint job_workflow_pkey PRIMARY KEY (workflow_id),
  constraint workflow_status_is_known CHECK ((status = ANY (ARRAY['active'::text, 'succeeded'::text, 'failed'::text, 'partially_failed'::text, 'cancelled'::text])))
);

create table writ_data.payload ( -- owner writ_owner
  tenant_id text not null,
  sha256 bytea not null,
  body text not null,
  created_at timestamp with time zone not null default clock_timestamp(),
  constraint payload_pkey PRIMARY KEY (tenant_id, sha256)
);
comment on table writ_data.payload is 'Inputs and results by content. A job carries the hash, never the body.';

create table writ_data.queue_worker ( -- owner writ_owner
  executor_id text not null,
  executor_kind text not null,
  domain_scope text[] not null,
  kinds text[] not null,
  last_beat_at timestamp with time zone not null,
  expected_cadence_seconds integer not null,
  idle_until timestamp with time zone,
  silent_since timestamp with time zone,
  details jsonb not null default '{}'::jsonb,
  constraint executor_is_whitelisted CHECK ((executor_kind = ANY (ARRAY['DOT'::text, 'Agent'::text, 'Hermes'::text, 'Codex'::text, 'PG_worker'::text, 'external_worker'::text, 'future_Kestra_adapter'::text]))),
  constraint queue_worker_pkey PRIMARY KEY (executor_id)
) with (fillfactor=50);
comment on table writ_data.queue_worker is 'Heartbeats of workers, and which of them wait for a wake-up.';

create table writ_data.schema_migration ( -- owner writ_owner
  version integer not null,
  name text not null,
  sha256 text not null,
  breaking boolean not null,
  applied_at timestamp with time zone not null default clock_timestamp(),
  constraint schema_migration_pkey PRIMARY KEY (version)
);

create table writ_data.schema_object ( -- owner writ_owner
  name text not null,
  sha256 text not null,
  applied_at timestamp with time zone not null default clock_timestamp(),
  constraint schema_object_pkey PRIMARY KEY (name)
);

-- view writ.command_run; owner writ_owner; source 15d0ae3e6480f7462f4a8a9e5a8e341e74da9a90fc30ae7f308fa39de0ac9229
--   run_id uuid
--   at timestamp with time zone
--   command text
--   actor text
--   jobs integer
--   note text
grant select on writ.command_run to dot_executor;
grant select on writ.command_run to workflow_admin;
grant select on writ.command_run to writ_auditor;

-- view writ.dot_config; owner writ_owner; source 2d7779c7e4438169dae1af64869487f9823f1d0fa9df8730293b816908751b8a
--   key text
--   value jsonb
--   minimum numeric
--   maximum numeric
--   whole boolean
--   description text
--   updated_at timestamp with time zone
--   updated_by text
grant select on writ.dot_config to dot_executor;
grant select on writ.dot_config to workflow_admin;
grant select on writ.dot_config to writ_auditor;

-- view writ.event_outbox; owner writ_owner; source db43c4ad0c0da3b278b926ccf6f5e8456f0aac1f80f471b088beea8e5ea2c891
--   id uuid
--   event_domain text
--   event_type text
--   event_stream text
--   delivery_lane text
--   event_severity text
--   event_subject_table text
--   event_subject_ref text
--   canonical_address text
--   actor_ref text
--   source_system text
--   correlation_id text
--   payload_classification text
--   safe_payload jsonb
--   occurred_at timestamp with time zone
--   created_at timestamp with time zone
--   tenant_id text
--   xid xid8
grant select on writ.event_outbox to dot_executor;
grant select on writ.event_outbox to workflow_admin;
grant select on writ.event_outbox to writ_auditor;

-- view writ.event_type_registry; owner writ_owner; source 386ab2261ac096b289a8acc455f2f247f9be3e185b60cec4c2c47b0c5a4bb2f3
--   event_type text
--   event_domain text
--   event_stream text
--   event_severity text
--   description text
grant select on writ.event_type_registry to dot_executor;
grant select on writ.event_type_registry to workflow_admin;
grant select on writ.event_type_registry to writ_auditor;

-- view writ.job_execution; owner writ_owner; source 837610a538a5821c492e45b82cab163abb774f2bef00e0023a2a60a016af9126
--   exec_id text
--   job_id uuid
--   execution_no integer
--   attempt integer
--   status text
--   abort_kind text
--   final boolean
--   lease_token uuid
--   lease_owner text
--   lease_expires_at timestamp with time zone
--   started_at timestamp with time zone
--   committed_at timestamp with time zone
--   finished_at timestamp with time zone
--   result_ref text
--   error_code text
--   error_message text
grant select on writ.job_execution to dot_executor;
grant select on writ.job_execution to workflow_admin;
grant select on writ.job_execution to writ_auditor;

-- view writ.job_kind; owner writ_owner; source fa9a620461511512994d23723b6fe0ef42a8154d4ce1732b20ef03f2961dbabd
--   job_kind text
--   event_domain text
--   executor text
--   source_system text
--   max_attempts smallint
--   backoff_base_s double precision
--   backoff_cap_s double precision
--   timeout_s double precision
--   registered_by text
--   registered_at timestamp with time zone
grant select on writ.job_kind to dot_executor;
grant select on writ.job_kind to workflow_admin;
grant select on writ.job_kind to writ_auditor;

-- view writ.job_queue; owner writ_owner; source afc7798234ec7ca4e38c3e77b54675312df21f625ea9c071bb995e582c0923a6
--   job_id uuid
--   tenant_id text
--   job_kind text
--   event_domain text
--   idempotency_key text
--   source_ref text
--   target_ref text
--   payload_ref text
--   safe_payload jsonb
--   payload_classification text
--   executor text
--   status text
--   attempts integer
--   max_attempts integer
--   last_error text
--   last_error_code text
--   last_error_at timestamp with time zone
--   lease_name text
--   lease_holder text
--   lease_token uuid
--   leased_until timestamp with time zone
--   process_after timestamp with time zone
--   deadline_at timestamp with time zone
--   priority smallint
--   correlation_id text
--   causation_event_id uuid
--   parent_job_id uuid
--   workflow_id uuid
--   enqueued_by text
--   enqueued_at timestamp with time zone
--   started_at timestamp with time zone
--   finished_at timestamp with time zone
--   source_system text
--   result_ref text
--   cancel_requested_at timestamp with time zone
grant select on writ.job_queue to dot_executor;
grant select on writ.job_queue to workflow_admin;
grant select on writ.job_queue to writ_auditor;

-- view writ.job_workflow; owner writ_owner; source b996f66595895e4f4e102d2c3111c7a37fabab3009a06560ba78cdacdf1ae021
--   workflow_id uuid
--   tenant_id text
--   workflow_kind text
--   generator text
--   status text
--   correlation_id text
--   enqueued_by text
--   enqueued_at timestamp with time zone
--   finished_at timestamp with time zone
grant select on writ.job_workflow to dot_executor;
grant select on writ.job_workflow to workflow_admin;
grant select on writ.job_workflow to writ_auditor;

-- view writ.v_job_queue_backlog; owner writ_owner; source f45d3de1b28ff14d3b62baaab28d9ac8559d2f1852b1c6406ad600c8cac7dbdf
--   job_kind text
--   backlog bigint
grant select on writ.v_job_queue_backlog to dot_executor;
grant select on writ.v_job_queue_backlog to workflow_admin;
grant select on writ.v_job_queue_backlog to writ_auditor;

-- view writ.v_job_queue_dead_letter_open; owner writ_owner; source df952d12a504e4ce5b1ec40f6ac0123797b1fc6b56fe624851c66bb72bafeb97
--   job_id uuid
--   tenant_id text
--   job_kind text
--   event_domain text
--   idempotency_key text
--   source_ref text
--   target_ref text
--   payload_ref text
--   safe_payload jsonb
--   payload_classification text
--   executor text
--   status text
--   attempts integer
--   max_attempts integer
--   last_error text
--   last_error_code text
--   last_error_at timestamp with time zone
--   lease_name text
--   lease_holder text
--   lease_token uuid
--   leased_until timestamp with time zone
--   process_after timestamp with time zone
--   deadline_at timestamp with time zone
--   priority smallint
--   correlation_id text
--   causation_event_id uuid
--   parent_job_id uuid
--   workflow_id uuid
--   enqueued_by text
--   enqueued_at timestamp with time zone
--   started_at timestamp with time zone
--   finished_at timestamp with time zone
--   source_system text
--   result_ref text
--   cancel_requested_at timestamp with time zone
grant select on writ.v_job_queue_dead_letter_open to dot_executor;
grant select on writ.v_job_queue_dead_letter_open to workflow_admin;
grant select on writ.v_job_queue_dead_letter_open to writ_auditor;

-- view writ.v_job_queue_in_progress; owner writ_owner; source 2c7ec621f8422d20d773c0b0347fce527325b843245e40e9ea9ecb10e0579729
--   job_kind text
--   in_progress bigint
grant select on writ.v_job_queue_in_progress to dot_executor;
grant select on writ.v_job_queue_in_progress to workflow_admin;
grant select on writ.v_job_queue_in_progress to writ_auditor;

-- view writ.v_job_state; owner writ_owner; source 5578977091b65e31ab19f75ae5fd1fe7566cec5fea109c1134c1ba30e83a8327
--   job_id uuid
--   tenant_id text
--   state text
--   attempt integer
--   created_at timestamp with time zone
--   updated_at timestamp with time zone
grant select on writ.v_job_state to dot_executor;
grant select on writ.v_job_state to workflow_admin;
grant select on writ.v_job_state to writ_auditor;

-- view writ.v_queue_heartbeat; owner writ_owner; source 0851230052a5d1c866520269087cc4cf025813a4843990cdf16405ca7ab27d8a
--   executor_id text
--   executor_kind text
--   domain_scope text[]
--   kinds text[]
--   last_beat_at timestamp with time zone
--   expected_cadence_seconds integer
--   details jsonb
--   idle_until timestamp with time zone
--   freshness text
grant select on writ.v_queue_heartbeat to dot_executor;
grant select on writ.v_queue_heartbeat to workflow_admin;
grant select on writ.v_queue_heartbeat to writ_auditor;

-- function writ.fn_job_abort_many(p_lease_token uuid, p_positions integer[], p_abort_kinds text[], p_codes text[], p_messages text[], p_start_upto integer DEFAULT 0, p_actor text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body d384cf3e473139b1aed96f219d326027
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_abort_many(uuid,integer[],text[],text[],text[],integer,text) to dot_executor;
grant execute on function writ.fn_job_abort_many(uuid,integer[],text[],text[],text[],integer,text) to workflow_admin;

-- function writ.fn_job_cancel(p_job_id uuid, p_reason text, p_actor text, p_tenant_id text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 67f77e6b0f6d1f21e95d31d1b03362bf
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_cancel(uuid,text,text,text) to workflow_admin;

-- function writ.fn_job_claim(p_kind text, p_executor text, p_lease_name text, p_lease_holder text, p_lease_ttl_seconds integer, p_limit integer DEFAULT 1) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body cc90fcae6153ee86d706b9d5030157a8
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_claim(text,text,text,text,integer,integer) to dot_executor;
grant execute on function writ.fn_job_claim(text,text,text,text,integer,integer) to workflow_admin;

-- function writ.fn_job_claim_many(p_kinds text[], p_executor text, p_lease_holder text, p_lease_ttl_seconds double precision DEFAULT NULL::double precision, p_limit integer DEFAULT 1, p_start integer DEFAULT 0, p_lease_name text DEFAULT NULL::text, p_durable boolean DEFAULT true, p_lease_token uuid DEFAULT NULL::uuid) returns json
--   plpgsql, volatile, security definer; owner writ_owner; body d011d9bba207077594a7291b2594ef10
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
--   set plan_cache_mode=force_generic_plan
grant execute on function writ.fn_job_claim_many(text[],text,text,double precision,integer,integer,text,boolean,uuid) to dot_executor;
grant execute on function writ.fn_job_claim_many(text[],text,text,double precision,integer,integer,text,boolean,uuid) to workflow_admin;

-- function writ.fn_job_cleanup_sweep(p_limit integer DEFAULT 10000, p_actor text DEFAULT 'sweep'::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body a257a7ee64c14bee49a2e0f1cabd8db9
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_cleanup_sweep(integer,text) to workflow_admin;

-- function writ.fn_job_commit(p_job_id uuid, p_lease_token uuid, p_actor text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body f83c2380476a5006eb89f79898051ac9
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_job_commit(uuid,uuid,text) to dot_executor;
grant execute on function writ.fn_job_commit(uuid,uuid,text) to workflow_admin;

-- function writ.fn_job_commit_status(p_job_id uuid, p_lease_token uuid, p_xid text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 558f8aadd72dfaaca14abcbfd2628be6
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_commit_status(uuid,uuid,text) to dot_executor;
grant execute on function writ.fn_job_commit_status(uuid,uuid,text) to workflow_admin;
grant execute on function writ.fn_job_commit_status(uuid,uuid,text) to writ_auditor;

-- function writ.fn_job_dead_letter_replay(p_job_id uuid, p_triage text, p_actor text, p_tenant_id text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 21a9b9dfb750d7240cbf1728a7e95dba
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_dead_letter_replay(uuid,text,text,text) to workflow_admin;

-- function writ.fn_job_enqueue(p_kind text, p_idempotency_key text, p_executor text, p_source_ref text, p_target_ref text, p_payload_ref text, p_safe_payload jsonb, p_priority integer, p_process_after timestamp with time zone, p_deadline_at timestamp with time zone, p_correlation_id text, p_causation_event_id uuid, p_actor text, p_tenant_id text DEFAULT 'default'::text, p_input jsonb DEFAULT NULL::jsonb, p_max_attempts integer DEFAULT NULL::integer, p_parent_job_id uuid DEFAULT NULL::uuid, p_workflow_id uuid DEFAULT NULL::uuid) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 718a3e7648b34f794c0757dafb706cf9
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_enqueue(text,text,text,text,text,text,jsonb,integer,timestamp with time zone,timestamp with time zone,text,uuid,text,text,jsonb,integer,uuid,uuid) to dot_executor;
grant execute on function writ.fn_job_enqueue(text,text,text,text,text,text,jsonb,integer,timestamp with time zone,timestamp with time zone,text,uuid,text,text,jsonb,integer,uuid,uuid) to workflow_admin;

-- function writ.fn_job_enqueue_many(p_jobs jsonb, p_actor text, p_tenant_id text DEFAULT 'default'::text, p_atomic boolean DEFAULT false) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 428f3ed3210abfa88399bd0e99aefa4d
--   set search_path=pg_catalog, pg_temp
--   set enable_nestloop=off
--   set plan_cache_mode=force_generic_plan
grant execute on function writ.fn_job_enqueue_many(jsonb,text,text,boolean) to dot_executor;
grant execute on function writ.fn_job_enqueue_many(jsonb,text,text,boolean) to workflow_admin;

-- function writ.fn_job_events(p_job_id uuid, p_tenant_id text DEFAULT NULL::text) returns jsonb
--   sql, volatile, security definer; owner writ_owner; body 710e5b6a27f0a1a750071d3081dd9f0f
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_events(uuid,text) to dot_executor;
grant execute on function writ.fn_job_events(uuid,text) to workflow_admin;
grant execute on function writ.fn_job_events(uuid,text) to writ_auditor;

-- function writ.fn_job_fail_permanent(p_job_id uuid, p_lease_token uuid, p_error_code text, p_error_message text, p_actor text) returns jsonb
--   sql, volatile, security definer; owner writ_owner; body c07c6b9a5e0a703d7c59f538c35b5916
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_fail_permanent(uuid,uuid,text,text,text) to dot_executor;
grant execute on function writ.fn_job_fail_permanent(uuid,uuid,text,text,text) to workflow_admin;

-- function writ.fn_job_fail_transient(p_job_id uuid, p_lease_token uuid, p_error_code text, p_error_message text, p_actor text) returns jsonb
--   sql, volatile, security definer; owner writ_owner; body ff6c544ce1f47c76cd92913dba04a609
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_fail_transient(uuid,uuid,text,text,text) to dot_executor;
grant execute on function writ.fn_job_fail_transient(uuid,uuid,text,text,text) to workflow_admin;

-- function writ.fn_job_kind_register(p_kind text, p_definition jsonb, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 5d2801a9138b62988bfa4f6204910164
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_kind_register(text,jsonb,text) to dot_executor;
grant execute on function writ.fn_job_kind_register(text,jsonb,text) to workflow_admin;

-- function writ.fn_job_lease_reaper(p_actor text DEFAULT 'reaper'::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 8cd3aa11dbd47e4e8f9c5e47f0951e0e
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_lease_reaper(text) to dot_executor;
grant execute on function writ.fn_job_lease_reaper(text) to workflow_admin;

-- function writ.fn_job_progress(p_job_id uuid, p_status_signal_only text, p_lease_token uuid, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body c1cb7b78778a43f9fcc50228b87ba67e
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_progress(uuid,text,uuid,text) to dot_executor;
grant execute on function writ.fn_job_progress(uuid,text,uuid,text) to workflow_admin;

-- function writ.fn_job_queue_health(p_kinds text[] DEFAULT NULL::text[]) returns jsonb
--   sql, volatile, security definer; owner writ_owner; body 1996dd9c4ab29a577989a396cd122c17
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_queue_health(text[]) to dot_executor;
grant execute on function writ.fn_job_queue_health(text[]) to workflow_admin;
grant execute on function writ.fn_job_queue_health(text[]) to writ_auditor;

-- function writ.fn_job_release(p_job_id uuid, p_lease_token uuid, p_actor text) returns jsonb
--   sql, volatile, security definer; owner writ_owner; body 695023edbe25095fac62990f5f8b91a3
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_release(uuid,uuid,text) to dot_executor;
grant execute on function writ.fn_job_release(uuid,uuid,text) to workflow_admin;

-- function writ.fn_job_renew_many(p_lease_tokens uuid[], p_lease_ttl_seconds double precision, p_actor text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body bde7a4c201c28d97f08499c2bcea3bd5
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_renew_many(uuid[],double precision,text) to dot_executor;
grant execute on function writ.fn_job_renew_many(uuid[],double precision,text) to workflow_admin;

-- function writ.fn_job_start_many(p_lease_token uuid, p_upto integer, p_actor text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 8155c1791d6fb83dc736ff658b7d4a18
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_start_many(uuid,integer,text) to dot_executor;
grant execute on function writ.fn_job_start_many(uuid,integer,text) to workflow_admin;

-- function writ.fn_job_succeed(p_job_id uuid, p_lease_token uuid, p_result_ref text, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 154d81ba340305cc6c7d721a861ffa0d
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_succeed(uuid,uuid,text,text) to dot_executor;
grant execute on function writ.fn_job_succeed(uuid,uuid,text,text) to workflow_admin;

-- function writ.fn_job_succeed_many(p_lease_token uuid, p_positions integer[], p_results text[] DEFAULT NULL::text[], p_start_upto integer DEFAULT 0, p_actor text DEFAULT NULL::text, p_result_refs text[] DEFAULT NULL::text[]) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 1551d3d20c25a42c3e151e45af72ae69
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
--   set plan_cache_mode=force_generic_plan
grant execute on function writ.fn_job_succeed_many(uuid,integer[],text[],integer,text,text[]) to dot_executor;
grant execute on function writ.fn_job_succeed_many(uuid,integer[],text[],integer,text,text[]) to workflow_admin;

-- function writ.fn_job_tick(p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 44fc79dbe7ea529c4b3a23ec047ee8ec
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_job_tick(text) to dot_executor;
grant execute on function writ.fn_job_tick(text) to workflow_admin;

-- function writ.fn_lease_release(p_lease_token uuid, p_actor text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 8daf043b0525fdd021587cd97543d960
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_lease_release(uuid,text) to dot_executor;
grant execute on function writ.fn_lease_release(uuid,text) to workflow_admin;

-- function writ.fn_payload_read(p_ref text, p_tenant_id text) returns json
--   sql, volatile, security definer; owner writ_owner; body 6eab7df5456b6cd869ae8ba75b6bbc18
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_payload_read(text,text) to dot_executor;
grant execute on function writ.fn_payload_read(text,text) to workflow_admin;

-- function writ.fn_queue_heartbeat(p_executor_id text, p_executor_kind text, p_domain_scope text[], p_cadence_seconds integer, p_kinds text[] DEFAULT '{}'::text[], p_idle_seconds double precision DEFAULT NULL::double precision, p_details jsonb DEFAULT '{}'::jsonb) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 453d51a846da223cf2b40a9854538056
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_queue_heartbeat(text,text,text[],integer,text[],double precision,jsonb) to dot_executor;
grant execute on function writ.fn_queue_heartbeat(text,text,text[],integer,text[],double precision,jsonb) to workflow_admin;

-- function writ.fn_queue_worker_leave(p_executor_id text) returns jsonb
--   sql, volatile, security definer; owner writ_owner; body d520dc1aa48cca6c85368fd04d096e60
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_queue_worker_leave(text) to dot_executor;
grant execute on function writ.fn_queue_worker_leave(text) to workflow_admin;

-- function writ.fn_setting_set(p_key text, p_value jsonb, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body e279bf35f123c4b7d1bd0fa914249d42
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_setting_set(text,jsonb,text) to workflow_admin;

-- function writ.now() returns timestamp with time zone
--   sql, volatile; owner writ_owner; body 7fcedcdc154870f37b2342abd6689066
grant execute on function writ.now() to dot_executor;
grant execute on function writ.now() to workflow_admin;
grant execute on function writ.now() to writ_auditor;

-- function writ_data.abort(p_lease writ_data.job_lease, p_positions integer[], p_abort_kinds text[], p_codes text[], p_messages text[], p_at timestamp with time zone, OUT jobs uuid[], OUT counts integer[], OUT early integer) returns record
--   plpgsql, volatile; owner writ_owner; body 50960e8d256e0802da62a449201ddd2f
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.abort_one(p_job_id uuid, p_lease_token uuid, p_abort_kind text, p_error_code text, p_error_message text, p_actor text) returns jsonb
--   plpgsql, volatile; owner writ_owner; body bc5d457d0a2460260f181e38337751f9

-- function writ_data.end_unleased(p_job_ids uuid[], p_attempts smallint[], p_execution_nos smallint[], p_error_code text, p_error_message text, p_at timestamp with time zone) returns uuid[]
--   plpgsql, volatile; owner writ_owner; body f74bdeb1a4cab24749caf8521e051883

-- function writ_data.enqueue_each(p_jobs jsonb, p_actor text, p_tenant_id text, p_atomic boolean) returns jsonb
--   plpgsql, volatile; owner writ_owner; body 169122df81424dd33979ba44f72046d3

-- function writ_data.forbidden_key(p_document jsonb) returns text
--   sql, immutable; owner writ_owner; body 4e8733d2462024bfbe36c38ccafdb97f

-- function writ_data.lease_position(p_lease_token uuid, p_job_id uuid) returns integer
--   sql, stable; owner writ_owner; body 3fdbe83fab1709f9ad8c0a5a0316aa7c

-- function writ_data.lock_lease(p_lease_token uuid, p_to_remove boolean) returns writ_data.job_lease
--   plpgsql, volatile; owner writ_owner; body b4cd43c76aa1896c9aee4ebd661535be

-- function writ_data.record(p_command text, p_actor text, p_at timestamp with time zone, p_subjects uuid[], p_types text[], p_first integer[], p_last integer[], p_details jsonb DEFAULT NULL::jsonb, p_note text DEFAULT NULL::text) returns void
--   plpgsql, volatile; owner writ_owner; body f1e2a41930e61c66a4a0f0fdedbbbf70

-- function writ_data.record_abort(p_command text, p_actor text, p_at timestamp with time zone, p_jobs uuid[], p_counts integer[], p_started uuid[] DEFAULT '{}'::uuid[], p_details jsonb DEFAULT NULL::jsonb) returns void
--   plpgsql, volatile; owner writ_owner; body 04bf9a55e727f219f10cc8162bb4e9aa

-- function writ_data.refusal(p_reason text, p_detail text DEFAULT NULL::text) returns jsonb
--   sql, immutable; owner writ_owner; body 58b4b7c68bc7725ad8502a197dc40c80

-- function writ_data.refuse_change() returns trigger
--   plpgsql, volatile; owner writ_owner; body 03ed4ba5c3cb16733613e6abf4b3266c
--   set search_path=pg_catalog, pg_temp

-- function writ_data.setting(p_key text) returns jsonb
--   sql, stable; owner writ_owner; body 3c6b41b0fe305b59d7791f95f7979f9d

-- function writ_data.settle_lease(p_lease writ_data.job_lease, p_may_remove boolean, p_ended integer, p_early integer, p_start_upto integer, p_at timestamp with time zone, OUT started_upto integer, OUT started uuid[]) returns record
--   plpgsql, volatile; owner writ_owner; body e6be8c5a353bd0c3f6205f448a028536

-- function writ_data.started_upto(p_lease writ_data.job_lease) returns integer
--   sql, immutable; owner writ_owner; body 3c6a39a8dc646de15fa91a27e4b3503f

-- function writ_data.store_payload(p_tenants text[], p_bodies text[]) returns bytea[]
--   plpgsql, volatile; owner writ_owner; body 265074b272fd91dd51b3e60f7e45a48c

-- function writ_data.uuid_floor(p_at timestamp with time zone) returns uuid
--   sql, immutable; owner writ_owner; body afa7114d50b46e1a1477eefb9b508687

-- function writ_data.uuidv7() returns uuid
--   sql, volatile; owner writ_owner; body d56d9118ed39e6c31106baf180ace93f

-- function writ_data.visible(p_tenant_id text) returns boolean
--   sql, stable; owner writ_owner; body 26b0e8dd66e0b57b482f4e1735ea52bf

-- function writ_data.wake(p_kinds text[], p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body c207e1e68e401600236882c2f978b5af

-- function writ_data.workflow_known(p_workflow_id uuid, p_tenant_id text) returns boolean
--   plpgsql, stable; owner writ_owner; body 395f80d7be631d826271b611a5a89d83

-- settings
--   queue.dlq.replay_enabled = true
--   queue.heartbeat.stale_threshold_seconds = 300
--   queue.job_substrate.enabled = false
--   queue.lease.duration_sec = 300
--   queue.lease.reaper_batch = 100
--   queue.lease.reaper_enabled = true
--   queue.lease.timeout_sec = 900
--   queue.notify.enabled = true
--   queue.payload.max_bytes = 1048576
--   queue.poison.crashes = 10
--   queue.retention.finished_sec = 2592000
--   queue.retry.backoff_base_sec = 10
--   queue.retry.backoff_cap_sec = 3600
--   queue.retry.max_attempts_default = 5
--   queue.safe_payload.max_bytes = 8192
--   queue.worker.enabled = true
