-- Written by `npm run snapshot`: the schema after all migrations, on any supported server. Do not edit, and do not run.

create schema writ; -- owner writ_owner
grant usage on schema writ to dot_executor;
grant usage on schema writ to workflow_admin;
grant usage on schema writ to writ_admin;
grant usage on schema writ to writ_applier;
grant usage on schema writ to writ_auditor;
grant usage on schema writ to writ_engine;
grant usage on schema writ to writ_principal;
grant usage on schema writ to writ_producer;
grant usage on schema writ to writ_server;
grant usage on schema writ to writ_signer;
grant usage on schema writ to writ_worker;

create schema writ_data; -- owner writ_owner

create sequence writ_data.job_ready_safe; -- owner writ_owner

create sequence writ_data.job_ready_seq; -- owner writ_owner

create sequence writ_data.lane_lane_id_seq; -- owner writ_owner

create sequence writ_data.ledger_checkpoint_checkpoint_no_seq; -- owner writ_owner

create sequence writ_data.ledger_key_key_no_seq; -- owner writ_owner

create sequence writ_data.ledger_restore_restore_no_seq; -- owner writ_owner

create sequence writ_data.plan_plan_no_seq; -- owner writ_owner

create sequence writ_data.receipt_no; -- owner writ_owner

create sequence writ_data.target_version; -- owner writ_owner

create sequence writ_data.undelivered_place_seq; -- owner writ_owner

create table writ_data.delivery ( -- owner writ_owner
  delivery_id uuid not null,
  destination text not null,
  tenant_id text,
  event_id uuid not null,
  attempt smallint not null,
  at timestamp with time zone not null,
  ms integer,
  ok boolean not null,
  status integer,
  reason text,
  constraint delivery_pkey PRIMARY KEY (delivery_id)
) partition by RANGE (delivery_id);
CREATE INDEX delivery_by_destination ON ONLY writ_data.delivery USING btree (destination, delivery_id);
CREATE INDEX delivery_refused ON ONLY writ_data.delivery USING btree (destination, delivery_id) WHERE (NOT ok);
comment on table writ_data.delivery is 'What was sent where, and what was answered.';
comment on column writ_data.delivery.tenant_id is 'Whose the destination was. Another tenant may have one of that name later.';

create table writ_data.event_batch ( -- owner writ_owner
  batch_id uuid not null,
  xid xid8 not null default pg_current_xact_id(),
  at timestamp with time zone not null,
  command text not null,
  actor text not null,
  login text not null default SESSION_USER,
  request_id text default "left"(NULLIF(current_setting('writ.request_id'::text, true), ''::text), 100),
  types text[] not null,
  first integer[] not null,
  last integer[] not null,
  subjects uuid[] not null storage external,
  details jsonb,
  note text,
  run_ids uuid[] storage external,
  run_seqs integer[],
  run_leaves bytea storage external,
  constraint actor_is_at_most_200_characters CHECK ((length(actor) <= 200)),
  constraint event_batch_pkey PRIMARY KEY (batch_id),
  constraint event_ranges_are_parallel CHECK (((cardinality(types) = cardinality(first)) AND (cardinality(types) = cardinality(last))))
) partition by RANGE (batch_id);
CREATE INDEX event_batch_by_xid ON ONLY writ_data.event_batch USING btree (xid, batch_id);
CREATE INDEX event_batch_of_runs ON ONLY writ_data.event_batch USING btree (xid, batch_id) WHERE (run_ids IS NOT NULL);
CREATE TRIGGER event_batch_is_written_once BEFORE DELETE OR UPDATE ON writ_data.event_batch FOR EACH ROW EXECUTE FUNCTION writ_data.refuse_change();
comment on table writ_data.event_batch is 'One row per gate call that changed something. Who called what, shown by writ.command_run; and its facts, types[i] happened to subjects[first[i]..last[i]], shown one by one by writ.event_outbox.';
comment on column writ_data.event_batch.actor is 'Who acts, as the caller says.';
comment on column writ_data.event_batch.login is 'The database login of the call. PostgreSQL has authenticated it; no gate takes it from a caller.';
comment on column writ_data.event_batch.request_id is 'The request that the call was made for, as the caller says; null: none.';
comment on column writ_data.event_batch.run_leaves is 'The hashes of the run events that this call appended, run_seqs[i] of run_ids[i]: so they are sealed with it.';

create table writ_data.governor_event ( -- owner writ_owner
  governor_id uuid not null,
  event_seq bigint not null,
  at timestamp with time zone not null,
  kind text not null,
  mail_seq bigint,
  from_state text,
  state text not null,
  added text,
  constraint it_moves_as_the_table_says CHECK (((NOT (from_state IS DISTINCT FROM state)) OR ((((((((((((((((((((COALESCE(from_state, '-'::text) = '-'::text) AND (state = 'boot'::text)) OR ((COALESCE(from_state, '-'::text) = 'boot'::text) AND (state = 'stable'::text))) OR ((COALESCE(from_state, '-'::text) = 'boot'::text) AND (state = 'degraded'::text))) OR ((COALESCE(from_state, '-'::text) = 'stable'::text) AND (state = 'warning'::text))) OR ((COALESCE(from_state, '-'::text) = 'stable'::text) AND (state = 'intervening'::text))) OR ((COALESCE(from_state, '-'::text) = 'stable'::text) AND (state = 'refusing'::text))) OR ((COALESCE(from_state, '-'::text) = 'stable'::text) AND (state = 'degraded'::text))) OR ((COALESCE(from_state, '-'::text) = 'warning'::text) AND (state = 'stable'::text))) OR ((COALESCE(from_state, '-'::text) = 'warning'::text) AND (state = 'intervening'::text))) OR ((COALESCE(from_state, '-'::text) = 'warning'::text) AND (state = 'refusing'::text))) OR ((COALESCE(from_state, '-'::text) = 'warning'::text) AND (state = 'degraded'::text))) OR ((COALESCE(from_state, '-'::text) = 'intervening'::text) AND (state = 'stable'::text))) OR ((COALESCE(from_state, '-'::text) = 'intervening'::text) AND (state = 'warning'::text))) OR ((COALESCE(from_state, '-'::text) = 'intervening'::text) AND (state = 'refusing'::text))) OR ((COALESCE(from_state, '-'::text) = 'intervening'::text) AND (state = 'degraded'::text))) OR ((COALESCE(from_state, '-'::text) = 'refusing'::text) AND (state = 'stable'::text))) OR ((COALESCE(from_state, '-'::text) = 'refusing'::text) AND (state = 'degraded'::text))) OR ((COALESCE(from_state, '-'::text) = 'degraded'::text) AND (state = 'stable'::text))) OR ((COALESCE(from_state, '-'::text) = 'degraded'::text) AND (state = 'boot'::text)))))
) partition by RANGE (at);
CREATE TRIGGER governor_event_is_written_once BEFORE DELETE OR UPDATE ON writ_data.governor_event FOR EACH ROW EXECUTE FUNCTION writ_data.refuse_change();
comment on table writ_data.governor_event is 'What governors have handled, in order. added: the event without what stands in the mailbox; for what came from there and needed nothing else only the version that decided it, null for 1. By month.';

create table writ_data.governor_mail ( -- owner writ_owner
  governor_id uuid not null,
  mail_seq bigint not null,
  at timestamp with time zone not null,
  arrival_seq bigint,
  signal_id text,
  content jsonb not null,
  constraint a_signal_has_an_id CHECK (((arrival_seq IS NULL) = (signal_id IS NULL))),
  constraint mail_has_a_size CHECK ((octet_length((content)::text) <= 262144))
) partition by RANGE (at);
CREATE TRIGGER governor_mail_is_written_once BEFORE DELETE OR UPDATE ON writ_data.governor_mail FOR EACH ROW EXECUTE FUNCTION writ_data.refuse_change();
comment on table writ_data.governor_mail is 'What was sent to governors, in order, each once. By month.';

create table writ_data.governor_settled ( -- owner writ_owner
  governor_id uuid not null,
  arrival_seq bigint not null,
  receipt_id uuid not null,
  at timestamp with time zone not null
) partition by RANGE (at);
CREATE TRIGGER governor_settled_is_written_once BEFORE DELETE OR UPDATE ON writ_data.governor_settled FOR EACH ROW EXECUTE FUNCTION writ_data.refuse_change();
comment on table writ_data.governor_settled is 'Which receipt has settled which signal: one each. By month.';

create table writ_data.job ( -- owner writ_owner
  job_id uuid not null,
  tenant_id text not null,
  job_kind text not null,
  event_domain text not null,
  idempotency_key text,
  limit_key text,
  source_ref text,
  target_ref text,
  payload_ref text,
  input json,
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
  ready_seq bigint,
  run_id uuid,
  step_no smallint,
  place integer,
  logical_attempt smallint,
  undo boolean,
  traceparent text,
  constraint enqueued_by_is_not_blank CHECK ((btrim(enqueued_by) <> ''::text)),
  constraint event_domain_is_known CHECK ((event_domain = ANY (ARRAY['iu'::text, 'birth_registry'::text, 'governance'::text, 'tac'::text, 'kg'::text, 'system'::text, 'dot'::text, 'health'::text, 'piece'::text]))),
  constraint executor_is_whitelisted CHECK ((executor = ANY (ARRAY['DOT'::text, 'Agent'::text, 'Hermes'::text, 'Codex'::text, 'PG_worker'::text, 'external_worker'::text, 'future_Kestra_adapter'::text]))),
  constraint input_is_stored_or_referenced CHECK (((payload_ref IS NULL) OR (input IS NULL))),
  constraint job_pkey PRIMARY KEY (job_id),
  constraint max_attempts_is_positive CHECK ((max_attempts > 0)),
  constraint payload_classification_is_known CHECK ((payload_classification = ANY (ARRAY['safe_metadata'::text, 'restricted'::text]))),
  constraint safe_payload_has_no_forbidden_key CHECK (((safe_payload IS NULL) OR (NOT jsonb_path_exists(safe_payload, 'strict $.**?(((((((((exists (@."body") || exists (@."content")) || exists (@."raw")) || exists (@."vector")) || exists (@."embedding")) || exists (@."secret")) || exists (@."token")) || exists (@."password")) || exists (@."ssn")) || exists (@."personal_data"))'::jsonpath)))),
  constraint safe_payload_is_a_short_object CHECK (((safe_payload IS NULL) OR ((jsonb_typeof(safe_payload) = 'object'::text) AND (octet_length((safe_payload)::text) <= 1048576)))),
  constraint source_system_is_not_blank CHECK ((btrim(source_system) <> ''::text)),
  constraint tenant_is_not_blank CHECK ((tenant_id <> ''::text)),
  constraint traceparent_is_a_place_in_a_trace CHECK (((traceparent ~~ '00-________________________________-________________-__'::text) AND (traceparent !~~ '%-%-%-%-%'::text) AND (traceparent !~ '[^0-9a-f-]'::text)))
) partition by RANGE (job_id);
CREATE INDEX job_by_correlation ON ONLY writ_data.job USING btree (correlation_id) WHERE (correlation_id IS NOT NULL);
CREATE INDEX job_by_parent ON ONLY writ_data.job USING btree (parent_job_id) WHERE (parent_job_id IS NOT NULL);
CREATE INDEX job_by_run ON ONLY writ_data.job USING btree (run_id, step_no, logical_attempt, place) WHERE (run_id IS NOT NULL);
CREATE INDEX job_by_workflow ON ONLY writ_data.job USING btree (workflow_id) WHERE (workflow_id IS NOT NULL);
CREATE TRIGGER job_is_written_once BEFORE UPDATE ON writ_data.job FOR EACH ROW EXECUTE FUNCTION writ_data.refuse_change();
comment on column writ_data.job.idempotency_key is 'Null: nobody gave one, and the job answers to its own id.';
comment on column writ_data.job.limit_key is 'What the limits of its kind count together; null: the kind as a whole.';
comment on column writ_data.job.safe_payload is 'Null: empty.';
comment on column writ_data.job.ready_seq is 'Where in its lane it stood first; null when it was enqueued for later.';
comment on column writ_data.job.run_id is 'Set: the job is a step of this run, the step step_no of its plan; place: of an element of its list; undo: its compensation.';
comment on column writ_data.job.traceparent is 'Where in a trace it was enqueued; of a step, where its run was started.';

create table writ_data.job_cleaned ( -- owner writ_owner
  job_id uuid not null,
  cleaned_at timestamp with time zone not null,
  was text not null,
  successor_job_id uuid,
  constraint job_cleaned_pkey PRIMARY KEY (job_id),
  constraint only_dead_letters_have_successors CHECK (((successor_job_id IS NULL) OR (was = 'dead_letter'::text))),
  constraint only_ended_jobs_are_cleaned CHECK ((was = ANY (ARRAY['succeeded'::text, 'cancelled'::text, 'dead_letter'::text])))
) partition by RANGE (job_id);
CREATE TRIGGER job_cleaned_is_written_once BEFORE DELETE OR UPDATE ON writ_data.job_cleaned FOR EACH ROW EXECUTE FUNCTION writ_data.refuse_change();

create table writ_data.job_execution ( -- owner writ_owner
  job_id uuid not null,
  execution_no integer not null,
  attempt smallint not null,
  lease_token uuid,
  lease_owner text,
  status text not null,
  abort_kind text,
  final boolean not null default false,
  started_at timestamp with time zone,
  committed_at timestamp with time zone,
  finished_at timestamp with time zone,
  result json,
  result_ref text,
  error_code text,
  error_message text,
  error_stack text,
  constraint abort_kind_is_known CHECK ((abort_kind = ANY (ARRAY['transient'::text, 'permanent'::text, 'lease_expired'::text, 'released'::text, 'delayed'::text, 'cancelled'::text]))),
  constraint abort_kind_matches_status CHECK (((abort_kind IS NOT NULL) = (status = 'ABORTED'::text))),
  constraint committed_at_matches_status CHECK (((committed_at IS NOT NULL) = (status = ANY (ARRAY['COMMITTED'::text, 'DONE'::text])))),
  constraint execution_status_is_stored CHECK ((status = ANY (ARRAY['COMMITTED'::text, 'DONE'::text, 'ABORTED'::text]))),
  constraint final_means_aborted CHECK (((NOT final) OR (status = 'ABORTED'::text))),
  constraint finished_at_matches_status CHECK (((finished_at IS NOT NULL) = (status = ANY (ARRAY['DONE'::text, 'ABORTED'::text])))),
  constraint job_execution_pkey PRIMARY KEY (job_id, execution_no)
) partition by RANGE (job_id);
CREATE INDEX job_execution_dead_letter ON ONLY writ_data.job_execution USING btree (job_id) WHERE (final AND (abort_kind <> 'cancelled'::text));
CREATE UNIQUE INDEX a_job_has_one_effect_or_one_end ON ONLY writ_data.job_execution USING btree (job_id) WHERE ((status = ANY (ARRAY['COMMITTED'::text, 'DONE'::text])) OR final);
CREATE TRIGGER execution_moves_legally BEFORE UPDATE ON writ_data.job_execution FOR EACH ROW WHEN ((((old.status || '>'::text) || new.status) <> ALL (ARRAY['COMMITTED>DONE'::text, 'COMMITTED>COMMITTED'::text]))) EXECUTE FUNCTION writ_data.refuse_change();
comment on table writ_data.job_execution is 'Executions that have reached their commit boundary or ended. Open ones are places in job_lease. Attempt 0: ended without ever being tried.';

create table writ_data.receipt ( -- owner writ_owner
  receipt_no bigint not null default nextval('writ_data.receipt_no'::regclass),
  at timestamp with time zone not null,
  log_id text not null,
  stream text not null,
  stream_seq bigint not null,
  receipt_id uuid not null,
  entry text not null,
  leaf_hash bytea not null,
  constraint entry_fits_a_bundle CHECK ((octet_length(entry) <= 65535)),
  constraint log_is_a_short_name CHECK (((log_id <> ''::text) AND (length(log_id) <= 200))),
  constraint stream_counts_from_one CHECK ((stream_seq > 0)),
  constraint stream_is_a_short_name CHECK ((length(stream) <= 500))
) partition by RANGE (at);
CREATE INDEX receipt_by_id ON ONLY writ_data.receipt USING btree (receipt_id);
CREATE INDEX receipt_by_no ON ONLY writ_data.receipt USING btree (receipt_no);
CREATE TRIGGER receipt_is_written_once BEFORE DELETE OR UPDATE ON writ_data.receipt FOR EACH ROW EXECUTE FUNCTION writ_data.refuse_change();
comment on table writ_data.receipt is 'What happened and why, one row each, as the bytes that are hashed: RFC 8785 JSON. By month, so that what is archived can be dropped; its leaf hash stays in ledger_leaf.';
comment on column writ_data.receipt.stream_seq is 'Counts the receipts of one stream, a governor or a contract for instance, without a gap: its row is locked when one is written.';

create table writ_data.run ( -- owner writ_owner
  run_id uuid not null,
  tenant_id text not null,
  project_id text not null,
  environment_id text not null,
  plan_no integer not null,
  engine text not null,
  engine_run_ref jsonb,
  engine_login name,
  priority smallint not null,
  request_id text,
  original_run_id uuid,
  status text not null,
  ending text,
  ending_with jsonb,
  input jsonb,
  pauses integer not null default 0,
  steered boolean not null default false,
  started_by text not null,
  created_at timestamp with time zone not null,
  moved_at timestamp with time zone not null,
  start_after timestamp with time zone,
  traceparent text,
  governed_by uuid,
  constraint a_run_ends_badly_or_not_at_all CHECK ((ending = ANY (ARRAY['FAILED'::text, 'CANCELLED'::text]))),
  constraint run_pkey PRIMARY KEY (run_id),
  constraint run_status_is_known CHECK ((status = ANY (ARRAY['PENDING'::text, 'APPROVED'::text, 'RUNNING'::text, 'PAUSED'::text, 'COMPLETED'::text, 'FAILED'::text, 'CANCELLED'::text]))),
  constraint started_by_somebody CHECK ((btrim(started_by) <> ''::text)),
  constraint tenant_is_not_blank CHECK ((tenant_id <> ''::text)),
  constraint traceparent_is_a_place_in_a_trace CHECK (((traceparent ~~ '00-________________________________-________________-__'::text) AND (traceparent !~~ '%-%-%-%-%'::text) AND (traceparent !~ '[^0-9a-f-]'::text)))
) partition by RANGE (run_id);
CREATE INDEX run_by_plan ON ONLY writ_data.run USING btree (plan_no, run_id);
CREATE INDEX run_by_status ON ONLY writ_data.run USING btree (status, run_id) WHERE (status = ANY (ARRAY['PENDING'::text, 'APPROVED'::text, 'FAILED'::text, 'CANCELLED'::text]));
CREATE INDEX run_by_tenant ON ONLY writ_data.run USING btree (tenant_id, run_id);
CREATE INDEX run_ending ON ONLY writ_data.run USING btree (moved_at) WHERE ((ending IS NOT NULL) AND (status = ANY (ARRAY['RUNNING'::text, 'PAUSED'::text])));
CREATE INDEX run_open ON ONLY writ_data.run USING btree (tenant_id) WHERE (status = ANY (ARRAY['RUNNING'::text, 'PAUSED'::text]));
CREATE INDEX run_paused ON ONLY writ_data.run USING btree (moved_at) WHERE (status = 'PAUSED'::text);
CREATE INDEX run_pending ON ONLY writ_data.run USING btree (tenant_id, priority DESC, run_id) WHERE ((status = 'PENDING'::text) AND (engine = 'native'::text));
CREATE TRIGGER run_moves_legally BEFORE UPDATE ON writ_data.run FOR EACH ROW WHEN ((((old.status || '>'::text) || new.status) <> ALL (ARRAY['PENDING>APPROVED'::text, 'PENDING>PENDING'::text, 'APPROVED>APPROVED'::text, 'PENDING>RUNNING'::text, 'APPROVED>RUNNING'::text, 'RUNNING>PAUSED'::text, 'PAUSED>RUNNING'::text, 'RUNNING>COMPLETED'::text, 'RUNNING>FAILED'::text, 'PAUSED>FAILED'::text, 'PENDING>CANCELLED'::text, 'APPROVED>CANCELLED'::text, 'RUNNING>CANCELLED'::text, 'PAUSED>CANCELLED'::text, 'RUNNING>RUNNING'::text, 'PAUSED>PAUSED'::text]))) EXECUTE FUNCTION writ_data.refuse_change();
comment on table writ_data.run is 'One execution of a plan. Its row is locked by whoever appends to its log, and written only when the run itself moves.';
comment on column writ_data.run.engine_login is 'Of a run of another engine: the login that started it, and that alone appends to its log.';
comment on column writ_data.run.ending is 'Set: nothing new begins; when what runs has ended and what was done is undone, the run ends so.';
comment on column writ_data.run.steered is 'Somebody has retried or skipped a step of it: then the end of a step does not decide alone what follows.';
comment on column writ_data.run.start_after is 'Set: a run that waits is started at this time, whether there is room or not.';
comment on column writ_data.run.traceparent is 'Where in a trace it was started.';
comment on column writ_data.run.governed_by is 'The governance job that the run is the execution of: it takes no signal but EMERGENCY_STOP, and its end is told to the job.';

create table writ_data.run_delivery ( -- owner writ_owner
  run_id uuid not null,
  delivery_id text not null,
  event text not null,
  payload json,
  delivered_at timestamp with time zone not null,
  delivered_by text not null,
  taken_by text,
  constraint run_delivery_pkey PRIMARY KEY (run_id, delivery_id)
) partition by RANGE (run_id);
comment on table writ_data.run_delivery is 'What came from outside for a run. One that no step waits for yet is kept for it.';

create table writ_data.run_event ( -- owner writ_owner
  run_id uuid not null,
  run_seq integer not null,
  event_type text not null,
  step_id text not null,
  logical_attempt text not null,
  engine_attempt integer,
  data jsonb not null,
  signal_id uuid,
  at timestamp with time zone not null,
  batch_id uuid not null,
  each_no smallint,
  tally integer,
  stopped_at integer,
  constraint data_holds_references_only CHECK ((octet_length((data)::text) <= 70000)),
  constraint items_are_counted CHECK (((each_no IS NULL) = (tally IS NULL))),
  constraint run_event_pkey PRIMARY KEY (run_id, run_seq),
  constraint run_seq_counts_from_one CHECK ((run_seq > 0))
) partition by RANGE (run_id);
CREATE INDEX run_event_by_each ON ONLY writ_data.run_event USING btree (run_id, each_no, logical_attempt, tally) WHERE (each_no IS NOT NULL);
CREATE INDEX run_event_by_time ON ONLY writ_data.run_event USING brin (at);
CREATE INDEX run_event_by_type ON ONLY writ_data.run_event USING btree (event_type, at) WHERE (event_type <> ALL (ARRAY['StepStarted'::text, 'StepCompleted'::text]));
CREATE UNIQUE INDEX an_event_happens_once ON ONLY writ_data.run_event USING btree (run_id, step_id, logical_attempt, event_type);
CREATE TRIGGER run_event_is_written_once BEFORE DELETE OR UPDATE ON writ_data.run_event FOR EACH ROW EXECUTE FUNCTION writ_data.refuse_change();
comment on table writ_data.run_event is 'The logs of the runs. run_seq is dense: the run''s row is locked while a number is taken. The key of an event is that of its index: the run''s version of the plan is the same throughout.';
comment on column writ_data.run_event.batch_id is 'The row of the record that seals it.';
comment on column writ_data.run_event.tally is 'Of an element of a list: how many of it have ended by now. stopped_at: how many had when the first one failed.';

create table writ_data.run_item ( -- owner writ_owner
  run_id uuid not null,
  step_no smallint not null,
  attempt smallint not null,
  place integer not null,
  item integer not null,
  value jsonb not null,
  constraint run_item_pkey PRIMARY KEY (run_id, step_no, attempt, place)
) partition by RANGE (run_id);
comment on table writ_data.run_item is 'The elements of a list that a step goes over, as they were when it began.';

create table writ_data.run_signal ( -- owner writ_owner
  run_id uuid not null,
  signal_id uuid not null,
  type text not null,
  accepted boolean not null,
  code text,
  new_run_id uuid,
  principal text not null,
  at timestamp with time zone not null,
  constraint run_signal_pkey PRIMARY KEY (run_id, signal_id)
) partition by RANGE (run_id);

create table writ_data.run_snapshot ( -- owner writ_owner
  run_id uuid not null,
  last_seq integer not null,
  status text not null,
  snapshot json not null,
  missing integer,
  updated_at timestamp with time zone not null,
  constraint run_snapshot_pkey PRIMARY KEY (run_id)
) partition by RANGE (run_id);
CREATE INDEX run_snapshot_stale ON ONLY writ_data.run_snapshot USING btree (updated_at) WHERE (missing IS NOT NULL);
comment on column writ_data.run_snapshot.missing is 'Set: the event of this number is not there, and the projector waits for it.';

create table writ_data.admission ( -- owner writ_owner
  tenant_id text not null,
  policy text not null,
  max_running integer not null,
  max_pending integer not null default 10000,
  delay_ms integer not null default 1000,
  put_by text not null,
  put_at timestamp with time zone not null,
  constraint admission_pkey PRIMARY KEY (tenant_id),
  constraint at_least_one_run_goes_on CHECK ((max_running > 0)),
  constraint delay_is_at_most_a_day CHECK (((delay_ms >= 1) AND (delay_ms <= 86400000))),
  constraint pending_runs_are_counted CHECK ((max_pending >= 0)),
  constraint policy_is_known CHECK ((policy = ANY (ARRAY['REJECT'::text, 'QUEUE'::text, 'DELAY'::text]))),
  constraint put_by_is_not_blank CHECK ((btrim(put_by) <> ''::text)),
  constraint tenant_is_not_blank CHECK ((tenant_id <> ''::text))
);
comment on table writ_data.admission is 'How many runs of a tenant go on at once, and what becomes of more: refused, started when there is room, or started later. The tenant * is every one that has no row of its own.';

create table writ_data.alert ( -- owner writ_owner
  alert_id uuid not null,
  code text not null,
  severity text not null,
  tenant_id text,
  subject text not null,
  detail jsonb not null,
  raised_at timestamp with time zone not null,
  cleared_at timestamp with time zone,
  cleared_by text,
  constraint alert_pkey PRIMARY KEY (alert_id),
  constraint cleared_by_somebody CHECK (((cleared_at IS NULL) = (cleared_by IS NULL))),
  constraint severity_is_known CHECK ((severity = ANY (ARRAY['P1'::text, 'P2'::text, 'P3'::text])))
);
CREATE INDEX alert_by_subject ON writ_data.alert USING btree (subject, raised_at);
CREATE UNIQUE INDEX an_alert_stands_once ON writ_data.alert USING btree (code, subject) WHERE (cleared_at IS NULL);

create table writ_data.api_key ( -- owner writ_owner
  key_id text not null,
  principal_id text not null,
  tenant_id text,
  rights text[],
  label text not null,
  secret_sha256 bytea not null,
  expires_at timestamp with time zone not null,
  added_by text not null,
  added_at timestamp with time zone not null,
  last_used_at timestamp with time zone,
  revoked_at timestamp with time zone,
  constraint api_key_pkey PRIMARY KEY (key_id),
  constraint api_key_principal_id_fkey FOREIGN KEY (principal_id) REFERENCES writ_data.principal(principal_id),
  constraint key_id_is_random CHECK ((key_id ~ '^[0-9a-f]{16}$'::text)),
  constraint key_is_valid_for_a_time CHECK (((expires_at > added_at) AND (expires_at <= (added_at + '3660 days'::interval)))),
  constraint label_has_its_size CHECK ((length(label) <= 200)),
  constraint secret_has_its_size CHECK ((octet_length(secret_sha256) = 32)),
  constraint tenant_has_its_size CHECK (((length(tenant_id) >= 1) AND (length(tenant_id) <= 200)))
);
CREATE INDEX api_key_by_time ON writ_data.api_key USING btree (added_at, key_id);
CREATE INDEX api_key_of_principal ON writ_data.api_key USING btree (principal_id, added_at);
comment on table writ_data.api_key is 'Keys by which the API server authenticates principals. No key signs anything.';
comment on column writ_data.api_key.tenant_id is 'Null: each tenant of its principal.';
comment on column writ_data.api_key.rights is 'What it is narrowed to; its principal must have the right, too. Null: each right of that.';

create table writ_data.capability ( -- owner writ_owner
  tenant_id text not null,
  capability_name text not null,
  domain text not null default 'default'::text,
  lifecycle text not null default 'DISABLED'::text,
  version bigint not null default 1,
  monitored boolean not null default false,
  frozen text,
  disqualified text,
  updated_by text not null,
  updated_at timestamp with time zone not null,
  constraint capability_is_a_name CHECK (((capability_name ~ '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$'::text) AND (upper(capability_name) <> 'SYSTEM'::text))),
  constraint capability_pkey PRIMARY KEY (tenant_id, capability_name),
  constraint lifecycle_is_known CHECK ((lifecycle = ANY (ARRAY['DISABLED'::text, 'PREVIEW'::text, 'LAUNCHED'::text, 'DEPRECATED'::text]))),
  constraint texts_have_a_size CHECK ((((length(domain) >= 1) AND (length(domain) <= 200)) AND (length(frozen) <= 1000) AND (length(disqualified) <= 1000)))
);
comment on column writ_data.capability.monitored is 'It has probes or reported signals, without which it is unhealthy; otherwise it is healthy by declaration.';
comment on column writ_data.capability.frozen is 'Why it may not be changed; null: it may.';

create table writ_data.clockwork ( -- owner writ_owner
  one boolean not null default true,
  ready_seen bigint not null default 0,
  ready_writers text[] not null default '{}'::text[],
  upkeep_at timestamp with time zone not null default '-infinity'::timestamp with time zone,
  swept_upto uuid not null default '00000000-0000-0000-0000-000000000000'::uuid,
  sweep_on boolean not null default false,
  retired_at timestamp with time zone not null default '-infinity'::timestamp with time zone,
  constraint clockwork_one_check CHECK (one),
  constraint clockwork_pkey PRIMARY KEY (one)
) with (fillfactor=10);
comment on column writ_data.clockwork.ready_writers is 'Transactions that could still add ready rows at or below ready_seen.';

create table writ_data.configuration ( -- owner writ_owner
  tenant_id text not null,
  scope text not null,
  key text not null,
  value jsonb not null,
  version bigint not null,
  updated_by text not null,
  updated_at timestamp with time zone not null,
  constraint configuration_pkey PRIMARY KEY (tenant_id, scope, key),
  constraint configuration_tenant_id_scope_fkey FOREIGN KEY (tenant_id, scope) REFERENCES writ_data.configuration_scope(tenant_id, scope),
  constraint key_has_a_size CHECK ((length(key) <= 200)),
  constraint value_has_a_size CHECK ((octet_length((value)::text) <= 65536))
);
comment on table writ_data.configuration is 'Values that applications read. A value that was taken away has no row.';

create table writ_data.configuration_scope ( -- owner writ_owner
  tenant_id text not null,
  scope text not null,
  owner_capability text not null,
  constraint configuration_scope_pkey PRIMARY KEY (tenant_id, scope),
  constraint configuration_scope_tenant_id_owner_capability_fkey FOREIGN KEY (tenant_id, owner_capability) REFERENCES writ_data.capability(tenant_id, capability_name),
  constraint scope_is_a_name CHECK (((scope ~ '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$'::text) AND (upper(scope) <> 'SYSTEM'::text)))
);

create table writ_data.consumer_position ( -- owner writ_owner
  consumer text not null,
  since uuid not null,
  position writ_data.record_position not null,
  moved_at timestamp with time zone not null,
  refused text,
  constraint consumer_position_consumer_fkey FOREIGN KEY (consumer) REFERENCES writ_data.consumer_registry(consumer) ON DELETE CASCADE,
  constraint consumer_position_pkey PRIMARY KEY (consumer)
) with (fillfactor=50);
comment on table writ_data.consumer_position is 'How far each consumer has followed the record. Moves once per call, whatever the number of facts.';
comment on column writ_data.consumer_position.since is 'Facts recorded before this id are none of its business.';
comment on column writ_data.consumer_position.refused is 'Why the queue does not take its jobs; it stays where it is until that has changed.';

create table writ_data.consumer_registry ( -- owner writ_owner
  consumer text not null,
  event_type text not null,
  subject_kind text,
  subject_domain text,
  job_kind text not null,
  priority smallint not null default 0,
  delay_ms bigint not null default 0,
  max_attempts smallint,
  registered_by text not null,
  registered_at timestamp with time zone not null,
  constraint consumer_does_not_feed_itself CHECK (((subject_kind IS NULL) OR (subject_kind <> job_kind))),
  constraint consumer_is_a_name CHECK ((consumer ~ '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$'::text)),
  constraint consumer_registry_event_type_fkey FOREIGN KEY (event_type) REFERENCES writ_data.event_type_registry(event_type),
  constraint consumer_registry_job_kind_fkey FOREIGN KEY (job_kind) REFERENCES writ_data.job_kind(job_kind),
  constraint consumer_registry_pkey PRIMARY KEY (consumer),
  constraint consumer_registry_subject_kind_fkey FOREIGN KEY (subject_kind) REFERENCES writ_data.job_kind(job_kind),
  constraint delay_is_at_most_ten_years CHECK (((delay_ms >= 0) AND (delay_ms <= '316224000000'::bigint))),
  constraint max_attempts_is_positive CHECK ((max_attempts > 0)),
  constraint subject_domain_is_known CHECK ((subject_domain = ANY (ARRAY['iu'::text, 'birth_registry'::text, 'governance'::text, 'tac'::text, 'kg'::text, 'system'::text, 'dot'::text, 'health'::text, 'piece'::text]))),
  constraint subject_is_a_job CHECK (((event_type ~~ 'dot.job.%'::text) OR ((subject_kind IS NULL) AND (subject_domain IS NULL))))
);
comment on table writ_data.consumer_registry is 'Which job follows from which fact. Null subject_kind or subject_domain: of all.';

create table writ_data.contract ( -- owner writ_owner
  contract_id uuid not null,
  tenant_id text not null,
  version integer not null default 1,
  status text not null,
  status_reason text,
  issue_id text,
  source text not null,
  title text not null,
  description text not null default ''::text,
  content text not null,
  scope_hash bytea not null,
  scope text[] not null,
  steps jsonb not null,
  risk_level text not null,
  confidence numeric(3,2) not null,
  validator_verdict jsonb,
  eligibility_verdict jsonb,
  policy_version integer not null,
  pre_state text,
  round integer not null default 1,
  not_after timestamp with time zone,
  approval_hash bytea,
  created_by text not null,
  on_behalf_of text,
  approved_by text[] not null default '{}'::text[],
  approved_at timestamp with time zone,
  escalated_by text,
  glass_broken text,
  window_start timestamp with time zone,
  window_end timestamp with time zone,
  window_hours numeric,
  constraints jsonb not null default '{}'::jsonb,
  audit_verdict text,
  audit_reason text,
  audit_completed_at timestamp with time zone,
  job_id uuid,
  parent_contract_id uuid,
  template jsonb,
  template_id uuid,
  template_params jsonb,
  review_due_at timestamp with time zone,
  clock_stopped_at timestamp with time zone,
  due_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  expires_at timestamp with time zone not null,
  receipts bigint not null default 0,
  constraint active_has_a_job CHECK (((status <> ALL (ARRAY['ACTIVE'::text, 'COMPLETED'::text])) OR (job_id IS NOT NULL))),
  constraint an_instance_has_parameters CHECK (((template_id IS NULL) = (template_params IS NULL))),
  constraint approved_by_somebody CHECK (((status <> ALL (ARRAY['APPROVED'::text, 'ACTIVE'::text, 'COMPLETED'::text])) OR (cardinality(approved_by) > 0) OR (glass_broken IS NOT NULL))),
  constraint completed_is_audited CHECK (((status <> 'COMPLETED'::text) OR (audit_verdict = 'PASS'::text))),
  constraint confidence_is_a_share CHECK (((confidence >= (0)::numeric) AND (confidence <= (1)::numeric))),
  constraint content_is_what_its_hash_says CHECK ((scope_hash = sha256(convert_to(content, 'UTF8'::name)))),
  constraint contract_pkey PRIMARY KEY (contract_id),
  constraint contract_template_id_fkey FOREIGN KEY (template_id) REFERENCES writ_data.contract(contract_id),
  constraint risk_is_known CHECK ((risk_level = ANY (ARRAY['critical'::text, 'high'::text, 'medium'::text, 'low'::text]))),
  constraint source_is_known CHECK ((source = ANY (ARRAY['crm_feedback'::text, 'support_ticket'::text, 'ops_alert'::text, 'manual'::text]))),
  constraint status_is_known CHECK ((status = ANY (ARRAY['DRAFT'::text, 'VALIDATED'::text, 'ELIGIBLE'::text, 'APPROVED'::text, 'ACTIVE'::text, 'COMPLETED'::text, 'FAILED'::text, 'REJECTED'::text, 'EXPIRED'::text]))),
  constraint title_has_a_size CHECK ((((length(title) >= 1) AND (length(title) <= 200)) AND (length(description) <= 4000))),
  constraint verdict_is_known CHECK ((audit_verdict = ANY (ARRAY['PENDING'::text, 'PASS'::text, 'FAIL'::text, 'INCONCLUSIVE'::text]))),
  constraint window_is_legal CHECK (((window_end IS NULL) OR (template IS NOT NULL) OR (((window_end - window_start) >= '01:00:00'::interval) AND ((window_end - window_start) <= '168:00:00'::interval))))
);
CREATE INDEX contract_by_agent ON writ_data.contract USING btree (created_by, created_at) WHERE (on_behalf_of IS NOT NULL);
CREATE INDEX contract_by_content ON writ_data.contract USING btree (tenant_id, scope_hash, created_at);
CREATE INDEX contract_by_proposer ON writ_data.contract USING btree (created_by, contract_id);
CREATE INDEX contract_by_status ON writ_data.contract USING btree (status, contract_id);
CREATE INDEX contract_by_template ON writ_data.contract USING btree (template_id, contract_id) WHERE (template_id IS NOT NULL);
CREATE INDEX contract_by_tenant ON writ_data.contract USING btree (tenant_id, contract_id);
CREATE INDEX contract_due ON writ_data.contract USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX contract_open ON writ_data.contract USING btree (tenant_id, status) WHERE (status <> ALL (ARRAY['COMPLETED'::text, 'FAILED'::text, 'REJECTED'::text, 'EXPIRED'::text]));
CREATE INDEX contract_open_by_agent ON writ_data.contract USING btree (created_by) WHERE ((on_behalf_of IS NOT NULL) AND (status <> ALL (ARRAY['COMPLETED'::text, 'FAILED'::text, 'REJECTED'::text, 'EXPIRED'::text])));
CREATE INDEX contract_templates ON writ_data.contract USING btree (contract_id) WHERE (template IS NOT NULL);
CREATE TRIGGER contract_moves_legally BEFORE UPDATE ON writ_data.contract FOR EACH ROW WHEN ((((old.status || '>'::text) || new.status) <> ALL (ARRAY['DRAFT>VALIDATED'::text, 'DRAFT>REJECTED'::text, 'DRAFT>EXPIRED'::text, 'VALIDATED>ELIGIBLE'::text, 'VALIDATED>REJECTED'::text, 'VALIDATED>EXPIRED'::text, 'ELIGIBLE>APPROVED'::text, 'ELIGIBLE>REJECTED'::text, 'ELIGIBLE>EXPIRED'::text, 'APPROVED>ELIGIBLE'::text, 'APPROVED>ACTIVE'::text, 'APPROVED>FAILED'::text, 'ACTIVE>COMPLETED'::text, 'ACTIVE>FAILED'::text, 'DRAFT>DRAFT'::text, 'VALIDATED>VALIDATED'::text, 'ELIGIBLE>ELIGIBLE'::text, 'APPROVED>APPROVED'::text, 'ACTIVE>ACTIVE'::text]))) EXECUTE FUNCTION writ_data.refuse_change();
comment on table writ_data.contract is 'What somebody wants to have changed, and how far that has come. content is the canonical JSON of scope and steps: what is approved, byte by byte.';
comment on column writ_data.contract.pre_state is 'The values of its targets as the first signature of this round fixed them, as JSON text.';
comment on column writ_data.contract.round is 'Counts what voids all signatures so far: a revocation, a clarification that moves not_after, another pre-state or policy. A signature of an earlier round never counts again.';
comment on column writ_data.contract.not_after is 'When its last forward step may begin: the end of the review and the window after it; of a template, its expiry. Set when the contract becomes ELIGIBLE.';
comment on column writ_data.contract.approval_hash is 'The hash of the document that approvals of this round sign (contract_document). Null: nobody has signed in this round.';
comment on column writ_data.contract.template is 'Set: it is not executed itself; its instances are, within these bounds. template_id and template_params: it is such an instance.';
comment on column writ_data.contract.due_at is 'When something has to be looked at, though nobody asks: expiry, the times of a review, the end of the window.';

create table writ_data.contract_document ( -- owner writ_owner
  contract_id uuid not null,
  hash bytea not null,
  document text not null,
  kept_at timestamp with time zone not null,
  constraint contract_document_contract_id_fkey FOREIGN KEY (contract_id) REFERENCES writ_data.contract(contract_id),
  constraint contract_document_pkey PRIMARY KEY (contract_id, hash),
  constraint hash_is_of_the_document CHECK ((hash = sha256(convert_to(document, 'UTF8'::name))))
);
CREATE TRIGGER contract_document_is_written_once BEFORE DELETE OR UPDATE ON writ_data.contract_document FOR EACH ROW EXECUTE FUNCTION writ_data.refuse_change();
comment on table writ_data.contract_document is 'What was signed, byte by byte, as the clients of the signers have sent it. Nobody builds these bytes again.';

create table writ_data.contract_history ( -- owner writ_owner
  contract_id uuid not null,
  version integer not null,
  from_status text not null,
  to_status text not null,
  reason text not null,
  by text not null,
  at timestamp with time zone not null,
  constraint contract_history_contract_id_fkey FOREIGN KEY (contract_id) REFERENCES writ_data.contract(contract_id),
  constraint contract_history_pkey PRIMARY KEY (contract_id, version)
);
CREATE TRIGGER contract_history_is_written_once BEFORE DELETE OR UPDATE ON writ_data.contract_history FOR EACH ROW EXECUTE FUNCTION writ_data.refuse_change();

create table writ_data.contract_read ( -- owner writ_owner
  contract_id uuid not null,
  step_type text not null,
  job_id uuid not null,
  requested_by text not null,
  requested_at timestamp with time zone not null,
  due_at timestamp with time zone not null,
  constraint contract_read_contract_id_fkey FOREIGN KEY (contract_id) REFERENCES writ_data.contract(contract_id),
  constraint contract_read_pkey PRIMARY KEY (contract_id, step_type)
);
CREATE UNIQUE INDEX contract_read_by_job ON writ_data.contract_read USING btree (job_id);
comment on table writ_data.contract_read is 'The last request to read the values outside the database that steps of one type change. job_id is the queue job, which an applier with that step type takes; while it is open, nobody requests another.';
comment on column writ_data.contract_read.due_at is 'When the read may begin: governance.read.interval_ms after the one before it.';

create table writ_data.contract_review ( -- owner writ_owner
  contract_id uuid not null,
  review_no integer not null,
  action text not null,
  by text not null,
  reason text,
  hash bytea,
  scheme text,
  signature bytea,
  public_key bytea,
  at timestamp with time zone not null,
  constraint action_is_known CHECK ((action = ANY (ARRAY['APPROVE'::text, 'REVOKE'::text, 'REJECT'::text, 'REQUEST_CLARIFICATION'::text, 'CLARIFY'::text, 'MODIFY_SCOPE'::text, 'ESCALATE'::text, 'BREAK_GLASS'::text]))),
  constraint an_approval_is_signed CHECK (((action <> ALL (ARRAY['APPROVE'::text, 'BREAK_GLASS'::text])) OR ((octet_length(hash) = 32) AND (octet_length(signature) = 64) AND (octet_length(public_key) = 32) AND (scheme IS NOT NULL)))),
  constraint contract_review_contract_id_fkey FOREIGN KEY (contract_id) REFERENCES writ_data.contract(contract_id),
  constraint contract_review_pkey PRIMARY KEY (contract_id, review_no),
  constraint scheme_is_known CHECK ((scheme = 'ed25519'::text))
);
CREATE UNIQUE INDEX a_signature_is_kept_once ON writ_data.contract_review USING btree (contract_id, by, hash, signature) WHERE (action = 'APPROVE'::text);
CREATE TRIGGER contract_review_is_written_once BEFORE DELETE OR UPDATE ON writ_data.contract_review FOR EACH ROW EXECUTE FUNCTION writ_data.refuse_change();

create table writ_data.contract_value ( -- owner writ_owner
  contract_id uuid not null,
  slot text not null,
  value jsonb,
  code text,
  detail text,
  job_id uuid not null,
  login name not null,
  read_at timestamp with time zone not null,
  constraint a_value_or_an_error CHECK (((value IS NULL) = (code IS NOT NULL))),
  constraint an_error_has_a_size CHECK (((length(code) <= 100) AND (length(detail) <= 1000))),
  constraint contract_value_contract_id_fkey FOREIGN KEY (contract_id) REFERENCES writ_data.contract(contract_id),
  constraint contract_value_pkey PRIMARY KEY (contract_id, slot),
  constraint value_has_a_size CHECK ((octet_length((value)::text) <= 65536))
);
comment on table writ_data.contract_value is 'What an applier read last at each place outside the database that a contract changes, or why it could not. A value that is not there is JSON null. A newer read replaces the row.';

create table writ_data.contract_verdict ( -- owner writ_owner
  contract_id uuid not null,
  review_no integer not null,
  verdict text not null,
  login name not null,
  trust text not null,
  at timestamp with time zone not null,
  constraint contract_verdict_contract_id_review_no_fkey FOREIGN KEY (contract_id, review_no) REFERENCES writ_data.contract_review(contract_id, review_no),
  constraint contract_verdict_pkey PRIMARY KEY (contract_id, review_no),
  constraint trust_is_named CHECK (((trust = 'database'::text) OR (trust ~ '^[0-9a-f]{64}$'::text))),
  constraint verdict_is_known CHECK ((verdict = ANY (ARRAY['valid'::text, 'wrong'::text])))
);
CREATE TRIGGER contract_verdict_is_written_once BEFORE DELETE OR UPDATE ON writ_data.contract_verdict FOR EACH ROW EXECUTE FUNCTION writ_data.refuse_change();
comment on table writ_data.contract_verdict is 'Whether a signature is what it claims to be, as an applier has found. PostgreSQL cannot check Ed25519, so a signature without a verdict counts for nothing.';
comment on column writ_data.contract_verdict.trust is 'Which keys it was compared with: the SHA-256 of the applier''s trust file, or: database.';

create table writ_data.denial ( -- owner writ_owner
  principal_id text not null,
  minute timestamp with time zone not null,
  login_tenant text not null,
  tenant_id text not null,
  denials integer not null,
  receipts integer not null,
  constraint denial_pkey PRIMARY KEY (principal_id, minute, login_tenant),
  constraint denial_principal_id_fkey FOREIGN KEY (principal_id) REFERENCES writ_data.principal(principal_id)
);
CREATE INDEX denial_by_minute ON writ_data.denial USING btree (minute);
comment on table writ_data.denial is 'How often a principal was denied in a minute, in any tenant, and how many of these denials have a receipt of their own. The clockwork counts the others in one receipt when the minute is over.';
comment on column writ_data.denial.login_tenant is 'The tenant that the login is bound to; empty for a login of all tenants.';
comment on column writ_data.denial.tenant_id is 'Whose log the first of them is in; the receipt that counts the others goes there, too.';

create table writ_data.deployment ( -- owner writ_owner
  single boolean not null default true,
  deployment_id uuid not null,
  since timestamp with time zone not null,
  constraint deployment_pkey PRIMARY KEY (single),
  constraint deployment_single_check CHECK (single)
);
comment on table writ_data.deployment is 'Which deployment this database is: a random id, made by the first migration. Approvals name it, so that one of staging is none of production. A copy has the same id until it is renewed.';

create table writ_data.destination ( -- owner writ_owner
  name text not null,
  bus text not null,
  tenant_id text,
  types text[] not null,
  config jsonb not null default '{}'::jsonb,
  state text not null default 'active'::text,
  note text,
  position writ_data.record_position not null,
  failures integer not null default 0,
  failing_since timestamp with time zone,
  retry_at timestamp with time zone not null default '-infinity'::timestamp with time zone,
  holder text,
  held_until timestamp with time zone not null default '-infinity'::timestamp with time zone,
  turn uuid,
  turn_end writ_data.record_position,
  oldest timestamp with time zone,
  put_by text not null,
  put_at timestamp with time zone not null,
  moved_at timestamp with time zone not null,
  constraint bus_is_known CHECK ((bus = ANY (ARRAY['webhook'::text, 'nats'::text]))),
  constraint config_has_a_size CHECK ((octet_length((config)::text) <= 16384)),
  constraint destination_is_a_name CHECK ((name ~ '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$'::text)),
  constraint destination_pkey PRIMARY KEY (name),
  constraint put_by_is_not_blank CHECK ((btrim(put_by) <> ''::text)),
  constraint state_is_known CHECK ((state = ANY (ARRAY['active'::text, 'paused'::text]))),
  constraint tenant_is_not_blank CHECK ((tenant_id <> ''::text)),
  constraint types_are_1_to_100 CHECK (((cardinality(types) >= 1) AND (cardinality(types) <= 100)))
) with (fillfactor=50);
comment on table writ_data.destination is 'A place outside that is told of events: everything up to its position has been given to it, or is in undelivered.';
comment on column writ_data.destination.types is 'Types of events; one that ends with * is the beginning of types.';
comment on column writ_data.destination.config is 'Where it is, and names of secrets; never a secret.';
comment on column writ_data.destination.failures is 'Calls in a row in which nothing was accepted.';
comment on column writ_data.destination.holder is 'The relay whose turn it is, until held_until.';
comment on column writ_data.destination.turn is 'The turn that was given last. It ends at turn_end; oldest is the time of its first row.';

create table writ_data.door ( -- owner writ_owner

);
comment on table writ_data.door is 'Holds no row. An upgrade locks it against the gates, each call of a doorkeeper shares it.';

create table writ_data.dot_config ( -- owner writ_owner
  key text not null,
  value jsonb not null,
  minimum numeric,
  maximum numeric,
  whole boolean not null default false,
  choices text[],
  description text not null,
  updated_at timestamp with time zone not null default clock_timestamp(),
  updated_by text not null default 'migration'::text,
  constraint dot_config_pkey PRIMARY KEY (key),
  constraint number_is_within_bounds CHECK (((jsonb_typeof(value) <> 'number'::text) OR ((((value)::numeric >= minimum) AND ((value)::numeric <= maximum)) AND ((NOT whole) OR (((value)::numeric % (1)::numeric) = (0)::numeric))))),
  constraint text_is_a_choice CHECK (((jsonb_typeof(value) <> 'string'::text) OR COALESCE(((value #>> '{}'::text[]) = ANY (choices)), true)))
);
comment on column writ_data.dot_config.minimum is 'The least that the value can be, or each number of a list.';
comment on column writ_data.dot_config.choices is 'The texts that it can have; null: any.';

create table writ_data.entitlement ( -- owner writ_owner
  tenant_id text not null,
  entitlement_id text not null,
  status text not null,
  tier text not null,
  quota_limit bigint,
  expires_at timestamp with time zone,
  told_at timestamp with time zone,
  put_by text not null,
  put_at timestamp with time zone not null,
  constraint an_end_is_on_the_calendar CHECK ((writ_data.within_times(expires_at) AND writ_data.within_times(told_at))),
  constraint entitlement_pkey PRIMARY KEY (tenant_id),
  constraint quota_is_no_debt CHECK (((quota_limit >= 0) AND (quota_limit <= '9007199254740991'::bigint))),
  constraint status_is_known CHECK ((status = ANY (ARRAY['ACTIVE'::text, 'INACTIVE'::text, 'EXPIRED'::text, 'CANCELLED'::text]))),
  constraint tier_is_known CHECK ((tier = ANY (ARRAY['free'::text, 'starter'::text, 'professional'::text, 'enterprise'::text])))
);
comment on table writ_data.entitlement is 'What a tenant may have done for it. quota_limit: actions per month in UTC; null: without limit.';
comment on column writ_data.entitlement.told_at is 'When the catalogue sent what stands here, by its own clock: what it sent before that is not taken any more.';

create table writ_data.event_seal ( -- owner writ_owner
  segment bigint not null,
  from_xid xid8 not null,
  from_id uuid not null,
  to_xid xid8 not null,
  to_id uuid not null,
  since uuid not null,
  upto uuid not null,
  n_rows integer not null,
  root bytea not null,
  leaves bytea not null storage external,
  receipt_no bigint not null,
  sealed_at timestamp with time zone not null,
  constraint event_seal_pkey PRIMARY KEY (segment)
);
CREATE INDEX event_seal_by_end ON writ_data.event_seal USING btree (to_xid, to_id);
CREATE TRIGGER event_seal_is_not_truncated BEFORE TRUNCATE ON writ_data.event_seal FOR EACH STATEMENT EXECUTE FUNCTION writ_data.refuse_change();
CREATE TRIGGER event_seal_is_written_once BEFORE DELETE OR UPDATE ON writ_data.event_seal FOR EACH ROW EXECUTE FUNCTION writ_data.refuse_change();
comment on table writ_data.event_seal is 'Segments of the record whose hash is in a receipt: the rows behind (from_xid, from_id) up to (to_xid, to_id), with ids after since, the era, and not after upto. leaves: their hashes, which stay when the rows are past their retention.';

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

create table writ_data."freeze" ( -- owner writ_owner
  freeze_id uuid not null,
  tenant_id text not null,
  reason text not null,
  begins_at timestamp with time zone not null,
  ends_at timestamp with time zone not null default 'infinity'::timestamp with time zone,
  put_by text not null,
  lifted_at timestamp with time zone,
  lifted_by text,
  constraint freeze_ends_after_it_begins CHECK ((ends_at > begins_at)),
  constraint freeze_has_a_reason CHECK (((btrim(reason) <> ''::text) AND (length(reason) <= 1000))),
  constraint freeze_is_on_the_calendar CHECK ((writ_data.within_times(begins_at) AND ((ends_at = 'infinity'::timestamp with time zone) OR writ_data.within_times(ends_at)))),
  constraint freeze_pkey PRIMARY KEY (freeze_id)
);
CREATE INDEX freeze_by_tenant ON writ_data."freeze" USING btree (tenant_id) WHERE (lifted_at IS NULL);

create table writ_data.governance_audit ( -- owner writ_owner
  audit_id uuid not null,
  tenant_id text not null,
  job_id uuid not null,
  contract_id uuid not null,
  verdict text not null,
  verdict_reason text not null,
  checks jsonb not null,
  evidence jsonb not null,
  health_before jsonb,
  health_after jsonb,
  auditor_version text not null,
  duration_ms integer not null,
  supersedes uuid,
  resolved_by text,
  acknowledged_by text,
  created_at timestamp with time zone not null,
  constraint governance_audit_contract_id_fkey FOREIGN KEY (contract_id) REFERENCES writ_data.contract(contract_id),
  constraint governance_audit_job_id_fkey FOREIGN KEY (job_id) REFERENCES writ_data.governance_job(job_id),
  constraint governance_audit_pkey PRIMARY KEY (audit_id),
  constraint governance_audit_supersedes_fkey FOREIGN KEY (supersedes) REFERENCES writ_data.governance_audit(audit_id),
  constraint verdict_is_known CHECK ((verdict = ANY (ARRAY['PASS'::text, 'FAIL'::text, 'INCONCLUSIVE'::text])))
);
CREATE INDEX governance_audit_by_contract ON writ_data.governance_audit USING btree (contract_id, audit_id);
CREATE INDEX governance_audit_by_job ON writ_data.governance_audit USING btree (job_id, audit_id);
CREATE INDEX governance_audit_by_tenant ON writ_data.governance_audit USING btree (tenant_id, audit_id);
CREATE INDEX governance_audit_by_verdict ON writ_data.governance_audit USING btree (verdict, audit_id);

create table writ_data.governance_ended ( -- owner writ_owner
  job_id uuid not null,
  ended_at timestamp with time zone not null,
  due_at timestamp with time zone not null,
  constraint governance_ended_job_id_fkey FOREIGN KEY (job_id) REFERENCES writ_data.governance_job(job_id),
  constraint governance_ended_pkey PRIMARY KEY (job_id)
);
CREATE INDEX governance_ended_due ON writ_data.governance_ended USING btree (due_at);
comment on table writ_data.governance_ended is 'Governance jobs whose run has ended without completing, until they have failed and their rollback exists. The transaction that ends the run writes the row.';

create table writ_data.governance_job ( -- owner writ_owner
  job_id uuid not null,
  tenant_id text not null,
  contract_id uuid not null,
  kind text not null,
  of_job_id uuid,
  version integer not null default 1,
  status text not null,
  status_reason text,
  run_id uuid not null,
  executor_id text,
  refused_step integer,
  refusal text,
  total_steps integer not null,
  done_steps integer not null default 0,
  max_duration_ms bigint not null,
  scope_hash bytea not null,
  state_before bytea not null,
  state_after bytea,
  health_before jsonb,
  rollback_job_id uuid,
  rollback_reason text,
  audit_id uuid,
  audit_verdict text,
  audits smallint not null default 0,
  due_at timestamp with time zone,
  started_at timestamp with time zone,
  completed_at timestamp with time zone,
  created_at timestamp with time zone not null,
  updated_at timestamp with time zone not null,
  receipts bigint not null default 0,
  constraint a_rollback_is_of_a_job CHECK (((kind = 'rollback'::text) = (of_job_id IS NOT NULL))),
  constraint completed_means_audited CHECK (((status <> 'COMPLETED'::text) OR (audit_verdict = 'PASS'::text))),
  constraint duration_is_at_most_thirty_days CHECK (((max_duration_ms >= 1) AND (max_duration_ms <= '2592000000'::bigint))),
  constraint governance_job_contract_id_fkey FOREIGN KEY (contract_id) REFERENCES writ_data.contract(contract_id),
  constraint governance_job_of_job_id_fkey FOREIGN KEY (of_job_id) REFERENCES writ_data.governance_job(job_id),
  constraint governance_job_pkey PRIMARY KEY (job_id),
  constraint governance_job_rollback_job_id_fkey FOREIGN KEY (rollback_job_id) REFERENCES writ_data.governance_job(job_id),
  constraint kind_is_known CHECK ((kind = ANY (ARRAY['forward'::text, 'rollback'::text]))),
  constraint status_is_known CHECK ((status = ANY (ARRAY['PENDING'::text, 'RUNNING'::text, 'COMPLETED'::text, 'FAILED'::text, 'CANCELLED'::text, 'AUDIT_PENDING'::text, 'ROLLBACK_PENDING'::text, 'ROLLED_BACK'::text, 'ROLLBACK_FAILED'::text]))),
  constraint steps_are_counted CHECK (((done_steps >= 0) AND (done_steps <= total_steps)))
);
CREATE INDEX governance_job_by_contract ON writ_data.governance_job USING btree (contract_id, job_id);
CREATE INDEX governance_job_by_executor ON writ_data.governance_job USING btree (executor_id, job_id) WHERE (executor_id IS NOT NULL);
CREATE INDEX governance_job_by_status ON writ_data.governance_job USING btree (status, job_id);
CREATE INDEX governance_job_by_tenant ON writ_data.governance_job USING btree (tenant_id, job_id);
CREATE INDEX governance_job_by_time ON writ_data.governance_job USING btree (created_at);
CREATE INDEX governance_job_due ON writ_data.governance_job USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX governance_job_of ON writ_data.governance_job USING btree (of_job_id) WHERE (of_job_id IS NOT NULL);
CREATE INDEX governance_job_open ON writ_data.governance_job USING btree (tenant_id, status) WHERE (status = ANY (ARRAY['PENDING'::text, 'RUNNING'::text, 'AUDIT_PENDING'::text]));
CREATE INDEX governance_job_undone ON writ_data.governance_job USING btree (tenant_id, created_at) WHERE (kind = 'rollback'::text);
CREATE UNIQUE INDEX governance_job_by_run ON writ_data.governance_job USING btree (run_id);
CREATE UNIQUE INDEX one_forward_job_per_contract ON writ_data.governance_job USING btree (contract_id) WHERE (kind = 'forward'::text);
CREATE TRIGGER governance_job_moves_legally BEFORE UPDATE ON writ_data.governance_job FOR EACH ROW WHEN ((((old.status || '>'::text) || new.status) <> ALL (ARRAY['PENDING>RUNNING'::text, 'PENDING>CANCELLED'::text, 'PENDING>FAILED'::text, 'RUNNING>CANCELLED'::text, 'AUDIT_PENDING>CANCELLED'::text, 'ROLLBACK_PENDING>CANCELLED'::text, 'RUNNING>RUNNING'::text, 'RUNNING>AUDIT_PENDING'::text, 'RUNNING>FAILED'::text, 'AUDIT_PENDING>COMPLETED'::text, 'AUDIT_PENDING>AUDIT_PENDING'::text, 'AUDIT_PENDING>FAILED'::text, 'FAILED>ROLLBACK_PENDING'::text, 'FAILED>ROLLED_BACK'::text, 'FAILED>ROLLBACK_FAILED'::text, 'ROLLBACK_PENDING>ROLLED_BACK'::text, 'ROLLBACK_PENDING>ROLLBACK_FAILED'::text, 'PENDING>PENDING'::text, 'FAILED>FAILED'::text, 'ROLLBACK_PENDING>ROLLBACK_PENDING'::text]))) EXECUTE FUNCTION writ_data.refuse_change();
comment on column writ_data.governance_job.refused_step is 'Which of several steps that are done together was refused last, and why (refusal). None of them was done.';

create table writ_data.governance_job_history ( -- owner writ_owner
  job_id uuid not null,
  version integer not null,
  from_status text not null,
  to_status text not null,
  event text not null,
  reason text,
  by text not null,
  at timestamp with time zone not null,
  constraint governance_job_history_job_id_fkey FOREIGN KEY (job_id) REFERENCES writ_data.governance_job(job_id),
  constraint governance_job_history_pkey PRIMARY KEY (job_id, version)
);
CREATE TRIGGER governance_job_history_is_written_once BEFORE DELETE OR UPDATE ON writ_data.governance_job_history FOR EACH ROW EXECUTE FUNCTION writ_data.refuse_change();

create table writ_data.governance_policy ( -- owner writ_owner
  tenant_id text not null,
  version integer not null,
  document jsonb not null,
  published_by text not null,
  published_at timestamp with time zone not null,
  constraint governance_policy_pkey PRIMARY KEY (tenant_id, version)
);
CREATE TRIGGER governance_policy_is_written_once BEFORE DELETE OR UPDATE ON writ_data.governance_policy FOR EACH ROW EXECUTE FUNCTION writ_data.refuse_change();
comment on table writ_data.governance_policy is 'How many must approve what, which sources may propose, and how long things may take. Versions do not change; an approval is of one of them.';

create table writ_data.governance_signal ( -- owner writ_owner
  signal_id uuid not null,
  tenant_id text not null,
  signal_type text not null,
  scope text not null,
  decision text not null,
  reason text not null,
  constraints jsonb,
  recorded_by text not null,
  recorded_at timestamp with time zone not null,
  expires_at timestamp with time zone,
  superseded_by uuid,
  superseded_at timestamp with time zone,
  constraint decision_is_known CHECK ((decision = ANY (ARRAY['CLEAN'::text, 'BLOCKED'::text, 'WARN'::text, 'PENDING'::text, 'EXECUTING'::text]))),
  constraint governance_signal_pkey PRIMARY KEY (signal_id),
  constraint signal_ends_on_the_calendar CHECK (writ_data.within_times(expires_at))
);
CREATE INDEX governance_signal_by_scope ON writ_data.governance_signal USING btree (scope, signal_id);
CREATE INDEX governance_signal_by_tenant ON writ_data.governance_signal USING btree (tenant_id, signal_id);
CREATE UNIQUE INDEX a_signal_stands_once ON writ_data.governance_signal USING btree (tenant_id, scope, signal_type) WHERE (superseded_at IS NULL);

create table writ_data.governance_step ( -- owner writ_owner
  job_id uuid not null,
  step_no integer not null,
  step_type text not null,
  target text not null,
  parameters jsonb not null,
  found jsonb,
  applied jsonb,
  found_version bigint,
  written_version bigint,
  rollback_action jsonb,
  evidence jsonb not null,
  of_step_no integer,
  receipt_no bigint,
  began_at timestamp with time zone not null,
  done_at timestamp with time zone,
  error text,
  watched_ms bigint not null default 0,
  looked_at timestamp with time zone,
  constraint a_step_that_is_done_has_no_error CHECK (((done_at IS NULL) OR (error IS NULL))),
  constraint governance_step_job_id_fkey FOREIGN KEY (job_id) REFERENCES writ_data.governance_job(job_id),
  constraint governance_step_pkey PRIMARY KEY (job_id, step_no)
);
comment on table writ_data.governance_step is 'A step of a governance job that has begun: what was found, how it is undone, and, when it is done, what was written. found and applied are slot → value; a value that is not there is JSON null.';
comment on column writ_data.governance_step.error is 'Of a rollback: why the step did not restore its target, while the steps after it did theirs.';
comment on column writ_data.governance_step.watched_ms is 'How long a soak has been watched, added up from look to look. looked_at is the last look by the clock of that moment; a jump of the clock adds nothing.';

create table writ_data.governor ( -- owner writ_owner
  governor_id uuid not null,
  tenant_id text not null,
  sku_id text not null,
  events bigint not null default 0,
  receipts bigint not null default 0,
  mail_done bigint not null default 0,
  mail_at timestamp with time zone not null default '-infinity'::timestamp with time zone,
  last_at timestamp with time zone not null default '-infinity'::timestamp with time zone,
  state text,
  inputs_hash bytea not null default '\x0000000000000000000000000000000000000000000000000000000000000000'::bytea,
  due_at timestamp with time zone,
  data jsonb not null default '{}'::jsonb,
  waiting jsonb not null default '{}'::jsonb,
  crashes timestamp with time zone[] not null default '{}'::timestamp with time zone[],
  crash text,
  created_by text not null,
  created_at timestamp with time zone not null,
  constraint governor_pkey PRIMARY KEY (governor_id),
  constraint hash_has_its_size CHECK ((octet_length(inputs_hash) = 32)),
  constraint one_governor_per_product_and_tenant UNIQUE (tenant_id, sku_id),
  constraint state_is_known CHECK ((state = ANY (ARRAY['boot'::text, 'stable'::text, 'warning'::text, 'intervening'::text, 'refusing'::text, 'degraded'::text]))),
  constraint tenant_and_product_are_names CHECK (((length(tenant_id) <= 100) AND (tenant_id ~ '^[A-Za-z0-9][A-Za-z0-9_.:@-]*$'::text) AND (length(sku_id) <= 100) AND (sku_id ~ '^[A-Za-z0-9][A-Za-z0-9_.:@-]*$'::text)))
) with (fillfactor=50);
comment on table writ_data.governor is 'Where a governor is: its state, what it knows (data) and what waits (waiting: inserted and postponed events, timers). events is also its revision; mail_done says how far its mailbox has been read.';
comment on column writ_data.governor.inputs_hash is 'SHA-256 over the hash before and the canonical JSON of the event, from 32 zero bytes on: in the receipts, so that an input that was removed shows.';
comment on column writ_data.governor.due_at is 'When the first of its timers is due. Whoever drives looks at governor_due.';
comment on column writ_data.governor.crashes is 'When deciding about its next event has failed within a minute; crash: how, the last time.';

create table writ_data.governor_contract ( -- owner writ_owner
  job_id uuid not null,
  governor_id uuid not null,
  action_id text not null,
  attempt integer not null,
  stops boolean not null,
  constraint governor_contract_governor_id_fkey FOREIGN KEY (governor_id) REFERENCES writ_data.governor(governor_id),
  constraint governor_contract_job_id_fkey FOREIGN KEY (job_id) REFERENCES writ_data.governance_job(job_id),
  constraint governor_contract_pkey PRIMARY KEY (job_id)
);
comment on table writ_data.governor_contract is 'Governance jobs that carry an action out, or undo one, while their governor waits for them. stops: what is awaited is that it is rolled back.';

create table writ_data.governor_due ( -- owner writ_owner
  due_at timestamp with time zone not null,
  governor_id uuid not null,
  since timestamp with time zone
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=1000);
CREATE INDEX governor_due_by_time ON writ_data.governor_due USING btree (due_at);
comment on table writ_data.governor_due is 'Governors that have to be looked at, now or later: something is in the mailbox, or a timer is due. One too many does no harm.';
comment on column writ_data.governor_due.since is 'Since when drivers have postponed something that is left to do; null: nobody has.';

create table writ_data.governor_inbox ( -- owner writ_owner
  governor_id uuid not null,
  mails bigint not null default 0,
  arrivals bigint not null default 0,
  window_mail bigint not null default 0,
  last_at timestamp with time zone not null default '-infinity'::timestamp with time zone,
  constraint governor_inbox_governor_id_fkey FOREIGN KEY (governor_id) REFERENCES writ_data.governor(governor_id),
  constraint governor_inbox_pkey PRIMARY KEY (governor_id)
) with (fillfactor=50);
comment on table writ_data.governor_inbox is 'Counts what is put into a mailbox, signals (arrivals) by themselves, without a gap. window_mail: the first that can be within the last minute.';

create table writ_data.governor_outage ( -- owner writ_owner
  host text not null,
  at timestamp with time zone not null,
  spool_seq bigint not null,
  tenant_id text not null,
  sku_id text not null,
  signal_id text not null,
  merged_at timestamp with time zone not null,
  constraint governor_outage_pkey PRIMARY KEY (host, at, spool_seq, tenant_id, sku_id, signal_id)
);
CREATE TRIGGER governor_outage_is_written_once BEFORE DELETE OR UPDATE ON writ_data.governor_outage FOR EACH ROW EXECUTE FUNCTION writ_data.refuse_change();
comment on table writ_data.governor_outage is 'Signals that hosts could not take while the database was away, and have said so: they were never accepted. As each host has written them down.';

create table writ_data.governor_policy ( -- owner writ_owner
  governor_id uuid not null,
  version integer not null,
  policy_id text not null,
  document jsonb,
  hash bytea not null,
  shadow boolean not null,
  published_by text not null,
  published_at timestamp with time zone not null,
  constraint governor_policy_governor_id_fkey FOREIGN KEY (governor_id) REFERENCES writ_data.governor(governor_id),
  constraint governor_policy_pkey PRIMARY KEY (governor_id, version),
  constraint hash_has_its_size CHECK ((octet_length(hash) = 32)),
  constraint policy_has_a_size CHECK ((octet_length((document)::text) <= 131072)),
  constraint policy_is_a_name CHECK ((policy_id ~ '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$'::text))
);
CREATE TRIGGER governor_policy_is_written_once BEFORE DELETE OR UPDATE ON writ_data.governor_policy FOR EACH ROW EXECUTE FUNCTION writ_data.refuse_change();
comment on table writ_data.governor_policy is 'Versions of governor policies. None changes; one without a document says that the policy was withdrawn.';

create table writ_data.governor_quota ( -- owner writ_owner
  tenant_id text not null,
  month text not null,
  used bigint not null,
  constraint governor_quota_pkey PRIMARY KEY (tenant_id, month),
  constraint month_is_one CHECK ((month ~ '^[0-9]{4}-[0-9]{2}$'::text))
);
comment on table writ_data.governor_quota is 'Actions of a tenant in a month, in UTC. Grows with the first attempt at each, and never shrinks.';

create table writ_data.incident ( -- owner writ_owner
  incident_id uuid not null,
  tenant_id text not null,
  capability text,
  severity text not null,
  subject text not null,
  summary text not null,
  opened_by text not null,
  opened_at timestamp with time zone not null,
  resolved_by text,
  resolved_at timestamp with time zone,
  resolution text,
  constraint capability_has_a_size CHECK ((length(capability) <= 200)),
  constraint incident_pkey PRIMARY KEY (incident_id),
  constraint resolved_by_somebody CHECK (((resolved_at IS NULL) = (resolved_by IS NULL))),
  constraint severity_is_known CHECK ((severity = ANY (ARRAY['P1'::text, 'P2'::text, 'P3'::text])))
);
CREATE INDEX incident_by_tenant ON writ_data.incident USING btree (tenant_id, incident_id);
CREATE INDEX incident_open ON writ_data.incident USING btree (tenant_id, capability) WHERE (resolved_at IS NULL);

create table writ_data.job_cancel ( -- owner writ_owner
  job_id uuid not null,
  requested_at timestamp with time zone not null,
  requested_by text not null,
  reason text,
  constraint job_cancel_pkey PRIMARY KEY (job_id)
);
comment on table writ_data.job_cancel is 'Requests to stop a job that a worker holds; whatever ends it next, except success, ends it as cancelled.';

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
  limit_concurrency integer,
  limit_rate double precision,
  limit_burst double precision,
  registered_by text not null,
  registered_at timestamp with time zone not null default clock_timestamp(),
  former jsonb,
  paused_at timestamp with time zone,
  paused_by text,
  constraint backoff_is_bounded CHECK ((((backoff_base_s >= (0)::double precision) AND (backoff_base_s <= (2592000)::double precision)) AND ((backoff_cap_s >= (0)::double precision) AND (backoff_cap_s <= (2592000)::double precision)))),
  constraint event_domain_is_known CHECK ((event_domain = ANY (ARRAY['iu'::text, 'birth_registry'::text, 'governance'::text, 'tac'::text, 'kg'::text, 'system'::text, 'dot'::text, 'health'::text, 'piece'::text]))),
  constraint executor_is_whitelisted CHECK ((executor = ANY (ARRAY['DOT'::text, 'Agent'::text, 'Hermes'::text, 'Codex'::text, 'PG_worker'::text, 'external_worker'::text, 'future_Kestra_adapter'::text]))),
  constraint job_kind_is_a_name CHECK ((job_kind ~ '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$'::text)),
  constraint job_kind_pkey PRIMARY KEY (job_kind),
  constraint limit_is_bounded CHECK ((((limit_concurrency >= 1) AND (limit_concurrency <= 1000000)) AND ((limit_rate >= (0.000001)::double precision) AND (limit_rate <= ('1000000'::numeric)::double precision)) AND ((limit_burst >= (1)::double precision) AND (limit_burst <= ('1000000'::numeric)::double precision)))),
  constraint max_attempts_is_positive CHECK ((max_attempts > 0)),
  constraint paused_by_somebody CHECK (((paused_at IS NULL) = (paused_by IS NULL))),
  constraint rate_has_a_burst CHECK (((limit_rate IS NULL) = (limit_burst IS NULL))),
  constraint source_system_is_not_blank CHECK (((btrim(source_system) <> ''::text) AND (length(source_system) <= 200))),
  constraint timeout_is_bounded CHECK (((timeout_s >= (0.001)::double precision) AND (timeout_s <= (2592000)::double precision)))
);
comment on column writ_data.job_kind.limit_concurrency is 'Jobs of one limit key that may be leased at a time.';
comment on column writ_data.job_kind.limit_rate is 'Jobs of one limit key that may start per second, after a burst of limit_burst.';
comment on column writ_data.job_kind.former is 'The definition before the last change. A change that brings it back within a day shows that two processes disagree.';
comment on column writ_data.job_kind.paused_at is 'Since when workers receive none of its jobs.';

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
  execution_nos integer[] not null,
  start_upto integer[] not null default '{}'::integer[],
  start_at timestamp with time zone[] not null default '{}'::timestamp with time zone[],
  open_jobs integer not null,
  ended_early integer not null default 0,
  limited boolean not null default false,
  alone boolean not null default false,
  stepped boolean not null default false,
  reserved boolean not null default true,
  login name not null default SESSION_USER,
  constraint a_generator_never_leases CHECK ((holder !~~ 'MOT:%'::text)),
  constraint holder_is_not_blank CHECK ((btrim(holder) <> ''::text)),
  constraint job_lease_pkey PRIMARY KEY (lease_token),
  constraint lease_arrays_are_parallel CHECK (((cardinality(attempts) = cardinality(job_ids)) AND (cardinality(execution_nos) = cardinality(job_ids)))),
  constraint open_jobs_are_of_the_lease CHECK (((open_jobs >= 0) AND (open_jobs <= cardinality(job_ids)))),
  constraint start_marks_are_parallel CHECK ((cardinality(start_upto) = cardinality(start_at)))
);
CREATE INDEX job_lease_by_expiry ON writ_data.job_lease USING btree (leased_until);
comment on table writ_data.job_lease is 'One row per claimed batch. Jobs 1..n are LEASED; those up to the last element of start_upto are IN_PROGRESS since the time beside it.';
comment on column writ_data.job_lease.ended_early is 'Jobs that ended without having been started; a later start mark passes over them.';
comment on column writ_data.job_lease.limited is 'Counts in limit_hold.';
comment on column writ_data.job_lease.alone is 'Holds one job that is suspected of killing its worker; nothing runs beside it.';
comment on column writ_data.job_lease.stepped is 'Holds steps of runs.';
comment on column writ_data.job_lease.reserved is 'May hold jobs of reserved kinds, which a worker cannot finish by itself: the queue''s gates look them up. False where the claim knows better.';
comment on column writ_data.job_lease.login is 'The database login that claimed it. A claim takes only jobs that its login may touch, so a later call through the same login need not look up whose they are.';

create table writ_data.job_ready ( -- owner writ_owner
  lane_id bigint not null,
  seq bigint not null,
  part bigint not null,
  job_ids uuid[] not null,
  attempts smallint not null,
  execution_no integer not null,
  deadline_at timestamp with time zone,
  moved boolean not null default false,
  inputs text[] storage external,
  max_attempts smallint,
  steps text[],
  constraint moved_jobs_stand_by_themselves CHECK (((NOT moved) OR (cardinality(job_ids) = 1))),
  constraint ready_row_has_jobs CHECK (((cardinality(job_ids) >= 1) AND (cardinality(job_ids) <= 100)))
);
CREATE INDEX job_ready_by_deadline ON writ_data.job_ready USING btree (deadline_at) WHERE (deadline_at IS NOT NULL);
CREATE INDEX job_ready_claim ON writ_data.job_ready USING btree (lane_id, seq, part);
CREATE INDEX job_ready_moved ON writ_data.job_ready USING btree ((job_ids[1])) WHERE moved;
comment on table writ_data.job_ready is 'What can be claimed now: the jobs that one call added to a lane, at most a hundred to a row. A claim deletes the row and writes a lease.';
comment on column writ_data.job_ready.part is 'The order within seq: from 0 on for the rows of one call. What was given back stands before them, in the order of its ids.';
comment on column writ_data.job_ready.moved is 'Came here after a delay, a retry or a release, in a row of its own.';
comment on column writ_data.job_ready.max_attempts is 'Set: the row carries all that a worker needs to know, with the inputs beside it, and a claim need not look the jobs up. Null: it has to.';
comment on column writ_data.job_ready.steps is 'Set: the jobs are steps, and this is what a claim says of each.';

create table writ_data.job_subscription ( -- owner writ_owner
  executor_id text not null,
  job_kind text,
  event_domain text,
  priority_floor smallint not null default '-32768'::integer,
  put_by text not null,
  put_at timestamp with time zone not null,
  constraint event_domain_is_known CHECK ((event_domain = ANY (ARRAY['iu'::text, 'birth_registry'::text, 'governance'::text, 'tac'::text, 'kg'::text, 'system'::text, 'dot'::text, 'health'::text, 'piece'::text]))),
  constraint executor_id_is_not_blank CHECK ((btrim(executor_id) <> ''::text)),
  constraint job_subscription_job_kind_fkey FOREIGN KEY (job_kind) REFERENCES writ_data.job_kind(job_kind),
  constraint subscription_is_said_once UNIQUE NULLS NOT DISTINCT (executor_id, job_kind, event_domain)
);
comment on table writ_data.job_subscription is 'What a worker, by its name or its lease name, may claim: jobs that match any of its rows. No rows: no limit. Null kind or domain: all.';

create table writ_data.job_wait ( -- owner writ_owner
  due_at timestamp with time zone not null,
  job_kind text not null,
  tenant_id text not null,
  priority smallint not null,
  job_id uuid not null,
  attempts smallint not null,
  execution_no integer not null,
  deadline_at timestamp with time zone,
  reason text not null,
  limit_key text,
  alone boolean not null default false,
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
  correlation_id text,
  enqueued_by text not null,
  enqueued_at timestamp with time zone not null default clock_timestamp(),
  workflow_key text,
  job_ids uuid[] not null default '{}'::uuid[],
  constraint generator_is_named_as_one CHECK ((generator ~~ 'MOT:_%'::text)),
  constraint job_workflow_pkey PRIMARY KEY (workflow_id),
  constraint workflow_kind_is_not_blank CHECK ((btrim(workflow_kind) <> ''::text))
);
CREATE UNIQUE INDEX job_workflow_key ON writ_data.job_workflow USING btree (tenant_id, workflow_kind, workflow_key) WHERE (workflow_key IS NOT NULL);
CREATE TRIGGER job_workflow_is_written_once BEFORE UPDATE ON writ_data.job_workflow FOR EACH ROW EXECUTE FUNCTION writ_data.refuse_change();
comment on column writ_data.job_workflow.workflow_key is 'Null: the workflow answers to its id alone.';
comment on column writ_data.job_workflow.job_ids is 'The jobs that were emitted with it, in the order of the call. Replays and later jobs name the workflow themselves.';

create table writ_data.lane ( -- owner writ_owner
  lane_id bigint not null,
  job_kind text not null,
  tenant_id text not null,
  limit_key text not null default ''::text,
  priority smallint not null,
  alone boolean not null default false,
  head bigint not null default 0,
  closing xid8,
  constraint lane_pkey PRIMARY KEY (lane_id)
) with (fillfactor=50);
CREATE INDEX lane_alone ON writ_data.lane USING btree (job_kind) WHERE alone;
CREATE INDEX lane_by_key ON writ_data.lane USING btree (job_kind, tenant_id, md5(limit_key), priority DESC) WHERE (limit_key <> ''::text);
CREATE INDEX lane_by_name ON writ_data.lane USING btree (job_kind, tenant_id, limit_key, priority DESC, alone);
comment on table writ_data.lane is 'Where jobs of one kind, tenant, limit key and priority stand in line. Made by the first job, removed some minutes after the last. There may be two of a name for a while: nobody waits for another''s transaction to make one.';
comment on column writ_data.lane.alone is 'For jobs whose worker died in them: each runs with nothing beside it.';
comment on column writ_data.lane.head is 'No ready row of the lane stands before it.';
comment on column writ_data.lane.closing is '0: found empty. A transaction that has seen this mark stand: removed when every older one has ended.';

create table writ_data.ledger_aside ( -- owner writ_owner
  log_id text not null,
  receipt_no bigint not null,
  constraint ledger_aside_pkey PRIMARY KEY (log_id, receipt_no)
);
comment on table writ_data.ledger_aside is 'Receipts of logs that could not grow: they wait here, so that the other logs go on. Empty while all is well.';

create table writ_data.ledger_checkpoint ( -- owner writ_owner
  checkpoint_no bigint not null,
  log_id text not null,
  epoch integer not null,
  size bigint not null,
  root bytea not null,
  note text not null,
  at timestamp with time zone not null,
  constraint ledger_checkpoint_pkey PRIMARY KEY (checkpoint_no)
);
CREATE INDEX ledger_checkpoint_by_log ON writ_data.ledger_checkpoint USING btree (log_id, size);
CREATE INDEX ledger_checkpoint_newest ON writ_data.ledger_checkpoint USING btree (log_id, checkpoint_no);
CREATE TRIGGER ledger_checkpoint_is_not_truncated BEFORE TRUNCATE ON writ_data.ledger_checkpoint FOR EACH STATEMENT EXECUTE FUNCTION writ_data.refuse_change();
CREATE TRIGGER ledger_checkpoint_is_written_once BEFORE DELETE OR UPDATE ON writ_data.ledger_checkpoint FOR EACH ROW EXECUTE FUNCTION writ_data.refuse_change();
comment on table writ_data.ledger_checkpoint is 'Signed checkpoints that have been published. The copies that count are the ones outside.';

create table writ_data.ledger_clockwork ( -- owner writ_owner
  single boolean not null default true,
  last_no bigint not null default 0,
  missing int8multirange not null default '{}'::int8multirange,
  missing_before int8multirange not null default '{}'::int8multirange,
  missing_xid xid8 not null default '0'::xid8,
  sealed writ_data.record_position not null default ROW('00000000-0000-0000-0000-000000000000'::uuid, '0'::xid8, '00000000-0000-0000-0000-000000000000'::uuid)::writ_data.record_position,
  segment bigint not null default 0,
  sealed_at timestamp with time zone not null default '-infinity'::timestamp with time zone,
  aside_at timestamp with time zone not null default '-infinity'::timestamp with time zone,
  kept_at timestamp with time zone not null default '-infinity'::timestamp with time zone,
  constraint ledger_clockwork_pkey PRIMARY KEY (single),
  constraint ledger_clockwork_single_check CHECK (single)
) with (fillfactor=10);
comment on table writ_data.ledger_clockwork is 'How far sequencer and sealer are. Receipts up to last_no are in their logs, but for the missing: numbers that were not seen when they were passed, because a transaction was open or had been rolled back. missing_before were missing already when transaction missing_xid began: when everything older has ended, they will not come. aside_at: when receipts that were set aside were tried last.';

create table writ_data.ledger_key ( -- owner writ_owner
  key_no bigint not null,
  key text not null,
  added_at timestamp with time zone not null,
  constraint ledger_key_key_key UNIQUE (key),
  constraint ledger_key_pkey PRIMARY KEY (key_no)
);
CREATE TRIGGER ledger_key_is_written_once BEFORE DELETE OR UPDATE ON writ_data.ledger_key FOR EACH ROW EXECUTE FUNCTION writ_data.refuse_change();
comment on table writ_data.ledger_key is 'Public keys that sign or have signed, the newest last. Their receipts may have been archived and dropped.';

create table writ_data.ledger_leaf ( -- owner writ_owner
  log_id text not null,
  leaf_index bigint not null,
  receipt_no bigint not null,
  leaf_hash bytea not null,
  constraint ledger_leaf_pkey PRIMARY KEY (log_id, leaf_index)
);
CREATE UNIQUE INDEX ledger_leaf_by_receipt ON writ_data.ledger_leaf USING btree (receipt_no);
CREATE TRIGGER ledger_leaf_is_not_truncated BEFORE TRUNCATE ON writ_data.ledger_leaf FOR EACH STATEMENT EXECUTE FUNCTION writ_data.refuse_change();
CREATE TRIGGER ledger_leaf_is_written_once BEFORE DELETE OR UPDATE ON writ_data.ledger_leaf FOR EACH ROW EXECUTE FUNCTION writ_data.refuse_change();
comment on table writ_data.ledger_leaf is 'Where a receipt stands in its log. Stays when the receipt itself has been archived and dropped.';

create table writ_data.ledger_log ( -- owner writ_owner
  log_id text not null,
  epoch integer not null default 1,
  size bigint not null default 0,
  frontier bytea not null default '\x'::bytea,
  root bytea not null default sha256('\x'::bytea),
  grown_at timestamp with time zone,
  constraint frontier_has_a_hash_per_subtree CHECK (((octet_length(frontier) % 32) = 0)),
  constraint ledger_log_pkey PRIMARY KEY (log_id)
) with (fillfactor=50);
comment on table writ_data.ledger_log is 'One RFC 6962 tree per tenant, and _system. frontier: the roots of its complete subtrees, the largest first.';

create table writ_data.ledger_node ( -- owner writ_owner
  log_id text not null,
  level smallint not null,
  node_index bigint not null,
  hash bytea not null,
  constraint ledger_node_pkey PRIMARY KEY (log_id, level, node_index)
);
CREATE TRIGGER ledger_node_is_not_truncated BEFORE TRUNCATE ON writ_data.ledger_node FOR EACH STATEMENT EXECUTE FUNCTION writ_data.refuse_change();
CREATE TRIGGER ledger_node_is_written_once BEFORE DELETE OR UPDATE ON writ_data.ledger_node FOR EACH ROW EXECUTE FUNCTION writ_data.refuse_change();
comment on table writ_data.ledger_node is 'Roots of complete subtrees of 256, 65536, … leaves: what a proof needs besides the leaves beside its own.';

create table writ_data.ledger_restore ( -- owner writ_owner
  restore_no bigint not null,
  known_checkpoint text,
  known_epoch integer,
  known_size bigint,
  restored_size bigint not null,
  accepted_at timestamp with time zone not null,
  constraint ledger_restore_pkey PRIMARY KEY (restore_no)
);
CREATE TRIGGER ledger_restore_is_written_once BEFORE DELETE OR UPDATE ON writ_data.ledger_restore FOR EACH ROW EXECUTE FUNCTION writ_data.refuse_change();
comment on table writ_data.ledger_restore is 'Restores that somebody has accepted: how many receipts _system had, and the checkpoint that it fell short of.';

create table writ_data.limit_hold ( -- owner writ_owner
  lease_token uuid not null,
  job_kind text not null,
  limit_key text not null,
  open_jobs integer not null,
  constraint limit_hold_pkey PRIMARY KEY (lease_token, job_kind, limit_key),
  constraint open_jobs_are_counted CHECK ((open_jobs > 0))
);
CREATE INDEX limit_hold_by_key ON writ_data.limit_hold USING btree (job_kind, limit_key);
comment on table writ_data.limit_hold is 'How many open jobs of a limited kind and key each lease holds.';

create table writ_data.limit_meter ( -- owner writ_owner
  job_kind text not null,
  limit_key text not null,
  full_at timestamp with time zone not null,
  constraint limit_meter_pkey PRIMARY KEY (job_kind, limit_key)
) with (fillfactor=50);
comment on table writ_data.limit_meter is 'When the burst of a rate-limited kind and key will be full again, if nothing more starts.';

create table writ_data.limit_turn ( -- owner writ_owner
  slot smallint not null,
  constraint limit_turn_pkey PRIMARY KEY (slot)
);
comment on table writ_data.limit_turn is 'A claim locks the slot that a limited kind and key hashes to while it counts. The rows are made once, so that a claim never waits for another to insert one; keys that share a slot only take turns.';

create table writ_data.login ( -- owner writ_owner
  login name not null,
  principal_id text,
  tenant_id text,
  roles text[] not null,
  put_by text not null,
  put_at timestamp with time zone not null,
  constraint login_pkey PRIMARY KEY (login),
  constraint put_by_is_a_short_text CHECK (((btrim(put_by) <> ''::text) AND (length(put_by) <= 200))),
  constraint roles_are_of_writ CHECK ((roles <@ ARRAY['writ_principal'::text, 'writ_producer'::text, 'writ_worker'::text, 'writ_applier'::text, 'writ_engine'::text, 'writ_server'::text, 'writ_signer'::text, 'writ_auditor'::text, 'writ_admin'::text, 'dot_executor'::text, 'workflow_admin'::text])),
  constraint tenant_is_not_blank CHECK ((tenant_id <> ''::text))
);
comment on table writ_data.login is 'What a database login is for. A login without a row is bound to nothing.';
comment on column writ_data.login.principal_id is 'The one principal that it acts for, without a key; null: whoever gives a key.';
comment on column writ_data.login.tenant_id is 'The one tenant that it may touch; null: any.';
comment on column writ_data.login.roles is 'The roles that its use needs. PostgreSQL grants them; `writ doctor` compares.';

create table writ_data.outbox_clockwork ( -- owner writ_owner
  one boolean not null default true,
  idle_until timestamp with time zone not null default '-infinity'::timestamp with time zone,
  constraint outbox_clockwork_one_check CHECK (one),
  constraint outbox_clockwork_pkey PRIMARY KEY (one)
) with (fillfactor=50);
comment on table writ_data.outbox_clockwork is 'Until when a relay wants to be woken by whoever records something.';

create table writ_data.plan ( -- owner writ_owner
  plan_no integer not null,
  plan_id text not null,
  plan_version text not null,
  tenant_id text not null default ''::text,
  sha256 bytea not null,
  document text not null,
  on_failure text not null,
  last_steps smallint[] not null,
  registered_by text not null,
  registered_at timestamp with time zone not null,
  constraint failure_fails_or_pauses CHECK ((on_failure = ANY (ARRAY['fail'::text, 'pause'::text]))),
  constraint plan_is_what_its_hash_says CHECK ((sha256 = sha256(convert_to(document, 'UTF8'::name)))),
  constraint plan_pkey PRIMARY KEY (plan_no),
  constraint plan_plan_id_plan_version_tenant_id_key UNIQUE (plan_id, plan_version, tenant_id)
);
CREATE TRIGGER plan_is_written_once BEFORE DELETE OR UPDATE ON writ_data.plan FOR EACH ROW EXECUTE FUNCTION writ_data.refuse_change();
comment on table writ_data.plan is 'Versions of plans, as the canonical JSON that is hashed. A version never changes; a run keeps the one it started with.';
comment on column writ_data.plan.tenant_id is 'The tenant of the login that registered it; empty: for every tenant.';
comment on column writ_data.plan.last_steps is 'Steps that nothing comes after: when they have ended, the run has.';

create table writ_data.plan_step ( -- owner writ_owner
  plan_no integer not null,
  step_no smallint not null,
  step_id text not null,
  type text not null,
  job_kind text not null,
  after smallint[] not null,
  next smallint[] not null,
  condition jsonb,
  optional boolean not null,
  input jsonb,
  over text,
  parallel integer,
  event text,
  schema jsonb,
  wait_ms bigint,
  on_timeout text,
  max_attempts smallint,
  timeout_ms bigint,
  undo_kind text,
  undo_input jsonb,
  undo_attempts smallint,
  plain boolean not null default false,
  constraint a_timer_has_a_time CHECK (((type <> 'timer'::text) OR (wait_ms IS NOT NULL))),
  constraint numbers_of_a_step_have_bounds CHECK ((((parallel >= 1) AND (parallel <= 1000)) AND ((wait_ms >= 1) AND (wait_ms <= '316224000000'::bigint)) AND ((timeout_ms >= 1) AND (timeout_ms <= '316224000000'::bigint)) AND (max_attempts > 0) AND (undo_attempts > 0))),
  constraint only_a_wait_has_an_event CHECK (((type = 'wait'::text) = (event IS NOT NULL))),
  constraint only_each_goes_over_a_list CHECK (((type = 'each'::text) = ((over IS NOT NULL) AND (parallel IS NOT NULL)))),
  constraint plan_step_job_kind_fkey FOREIGN KEY (job_kind) REFERENCES writ_data.job_kind(job_kind),
  constraint plan_step_pkey PRIMARY KEY (plan_no, step_no),
  constraint plan_step_plan_no_fkey FOREIGN KEY (plan_no) REFERENCES writ_data.plan(plan_no),
  constraint plan_step_plan_no_step_id_key UNIQUE (plan_no, step_id),
  constraint plan_step_undo_kind_fkey FOREIGN KEY (undo_kind) REFERENCES writ_data.job_kind(job_kind),
  constraint type_is_known CHECK ((type = ANY (ARRAY['job'::text, 'each'::text, 'wait'::text, 'timer'::text])))
);
comment on column writ_data.plan_step.input is 'A template; null: the input of the run, or the element of the list.';
comment on column writ_data.plan_step.plain is 'What comes after it are jobs that wait for nothing else and have no condition; or nothing, and the plan has no other last step. Then its end decides alone what follows.';

create table writ_data.principal ( -- owner writ_owner
  principal_id text not null,
  tenant_id text,
  kind text not null,
  on_behalf_of text,
  rights text[] not null,
  auth_sha256 bytea not null,
  public_key bytea not null,
  added_by text not null,
  added_at timestamp with time zone not null,
  disabled_at timestamp with time zone,
  permissions text[] not null default '{}'::text[],
  constraint agents_only_propose CHECK (((kind <> 'agent'::text) OR (rights <@ '{view,propose}'::text[]))),
  constraint an_agent_acts_for_somebody CHECK (((kind = 'agent'::text) = (on_behalf_of IS NOT NULL))),
  constraint keys_have_their_size CHECK (((octet_length(auth_sha256) = 32) AND (octet_length(public_key) = 32))),
  constraint kind_is_known CHECK ((kind = ANY (ARRAY['person'::text, 'service'::text, 'agent'::text]))),
  constraint only_persons_approve CHECK (((kind = 'person'::text) OR (NOT (rights && '{approve,break_glass}'::text[])))),
  constraint permissions_are_names CHECK (((array_to_string(permissions, ''::text) !~ '[^A-Za-z0-9_.:/@-]'::text) AND (array_to_string(permissions, ' '::text) ~ '^([A-Za-z0-9][A-Za-z0-9_.:/@-]{0,99}( |$))*$'::text) AND (cardinality(permissions) <= 100))),
  constraint principal_is_a_name CHECK ((principal_id ~ '^[A-Za-z0-9][A-Za-z0-9_.@-]{0,99}$'::text)),
  constraint principal_on_behalf_of_fkey FOREIGN KEY (on_behalf_of) REFERENCES writ_data.principal(principal_id),
  constraint principal_pkey PRIMARY KEY (principal_id),
  constraint rights_are_known CHECK ((rights <@ '{view,propose,approve,activate,operate,report,break_glass,produce,audit,administer}'::text[]))
);
comment on table writ_data.principal is 'Who acts. The database knows the hash of what authenticates a principal and the public key that its approvals are signed with; both come from one key, which it never sees.';
comment on column writ_data.principal.tenant_id is 'Null: in every tenant.';
comment on column writ_data.principal.permissions is 'What it may have done by a governor: names that the actions of policies require.';

create table writ_data.probe ( -- owner writ_owner
  tenant_id text not null,
  name text not null,
  capability text not null,
  type text not null,
  config jsonb not null,
  every_ms integer not null,
  timeout_ms integer not null,
  status text,
  detail text,
  checked_at timestamp with time zone,
  due_at timestamp with time zone not null default '-infinity'::timestamp with time zone,
  put_by text not null,
  put_at timestamp with time zone not null,
  constraint probe_is_a_name CHECK ((name ~ '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$'::text)),
  constraint probe_pkey PRIMARY KEY (tenant_id, name),
  constraint probe_tenant_id_capability_fkey FOREIGN KEY (tenant_id, capability) REFERENCES writ_data.capability(tenant_id, capability_name),
  constraint status_is_known CHECK ((status = ANY (ARRAY['HEALTHY'::text, 'DEGRADED'::text, 'UNHEALTHY'::text]))),
  constraint times_are_sensible CHECK ((((every_ms >= 100) AND (every_ms <= 86400000)) AND ((timeout_ms >= 10) AND (timeout_ms <= 60000)))),
  constraint type_is_known CHECK ((type = ANY (ARRAY['http'::text, 'sql'::text, 'prometheus'::text, 'heartbeat'::text, 'reported'::text])))
);
CREATE INDEX probe_by_capability ON writ_data.probe USING btree (tenant_id, capability);
CREATE INDEX probe_due ON writ_data.probe USING btree (due_at) WHERE (type = ANY (ARRAY['http'::text, 'sql'::text, 'prometheus'::text]));

create table writ_data.probe_asked ( -- owner writ_owner
  tenant_id text not null,
  name text not null,
  login name not null,
  asked_at timestamp with time zone not null,
  constraint probe_asked_pkey PRIMARY KEY (tenant_id, name, login),
  constraint probe_asked_tenant_id_name_fkey FOREIGN KEY (tenant_id, name) REFERENCES writ_data.probe(tenant_id, name) ON DELETE CASCADE
);
comment on table writ_data.probe_asked is 'Which logins were handed a probe to ask, and when: only they may report its answer.';

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
  login name not null default SESSION_USER,
  constraint a_generator_never_beats CHECK ((executor_id !~~ 'MOT:%'::text)),
  constraint executor_is_whitelisted CHECK ((executor_kind = ANY (ARRAY['DOT'::text, 'Agent'::text, 'Hermes'::text, 'Codex'::text, 'PG_worker'::text, 'external_worker'::text, 'future_Kestra_adapter'::text]))),
  constraint queue_worker_pkey PRIMARY KEY (login, executor_id)
) with (fillfactor=50);
comment on table writ_data.queue_worker is 'Heartbeats of workers, and which of them wait for a wake-up.';

create table writ_data.receipt_archive ( -- owner writ_owner
  month date not null,
  place text not null,
  archived_by text not null,
  archived_at timestamp with time zone not null,
  constraint month_is_its_first_day CHECK ((EXTRACT(day FROM month) = (1)::numeric)),
  constraint month_is_of_our_time CHECK (((month >= '2000-01-01'::date) AND (month <= '9999-12-01'::date))),
  constraint receipt_archive_pkey PRIMARY KEY (month)
);
comment on table writ_data.receipt_archive is 'Months of receipts that somebody has put elsewhere with their tiles, and which may be dropped.';

create table writ_data.receipt_erasable ( -- owner writ_owner
  receipt_no bigint not null,
  hash bytea not null,
  salt bytea not null,
  value jsonb not null,
  constraint receipt_erasable_pkey PRIMARY KEY (receipt_no, hash)
);
comment on table writ_data.receipt_erasable is 'What may have to be erased one day: the receipt holds SHA-256(salt, value) in its place.';

create table writ_data.receipt_reason ( -- owner writ_owner
  reason text not null,
  statuses text[] not null,
  terminal boolean not null,
  description text not null,
  constraint receipt_reason_pkey PRIMARY KEY (reason)
);
comment on table writ_data.receipt_reason is 'The reasons that a receipt can have, from the schemas in src/ledger/reasons/.';

create table writ_data.receipt_stream ( -- owner writ_owner
  log_id text not null,
  stream text not null,
  last_seq bigint not null,
  constraint receipt_stream_pkey PRIMARY KEY (log_id, stream)
) with (fillfactor=50);
comment on table writ_data.receipt_stream is 'Streams that have no row of their own to count in.';

create table writ_data.record_era ( -- owner writ_owner
  era uuid not null,
  begun_at timestamp with time zone not null,
  written xid not null,
  table_id oid not null,
  constraint record_era_pkey PRIMARY KEY (era)
);
comment on table writ_data.record_era is 'Servers that this record has been on, by the ids of their batches.';
comment on column writ_data.record_era.written is 'The transaction that wrote this row, as its xmin says. With table_id, the oid of this table, it tells a restored row: that one was written by another transaction, into another table.';

create table writ_data.request ( -- owner writ_owner
  login name not null,
  principal_id text not null,
  tenant_id text not null,
  once text not null,
  digest bytea not null,
  answer jsonb,
  at timestamp with time zone not null,
  constraint answer_has_its_size CHECK ((octet_length((answer)::text) <= 65536)),
  constraint digest_has_its_size CHECK ((octet_length(digest) = 32)),
  constraint once_has_its_size CHECK (((length(once) >= 1) AND (length(once) <= 255))),
  constraint request_pkey PRIMARY KEY (login, principal_id, tenant_id, once),
  constraint tenant_has_its_size CHECK ((length(tenant_id) <= 200))
) with (fillfactor=70);
CREATE INDEX request_by_age ON writ_data.request USING btree (at);
comment on table writ_data.request is 'Calls that their callers may repeat (`once`), each with its answer. The row and the effect of the call are one transaction. Rows go after requests.retention_hours.';
comment on column writ_data.request.principal_id is 'The principal that the database has authenticated; empty: none.';
comment on column writ_data.request.digest is 'SHA-256 of the call as its caller meant it.';
comment on column writ_data.request.answer is 'Null while the call is under way. A refusal is not kept.';

create table writ_data.run_projector ( -- owner writ_owner
  one boolean not null default true,
  position writ_data.record_position not null default ROW('00000000-0000-0000-0000-000000000000'::uuid, '0'::xid8, '00000000-0000-0000-0000-000000000000'::uuid)::writ_data.record_position,
  holder text,
  held_until timestamp with time zone not null default '-infinity'::timestamp with time zone,
  turn uuid,
  turn_end writ_data.record_position,
  oldest timestamp with time zone,
  moved_at timestamp with time zone not null default '-infinity'::timestamp with time zone,
  constraint run_projector_one_check CHECK (one),
  constraint run_projector_pkey PRIMARY KEY (one)
) with (fillfactor=10);
comment on table writ_data.run_projector is 'How far the projector has followed the record. It moves once per turn, whatever the number of events.';
comment on column writ_data.run_projector.turn is 'The turn that was given last. It ends at turn_end; oldest is the time of its first row.';

create table writ_data.run_request ( -- owner writ_owner
  request_sha256 bytea not null,
  run_id uuid not null,
  constraint run_request_pkey PRIMARY KEY (request_sha256)
);
CREATE INDEX run_request_by_run ON writ_data.run_request USING btree (run_id);
comment on table writ_data.run_request is 'SHA-256 of [tenant, project, environment, plan, version, request] as JSON: the same request is the same run, for as long as the run is kept.';

create table writ_data.schedule ( -- owner writ_owner
  tenant_id text not null,
  schedule text not null,
  cron text not null,
  time_zone text not null,
  catch_up text not null,
  job_kind text not null,
  job jsonb not null,
  version integer not null default 1,
  next_tick timestamp with time zone not null,
  paused_at timestamp with time zone,
  paused_by text,
  created_at timestamp with time zone not null,
  created_by text not null,
  updated_at timestamp with time zone not null,
  updated_by text not null,
  aside_until timestamp with time zone,
  constraint catch_up_is_known CHECK ((catch_up = ANY (ARRAY['none'::text, 'last'::text, 'all'::text]))),
  constraint cron_is_five_fields_or_a_nickname CHECK (((cron ~ '^(@[a-z]+|[^ @]+( [^ ]+){4})$'::text) AND (length(cron) <= 1000))),
  constraint job_is_an_object CHECK ((jsonb_typeof(job) = 'object'::text)),
  constraint next_tick_is_a_whole_minute CHECK ((isfinite(next_tick) AND (EXTRACT(second FROM next_tick) = (0)::numeric))),
  constraint paused_by_somebody CHECK (((paused_at IS NULL) = (paused_by IS NULL))),
  constraint schedule_is_a_name CHECK ((schedule ~ '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$'::text)),
  constraint schedule_pkey PRIMARY KEY (tenant_id, schedule),
  constraint tenant_is_not_blank CHECK ((tenant_id <> ''::text)),
  constraint time_zone_is_a_name CHECK ((time_zone ~ '^[A-Za-z][A-Za-z0-9_+/-]{0,99}$'::text))
);
CREATE INDEX schedule_by_next_tick ON writ_data.schedule USING btree (next_tick, tenant_id, schedule) WHERE (paused_at IS NULL);
comment on column writ_data.schedule.job is 'What each tick enqueues, as fn_job_enqueue_many takes it; id, kind, key and tenant are added when it fires.';
comment on column writ_data.schedule.version is 'Counts changes of the definition: ticks that were worked out from an older one do not fire.';
comment on column writ_data.schedule.aside_until is 'It raised an error when it fired, and is not due before this.';

create table writ_data.schedule_tick ( -- owner writ_owner
  tenant_id text not null,
  schedule text not null,
  tick timestamp with time zone not null,
  job_id uuid not null,
  fired_at timestamp with time zone not null,
  fired_by text not null,
  constraint schedule_tick_pkey PRIMARY KEY (tenant_id, schedule, tick),
  constraint schedule_tick_tenant_id_schedule_fkey FOREIGN KEY (tenant_id, schedule) REFERENCES writ_data.schedule(tenant_id, schedule) ON DELETE CASCADE,
  constraint tick_is_a_whole_minute CHECK ((isfinite(tick) AND (EXTRACT(second FROM tick) = (0)::numeric)))
);
CREATE TRIGGER schedule_tick_is_written_once BEFORE UPDATE ON writ_data.schedule_tick FOR EACH ROW EXECUTE FUNCTION writ_data.refuse_change();
comment on table writ_data.schedule_tick is 'Ticks that have fired, and the job of each. Kept as long as finished jobs are.';

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

create table writ_data.target_hold ( -- owner writ_owner
  tenant_id text not null,
  target text not null,
  contract_id uuid not null,
  taken_at timestamp with time zone not null,
  constraint target_hold_contract_id_fkey FOREIGN KEY (contract_id) REFERENCES writ_data.contract(contract_id),
  constraint target_hold_pkey PRIMARY KEY (tenant_id, target)
);
CREATE INDEX target_hold_by_contract ON writ_data.target_hold USING btree (contract_id);

create table writ_data.tenant_weight ( -- owner writ_owner
  tenant_id text not null,
  weight double precision not null,
  set_by text not null,
  set_at timestamp with time zone not null,
  constraint tenant_weight_pkey PRIMARY KEY (tenant_id),
  constraint weight_is_sensible CHECK (((weight >= (0.01)::double precision) AND (weight <= (100)::double precision)))
);
comment on table writ_data.tenant_weight is 'Shares of tenants that are not 1.';

create table writ_data.turn ( -- owner writ_owner
  name text not null,
  constraint turn_pkey PRIMARY KEY (name)
);

create table writ_data.undelivered ( -- owner writ_owner
  destination text not null,
  event_id uuid not null,
  stream uuid not null,
  place bigint not null,
  run_seq integer,
  attempts smallint not null default 0,
  due_at timestamp with time zone,
  dead_at timestamp with time zone,
  status integer,
  reason text,
  constraint undelivered_destination_fkey FOREIGN KEY (destination) REFERENCES writ_data.destination(name) ON DELETE CASCADE,
  constraint undelivered_pkey PRIMARY KEY (destination, event_id)
);
CREATE INDEX undelivered_dead ON writ_data.undelivered USING btree (destination, dead_at) WHERE (dead_at IS NOT NULL);
CREATE INDEX undelivered_due ON writ_data.undelivered USING btree (destination, due_at) WHERE ((due_at IS NOT NULL) AND (dead_at IS NULL));
CREATE INDEX undelivered_stream ON writ_data.undelivered USING btree (destination, stream, place) WHERE (dead_at IS NULL);
comment on table writ_data.undelivered is 'Events that a destination has not accepted yet, those of the same stream that wait behind them (due_at is null), and dead letters (dead_at).';
comment on column writ_data.undelivered.stream is 'What the event is about, for a run its id: its events are delivered in order.';

-- view writ.admission with (security_barrier=true); owner writ_owner; source cb3624e0e5bff485832c5b2bfbf6d2066583e397e03717876218096aff7d8689
--   tenant_id text
--   policy text
--   max_running integer
--   max_pending integer
--   delay_ms integer
--   put_by text
--   put_at timestamp with time zone
grant select on writ.admission to dot_executor;
grant select on writ.admission to workflow_admin;
grant select on writ.admission to writ_admin;
grant select on writ.admission to writ_applier;
grant select on writ.admission to writ_auditor;
grant select on writ.admission to writ_engine;
grant select on writ.admission to writ_producer;
grant select on writ.admission to writ_server;
grant select on writ.admission to writ_worker;

-- view writ.alert with (security_barrier=true); owner writ_owner; source 2a7089739fff7e580edc2c64e657fd068dbb6278b3e2f8511eaa508e120d3034
--   alert_id uuid
--   code text
--   severity text
--   tenant_id text
--   subject text
--   detail jsonb
--   raised_at timestamp with time zone
--   cleared_at timestamp with time zone
--   cleared_by text
grant select on writ.alert to dot_executor;
grant select on writ.alert to workflow_admin;
grant select on writ.alert to writ_admin;
grant select on writ.alert to writ_applier;
grant select on writ.alert to writ_auditor;
grant select on writ.alert to writ_engine;
grant select on writ.alert to writ_producer;
grant select on writ.alert to writ_server;
grant select on writ.alert to writ_worker;

-- view writ.api_key with (security_barrier=true); owner writ_owner; source f7a00e839c56938c91bb5b2e48bff9d5a510e14ba9d3a1ba1754ff0d18493110
--   key_id text
--   principal_id text
--   tenant_id text
--   rights text[]
--   label text
--   expires_at timestamp with time zone
--   added_by text
--   added_at timestamp with time zone
--   last_used_at timestamp with time zone
--   revoked_at timestamp with time zone
grant select on writ.api_key to workflow_admin;
grant select on writ.api_key to writ_admin;
grant select on writ.api_key to writ_auditor;
grant select on writ.api_key to writ_server;

-- view writ.capability with (security_barrier=true); owner writ_owner; source c1c6e8d425143cf73466c43c81f1ce27ab84777abbb25fee4bd9dfa127b5aba0
--   tenant_id text
--   capability_name text
--   domain text
--   lifecycle text
--   version bigint
--   monitored boolean
--   frozen text
--   disqualified text
--   updated_by text
--   updated_at timestamp with time zone
--   held_by uuid
grant select on writ.capability to dot_executor;
grant select on writ.capability to workflow_admin;
grant select on writ.capability to writ_admin;
grant select on writ.capability to writ_applier;
grant select on writ.capability to writ_auditor;
grant select on writ.capability to writ_engine;
grant select on writ.capability to writ_principal;
grant select on writ.capability to writ_producer;
grant select on writ.capability to writ_server;
grant select on writ.capability to writ_worker;

-- view writ.change_freeze with (security_barrier=true); owner writ_owner; source 6f336f90d6393e52e0e61ea3c07576e0a679d86af86407679fddf167b724d508
--   freeze_id uuid
--   tenant_id text
--   reason text
--   begins_at timestamp with time zone
--   ends_at timestamp with time zone
--   put_by text
--   lifted_at timestamp with time zone
--   lifted_by text
--   lasts boolean
grant select on writ.change_freeze to dot_executor;
grant select on writ.change_freeze to workflow_admin;
grant select on writ.change_freeze to writ_admin;
grant select on writ.change_freeze to writ_applier;
grant select on writ.change_freeze to writ_auditor;
grant select on writ.change_freeze to writ_engine;
grant select on writ.change_freeze to writ_principal;
grant select on writ.change_freeze to writ_producer;
grant select on writ.change_freeze to writ_server;
grant select on writ.change_freeze to writ_worker;

-- view writ.command_run with (security_barrier=true); owner writ_owner; source 61bd4dc44bf027471c682d7845a3ea8895463a16dc43c942ba4cb1a47cc0fe4e
--   run_id uuid
--   at timestamp with time zone
--   command text
--   actor text
--   jobs integer
--   note text
--   login text
--   request_id text
grant select on writ.command_run to dot_executor;
grant select on writ.command_run to workflow_admin;
grant select on writ.command_run to writ_admin;
grant select on writ.command_run to writ_applier;
grant select on writ.command_run to writ_auditor;
grant select on writ.command_run to writ_engine;
grant select on writ.command_run to writ_producer;
grant select on writ.command_run to writ_server;
grant select on writ.command_run to writ_worker;

-- view writ.configuration with (security_barrier=true); owner writ_owner; source 5c96e2bcc8c578c8dc1514504f6a4c87902509bd08d87901ffb8cc1e0b7ddd5a
--   tenant_id text
--   scope text
--   key text
--   value jsonb
--   version bigint
--   owner_capability text
--   updated_by text
--   updated_at timestamp with time zone
--   held_by uuid
grant select on writ.configuration to dot_executor;
grant select on writ.configuration to workflow_admin;
grant select on writ.configuration to writ_admin;
grant select on writ.configuration to writ_applier;
grant select on writ.configuration to writ_auditor;
grant select on writ.configuration to writ_engine;
grant select on writ.configuration to writ_principal;
grant select on writ.configuration to writ_producer;
grant select on writ.configuration to writ_server;
grant select on writ.configuration to writ_worker;

-- view writ.configuration_scope with (security_barrier=true); owner writ_owner; source b585a3a6efa79a6e9948af475a7f5c051d5e7837071a6eefbb51fa6eafee8048
--   tenant_id text
--   scope text
--   owner_capability text
--   held_by uuid
grant select on writ.configuration_scope to dot_executor;
grant select on writ.configuration_scope to workflow_admin;
grant select on writ.configuration_scope to writ_admin;
grant select on writ.configuration_scope to writ_applier;
grant select on writ.configuration_scope to writ_auditor;
grant select on writ.configuration_scope to writ_engine;
grant select on writ.configuration_scope to writ_principal;
grant select on writ.configuration_scope to writ_producer;
grant select on writ.configuration_scope to writ_server;
grant select on writ.configuration_scope to writ_worker;

-- view writ.consumer_registry; owner writ_owner; source e76d6d4dffa9bc47e740218525b368a101558a93a1c51a658db36e57e504c94c
--   consumer text
--   event_type text
--   subject_kind text
--   subject_domain text
--   job_kind text
--   priority smallint
--   delay_ms bigint
--   max_attempts smallint
--   registered_by text
--   registered_at timestamp with time zone
--   position_xid xid8
--   position_event_id uuid
--   moved_at timestamp with time zone
--   refused text
grant select on writ.consumer_registry to dot_executor;
grant select on writ.consumer_registry to workflow_admin;
grant select on writ.consumer_registry to writ_admin;
grant select on writ.consumer_registry to writ_applier;
grant select on writ.consumer_registry to writ_auditor;
grant select on writ.consumer_registry to writ_engine;
grant select on writ.consumer_registry to writ_producer;
grant select on writ.consumer_registry to writ_server;
grant select on writ.consumer_registry to writ_worker;

-- view writ.contract_document with (security_barrier=true); owner writ_owner; source 618b7b64a3e924046b90aee88f876006d703c3a564fefdfbf20a847116bf0328
--   contract_id uuid
--   tenant_id text
--   hash text
--   document text
--   kept_at timestamp with time zone
grant select on writ.contract_document to dot_executor;
grant select on writ.contract_document to workflow_admin;
grant select on writ.contract_document to writ_admin;
grant select on writ.contract_document to writ_applier;
grant select on writ.contract_document to writ_auditor;
grant select on writ.contract_document to writ_engine;
grant select on writ.contract_document to writ_principal;
grant select on writ.contract_document to writ_producer;
grant select on writ.contract_document to writ_server;
grant select on writ.contract_document to writ_worker;

-- view writ.contract_read with (security_barrier=true); owner writ_owner; source 1bb37692a85283a82c72481d6857006699f43483a6cc5ceaf3429f74d432fe77
--   contract_id uuid
--   tenant_id text
--   step_type text
--   job_id uuid
--   requested_by text
--   requested_at timestamp with time zone
--   due_at timestamp with time zone
--   open boolean
grant select on writ.contract_read to dot_executor;
grant select on writ.contract_read to workflow_admin;
grant select on writ.contract_read to writ_admin;
grant select on writ.contract_read to writ_applier;
grant select on writ.contract_read to writ_auditor;
grant select on writ.contract_read to writ_engine;
grant select on writ.contract_read to writ_principal;
grant select on writ.contract_read to writ_producer;
grant select on writ.contract_read to writ_server;
grant select on writ.contract_read to writ_worker;

-- view writ.contract_review with (security_barrier=true); owner writ_owner; source d257371897e09549c37346a0c493aa9c0e224a400fe624ccf02d1d17e7a4309b
--   contract_id uuid
--   tenant_id text
--   review_no integer
--   action text
--   by text
--   reason text
--   hash text
--   scheme text
--   signature text
--   public_key text
--   at timestamp with time zone
--   verdict text
--   verified_by name
--   trust text
--   verified_at timestamp with time zone
grant select on writ.contract_review to dot_executor;
grant select on writ.contract_review to workflow_admin;
grant select on writ.contract_review to writ_admin;
grant select on writ.contract_review to writ_applier;
grant select on writ.contract_review to writ_auditor;
grant select on writ.contract_review to writ_engine;
grant select on writ.contract_review to writ_principal;
grant select on writ.contract_review to writ_producer;
grant select on writ.contract_review to writ_server;
grant select on writ.contract_review to writ_worker;

-- view writ.contract_value with (security_barrier=true); owner writ_owner; source 175047fbec6ac737ac5ae086b4c5bc3822acfce78fc84d84d00d765eabbe4aeb
--   contract_id uuid
--   tenant_id text
--   slot text
--   value jsonb
--   code text
--   detail text
--   job_id uuid
--   read_by text
--   read_at timestamp with time zone
grant select on writ.contract_value to dot_executor;
grant select on writ.contract_value to workflow_admin;
grant select on writ.contract_value to writ_admin;
grant select on writ.contract_value to writ_applier;
grant select on writ.contract_value to writ_auditor;
grant select on writ.contract_value to writ_engine;
grant select on writ.contract_value to writ_principal;
grant select on writ.contract_value to writ_producer;
grant select on writ.contract_value to writ_server;
grant select on writ.contract_value to writ_worker;

-- view writ.delivery with (security_barrier=true); owner writ_owner; source 6277400000718120a03cc2c7c30d256aa8bf8a57881fc465f0a9cc39156bacff
--   delivery_id uuid
--   destination text
--   event_id uuid
--   attempt smallint
--   at timestamp with time zone
--   ms integer
--   ok boolean
--   status integer
--   reason text
--   tenant_id text
grant select on writ.delivery to dot_executor;
grant select on writ.delivery to workflow_admin;
grant select on writ.delivery to writ_admin;
grant select on writ.delivery to writ_applier;
grant select on writ.delivery to writ_auditor;
grant select on writ.delivery to writ_engine;
grant select on writ.delivery to writ_producer;
grant select on writ.delivery to writ_server;
grant select on writ.delivery to writ_worker;

-- view writ.deployment; owner writ_owner; source 80fd538e1a6cc2cad42707fe66dec4728f1a90db238029feb756bcd92d24dcb7
--   deployment_id uuid
--   since timestamp with time zone
grant select on writ.deployment to dot_executor;
grant select on writ.deployment to workflow_admin;
grant select on writ.deployment to writ_admin;
grant select on writ.deployment to writ_applier;
grant select on writ.deployment to writ_auditor;
grant select on writ.deployment to writ_engine;
grant select on writ.deployment to writ_principal;
grant select on writ.deployment to writ_producer;
grant select on writ.deployment to writ_server;
grant select on writ.deployment to writ_signer;
grant select on writ.deployment to writ_worker;

-- view writ.destination with (security_barrier=true); owner writ_owner; source 7e5ad5bbc1d4e1453af16e8a9f2154d8ca272531aae6feb6424ce6ab7b652c10
--   name text
--   bus text
--   tenant_id text
--   types text[]
--   config jsonb
--   state text
--   note text
--   failures integer
--   failing_since timestamp with time zone
--   retry_at timestamp with time zone
--   relay text
--   undelivered bigint
--   dead bigint
--   behind_since timestamp with time zone
--   xid xid8
--   batch_id uuid
--   put_by text
--   put_at timestamp with time zone
--   moved_at timestamp with time zone
grant select on writ.destination to dot_executor;
grant select on writ.destination to workflow_admin;
grant select on writ.destination to writ_admin;
grant select on writ.destination to writ_applier;
grant select on writ.destination to writ_auditor;
grant select on writ.destination to writ_engine;
grant select on writ.destination to writ_producer;
grant select on writ.destination to writ_server;
grant select on writ.destination to writ_worker;

-- view writ.dot_config; owner writ_owner; source 22fc4159f12375a9b6d236926fae03961fa6145e81cb3db85ceb92e098ca9897
--   key text
--   value jsonb
--   minimum numeric
--   maximum numeric
--   whole boolean
--   choices text[]
--   description text
--   updated_at timestamp with time zone
--   updated_by text
grant select on writ.dot_config to dot_executor;
grant select on writ.dot_config to workflow_admin;
grant select on writ.dot_config to writ_admin;
grant select on writ.dot_config to writ_applier;
grant select on writ.dot_config to writ_auditor;
grant select on writ.dot_config to writ_engine;
grant select on writ.dot_config to writ_producer;
grant select on writ.dot_config to writ_server;
grant select on writ.dot_config to writ_worker;

-- view writ.entitlement with (security_barrier=true); owner writ_owner; source bd0c0c34c8f0514ef347a0228e3aa32695a65f02a25b53a5e4517a44c249f179
--   tenant_id text
--   entitlement_id text
--   status text
--   tier text
--   quota_limit bigint
--   quota_used bigint
--   expires_at timestamp with time zone
--   put_by text
--   put_at timestamp with time zone
grant select on writ.entitlement to dot_executor;
grant select on writ.entitlement to workflow_admin;
grant select on writ.entitlement to writ_admin;
grant select on writ.entitlement to writ_applier;
grant select on writ.entitlement to writ_auditor;
grant select on writ.entitlement to writ_engine;
grant select on writ.entitlement to writ_principal;
grant select on writ.entitlement to writ_producer;
grant select on writ.entitlement to writ_server;
grant select on writ.entitlement to writ_worker;

-- view writ.event_outbox with (security_barrier=true); owner writ_owner; source ad8188ad710029b358403b57c30f1c835fd449d9010b77cf88d8375f2b405b49
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
grant select on writ.event_outbox to writ_admin;
grant select on writ.event_outbox to writ_applier;
grant select on writ.event_outbox to writ_auditor;
grant select on writ.event_outbox to writ_engine;
grant select on writ.event_outbox to writ_producer;
grant select on writ.event_outbox to writ_server;
grant select on writ.event_outbox to writ_worker;

-- view writ.event_seal with (security_barrier=true); owner writ_owner; source b66c19be4cbdf616ab24939294934c9f08a53fd8210b410d1caf9b8ffc8ff3f0
--   segment bigint
--   rows integer
--   root text
--   leaves bytea
--   sealed_at timestamp with time zone
--   last_batch uuid
--   leaf_index bigint
grant select on writ.event_seal to workflow_admin;
grant select on writ.event_seal to writ_admin;
grant select on writ.event_seal to writ_auditor;
grant select on writ.event_seal to writ_server;
grant select on writ.event_seal to writ_signer;

-- view writ.event_type_registry; owner writ_owner; source ac1c2fc61699308bbadc54c59dab6b381ebc24062c231eb4a427d9f737518ecb
--   event_type text
--   event_domain text
--   event_stream text
--   event_severity text
--   description text
grant select on writ.event_type_registry to dot_executor;
grant select on writ.event_type_registry to workflow_admin;
grant select on writ.event_type_registry to writ_admin;
grant select on writ.event_type_registry to writ_applier;
grant select on writ.event_type_registry to writ_auditor;
grant select on writ.event_type_registry to writ_engine;
grant select on writ.event_type_registry to writ_producer;
grant select on writ.event_type_registry to writ_server;
grant select on writ.event_type_registry to writ_worker;

-- view writ.governance_audits with (security_barrier=true); owner writ_owner; source 0e2f156b2790ab3cbfd6b5d4d3b36e0a55b4adddb7b4d01674a2846fea31b7a9
--   audit_id uuid
--   tenant_id text
--   job_id uuid
--   contract_id uuid
--   verdict text
--   verdict_reason text
--   verdict_at timestamp with time zone
--   checks_performed jsonb
--   checks_passed integer
--   checks_failed integer
--   checks_inconclusive integer
--   evidence jsonb
--   health_snapshot_before jsonb
--   health_snapshot_after jsonb
--   auditor_version text
--   duration_ms integer
--   supersedes uuid
--   resolved_by text
--   acknowledged_by text
--   created_at timestamp with time zone
grant select on writ.governance_audits to dot_executor;
grant select on writ.governance_audits to workflow_admin;
grant select on writ.governance_audits to writ_admin;
grant select on writ.governance_audits to writ_applier;
grant select on writ.governance_audits to writ_auditor;
grant select on writ.governance_audits to writ_engine;
grant select on writ.governance_audits to writ_principal;
grant select on writ.governance_audits to writ_producer;
grant select on writ.governance_audits to writ_server;
grant select on writ.governance_audits to writ_worker;

-- view writ.governance_job_steps with (security_barrier=true); owner writ_owner; source 2e7498f0a80434ab8de95c367e873390e4d804719978e5939d37d3e3350a4cf4
--   job_id uuid
--   tenant_id text
--   step_no integer
--   step_type text
--   target text
--   parameters jsonb
--   status text
--   started_at timestamp with time zone
--   completed_at timestamp with time zone
--   result jsonb
--   error text
--   rollback_action jsonb
--   evidence jsonb
--   receipt_no bigint
--   undo_of integer
grant select on writ.governance_job_steps to dot_executor;
grant select on writ.governance_job_steps to workflow_admin;
grant select on writ.governance_job_steps to writ_admin;
grant select on writ.governance_job_steps to writ_applier;
grant select on writ.governance_job_steps to writ_auditor;
grant select on writ.governance_job_steps to writ_engine;
grant select on writ.governance_job_steps to writ_principal;
grant select on writ.governance_job_steps to writ_producer;
grant select on writ.governance_job_steps to writ_server;
grant select on writ.governance_job_steps to writ_worker;

-- view writ.governance_jobs with (security_barrier=true); owner writ_owner; source 9cd2be52115569206351be859403144a6a09352919a94dafa107b326bb33e158
--   job_id uuid
--   tenant_id text
--   contract_id uuid
--   kind text
--   of_job_id uuid
--   version integer
--   status text
--   status_reason text
--   run_id uuid
--   executor_id text
--   started_at timestamp with time zone
--   completed_at timestamp with time zone
--   duration_ms bigint
--   total_steps integer
--   completed_steps integer
--   current_step integer
--   max_duration_ms bigint
--   scope_hash text
--   state_before text
--   state_after text
--   health_before jsonb
--   rollback_job_id uuid
--   rollback_reason text
--   resolved_by_job_id uuid
--   audit_id uuid
--   audit_verdict text
--   created_at timestamp with time zone
--   updated_at timestamp with time zone
--   history jsonb
grant select on writ.governance_jobs to dot_executor;
grant select on writ.governance_jobs to workflow_admin;
grant select on writ.governance_jobs to writ_admin;
grant select on writ.governance_jobs to writ_applier;
grant select on writ.governance_jobs to writ_auditor;
grant select on writ.governance_jobs to writ_engine;
grant select on writ.governance_jobs to writ_principal;
grant select on writ.governance_jobs to writ_producer;
grant select on writ.governance_jobs to writ_server;
grant select on writ.governance_jobs to writ_worker;

-- view writ.governance_signals with (security_barrier=true); owner writ_owner; source 16b3915c31ecf0304e4b19f98338e9e7f66235ed059fdbce6e842726930689a2
--   id uuid
--   tenant_id text
--   signal_type text
--   scope text
--   decision text
--   reason text
--   constraints jsonb
--   recorded_by text
--   recorded_at timestamp with time zone
--   expires_at timestamp with time zone
--   superseded_by uuid
--   superseded_at timestamp with time zone
--   stands boolean
grant select on writ.governance_signals to dot_executor;
grant select on writ.governance_signals to workflow_admin;
grant select on writ.governance_signals to writ_admin;
grant select on writ.governance_signals to writ_applier;
grant select on writ.governance_signals to writ_auditor;
grant select on writ.governance_signals to writ_engine;
grant select on writ.governance_signals to writ_principal;
grant select on writ.governance_signals to writ_producer;
grant select on writ.governance_signals to writ_server;
grant select on writ.governance_signals to writ_worker;

-- view writ.governor with (security_barrier=true); owner writ_owner; source 6c0b4da4ea2ea18ff155786fee4b9d8fcff850e3870896426fa334876074a610
--   governor_id uuid
--   tenant_id text
--   sku_id text
--   state text
--   state_since timestamp with time zone
--   causes jsonb
--   refusals jsonb
--   in_flight jsonb
--   queued_actions integer
--   over_threshold jsonb
--   entitlement jsonb
--   policy_version integer
--   shadow boolean
--   signals bigint
--   buffered bigint
--   postponed bigint
--   in_mailbox bigint
--   events bigint
--   receipts bigint
--   due_at timestamp with time zone
--   timers jsonb
--   last_at timestamp with time zone
--   created_by text
--   created_at timestamp with time zone
--   policy_id text
--   cooling jsonb
--   awaiting_baseline jsonb
--   attempts integer
--   crash text
--   mail_since timestamp with time zone
grant select on writ.governor to dot_executor;
grant select on writ.governor to workflow_admin;
grant select on writ.governor to writ_admin;
grant select on writ.governor to writ_applier;
grant select on writ.governor to writ_auditor;
grant select on writ.governor to writ_engine;
grant select on writ.governor to writ_principal;
grant select on writ.governor to writ_producer;
grant select on writ.governor to writ_server;
grant select on writ.governor to writ_worker;

-- view writ.governor_event with (security_barrier=true); owner writ_owner; source 6c9cf1a0899554c94dff7f24794c3bd0cbd783d39e636b523334c5dd6f4a27c9
--   tenant_id text
--   sku_id text
--   governor_id uuid
--   event_seq bigint
--   at timestamp with time zone
--   kind text
--   from_state text
--   state text
--   mail_seq bigint
--   arrived_at timestamp with time zone
--   arrival_seq bigint
--   content jsonb
--   added jsonb
grant select on writ.governor_event to dot_executor;
grant select on writ.governor_event to workflow_admin;
grant select on writ.governor_event to writ_admin;
grant select on writ.governor_event to writ_applier;
grant select on writ.governor_event to writ_auditor;
grant select on writ.governor_event to writ_engine;
grant select on writ.governor_event to writ_producer;
grant select on writ.governor_event to writ_server;
grant select on writ.governor_event to writ_worker;

-- view writ.governor_outage with (security_barrier=true); owner writ_owner; source 25bfb16574bd5c4e2d657485e8cb88097b70fe770f71dc7c4a3a47982b655c80
--   host text
--   at timestamp with time zone
--   spool_seq bigint
--   tenant_id text
--   sku_id text
--   signal_id text
--   merged_at timestamp with time zone
grant select on writ.governor_outage to workflow_admin;
grant select on writ.governor_outage to writ_admin;
grant select on writ.governor_outage to writ_auditor;
grant select on writ.governor_outage to writ_server;

-- view writ.governor_policy with (security_barrier=true); owner writ_owner; source 8138520d073fdf0c445e177333f8fa957979e81d53f313d52e778f4dfe520cd9
--   tenant_id text
--   sku_id text
--   governor_id uuid
--   version integer
--   policy_id text
--   shadow boolean
--   document jsonb
--   hash text
--   published_by text
--   published_at timestamp with time zone
grant select on writ.governor_policy to dot_executor;
grant select on writ.governor_policy to workflow_admin;
grant select on writ.governor_policy to writ_admin;
grant select on writ.governor_policy to writ_applier;
grant select on writ.governor_policy to writ_auditor;
grant select on writ.governor_policy to writ_engine;
grant select on writ.governor_policy to writ_principal;
grant select on writ.governor_policy to writ_producer;
grant select on writ.governor_policy to writ_server;
grant select on writ.governor_policy to writ_worker;

-- view writ.incident with (security_barrier=true); owner writ_owner; source 68c8ae116e5aa8b1a29b8d8a661fda80d4a12c506bbed771a73af74c44a00858
--   incident_id uuid
--   tenant_id text
--   capability text
--   severity text
--   subject text
--   summary text
--   opened_by text
--   opened_at timestamp with time zone
--   resolved_by text
--   resolved_at timestamp with time zone
--   resolution text
grant select on writ.incident to dot_executor;
grant select on writ.incident to workflow_admin;
grant select on writ.incident to writ_admin;
grant select on writ.incident to writ_applier;
grant select on writ.incident to writ_auditor;
grant select on writ.incident to writ_engine;
grant select on writ.incident to writ_principal;
grant select on writ.incident to writ_producer;
grant select on writ.incident to writ_server;
grant select on writ.incident to writ_worker;

-- view writ.job_execution with (security_barrier=true); owner writ_owner; source 0c17ba69e9735961459ea06ba9ace61a6391d29003b99dcc7b710f2141668b3b
--   exec_id text
--   job_id uuid
--   execution_no integer
--   attempt integer
--   status text
--   abort_kind text
--   final boolean
--   lease_owner text
--   lease_expires_at timestamp with time zone
--   started_at timestamp with time zone
--   committed_at timestamp with time zone
--   finished_at timestamp with time zone
--   result_ref text
--   error_code text
--   error_message text
--   error_stack text
grant select on writ.job_execution to dot_executor;
grant select on writ.job_execution to workflow_admin;
grant select on writ.job_execution to writ_admin;
grant select on writ.job_execution to writ_applier;
grant select on writ.job_execution to writ_auditor;
grant select on writ.job_execution to writ_engine;
grant select on writ.job_execution to writ_producer;
grant select on writ.job_execution to writ_server;
grant select on writ.job_execution to writ_worker;

-- view writ.job_kind; owner writ_owner; source f12d15886868c3c1294bb9449af4c88d354da3300a8612fa750905455bde9425
--   job_kind text
--   event_domain text
--   executor text
--   source_system text
--   max_attempts smallint
--   backoff_base_s double precision
--   backoff_cap_s double precision
--   timeout_s double precision
--   limit_concurrency integer
--   limit_rate double precision
--   limit_burst double precision
--   registered_by text
--   registered_at timestamp with time zone
--   paused_at timestamp with time zone
--   paused_by text
grant select on writ.job_kind to dot_executor;
grant select on writ.job_kind to workflow_admin;
grant select on writ.job_kind to writ_admin;
grant select on writ.job_kind to writ_applier;
grant select on writ.job_kind to writ_auditor;
grant select on writ.job_kind to writ_engine;
grant select on writ.job_kind to writ_producer;
grant select on writ.job_kind to writ_server;
grant select on writ.job_kind to writ_worker;

-- view writ.job_queue with (security_barrier=true); owner writ_owner; source c8f57e8cf01455942d91eaaa080ad84a5af1f81b0375ebc05c4912b7c6737899
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
--   limit_key text
--   traceparent text
grant select on writ.job_queue to dot_executor;
grant select on writ.job_queue to workflow_admin;
grant select on writ.job_queue to writ_admin;
grant select on writ.job_queue to writ_applier;
grant select on writ.job_queue to writ_auditor;
grant select on writ.job_queue to writ_engine;
grant select on writ.job_queue to writ_producer;
grant select on writ.job_queue to writ_server;
grant select on writ.job_queue to writ_worker;

-- view writ.job_subscription; owner writ_owner; source 1fea83e3adca4b96e6d7b251d234cfcfbe0d6f972a803c31f04cb48f65b6a773
--   executor_id text
--   job_kind text
--   event_domain text
--   priority_floor smallint
--   put_by text
--   put_at timestamp with time zone
grant select on writ.job_subscription to dot_executor;
grant select on writ.job_subscription to workflow_admin;
grant select on writ.job_subscription to writ_admin;
grant select on writ.job_subscription to writ_applier;
grant select on writ.job_subscription to writ_auditor;
grant select on writ.job_subscription to writ_engine;
grant select on writ.job_subscription to writ_producer;
grant select on writ.job_subscription to writ_server;
grant select on writ.job_subscription to writ_worker;

-- view writ.job_workflow with (security_barrier=true); owner writ_owner; source a940ce07887af3957fc8024c7ac5220503e96a1811deb4a7e6f829cc9eacbf3d
--   workflow_id uuid
--   tenant_id text
--   workflow_kind text
--   generator text
--   status text
--   correlation_id text
--   enqueued_by text
--   enqueued_at timestamp with time zone
--   finished_at timestamp with time zone
--   workflow_key text
--   jobs bigint
--   open bigint
--   succeeded bigint
--   dead bigint
--   cancelled bigint
grant select on writ.job_workflow to dot_executor;
grant select on writ.job_workflow to workflow_admin;
grant select on writ.job_workflow to writ_admin;
grant select on writ.job_workflow to writ_applier;
grant select on writ.job_workflow to writ_auditor;
grant select on writ.job_workflow to writ_engine;
grant select on writ.job_workflow to writ_producer;
grant select on writ.job_workflow to writ_server;
grant select on writ.job_workflow to writ_worker;

-- view writ.ledger_checkpoint with (security_barrier=true); owner writ_owner; source c928047ed68911b4ac920ef62a17b8eb5d08125a327b5f1dd086f896e6a6ce44
--   checkpoint_no bigint
--   log_id text
--   epoch integer
--   size bigint
--   root text
--   note text
--   at timestamp with time zone
grant select on writ.ledger_checkpoint to workflow_admin;
grant select on writ.ledger_checkpoint to writ_admin;
grant select on writ.ledger_checkpoint to writ_auditor;
grant select on writ.ledger_checkpoint to writ_server;
grant select on writ.ledger_checkpoint to writ_signer;

-- view writ.ledger_entry with (security_barrier=true); owner writ_owner; source 8fbf1bfdea33caa4aef896cdd948f10292adcb5577bd6df07d7f4f16b2aa82a3
--   log_id text
--   leaf_index bigint
--   leaf_hash bytea
--   receipt_id uuid
--   stream text
--   stream_seq bigint
--   at timestamp with time zone
--   entry text
grant select on writ.ledger_entry to workflow_admin;
grant select on writ.ledger_entry to writ_admin;
grant select on writ.ledger_entry to writ_auditor;
grant select on writ.ledger_entry to writ_server;
grant select on writ.ledger_entry to writ_signer;

-- view writ.ledger_entry_hash with (security_barrier=true); owner writ_owner; source 19ee2a4f602981ab86c9fa7c723f76e581ab843a495f1b662b1365f1130f1979
--   log_id text
--   leaf_index bigint
--   leaf_hash bytea
grant select on writ.ledger_entry_hash to workflow_admin;
grant select on writ.ledger_entry_hash to writ_admin;
grant select on writ.ledger_entry_hash to writ_auditor;
grant select on writ.ledger_entry_hash to writ_server;
grant select on writ.ledger_entry_hash to writ_signer;

-- view writ.ledger_key; owner writ_owner; source 7431751172ba2e1ac022becd73b41bf16e80027592b2310c968b131c94c08b4f
--   key_no bigint
--   key text
--   added_at timestamp with time zone
grant select on writ.ledger_key to workflow_admin;
grant select on writ.ledger_key to writ_admin;
grant select on writ.ledger_key to writ_auditor;
grant select on writ.ledger_key to writ_server;
grant select on writ.ledger_key to writ_signer;

-- view writ.ledger_log with (security_barrier=true); owner writ_owner; source 7a6ec2bab73fc026f1bb4bcc39b7df56c826f8550ed0a401262e7043d5009c1e
--   log_id text
--   epoch integer
--   size bigint
--   root text
--   grown_at timestamp with time zone
grant select on writ.ledger_log to workflow_admin;
grant select on writ.ledger_log to writ_admin;
grant select on writ.ledger_log to writ_auditor;
grant select on writ.ledger_log to writ_server;
grant select on writ.ledger_log to writ_signer;

-- view writ.ledger_node with (security_barrier=true); owner writ_owner; source 34fa77592f38b88e04e765fb53c82d46a676b1b8e8753173ebdc0882e5ecb826
--   log_id text
--   level smallint
--   node_index bigint
--   hash bytea
grant select on writ.ledger_node to workflow_admin;
grant select on writ.ledger_node to writ_admin;
grant select on writ.ledger_node to writ_auditor;
grant select on writ.ledger_node to writ_server;
grant select on writ.ledger_node to writ_signer;

-- view writ.login with (security_barrier=true); owner writ_owner; source f6afb78931c585a3f2fdda0bf2904e3bb8c4de8e832c7f5947d807f94b5b7aad
--   login text
--   principal_id text
--   tenant_id text
--   roles text[]
--   put_by text
--   put_at timestamp with time zone
grant select on writ.login to workflow_admin;
grant select on writ.login to writ_admin;
grant select on writ.login to writ_auditor;
grant select on writ.login to writ_server;

-- view writ.plan with (security_barrier=true); owner writ_owner; source 953307ee91fc6713dd85f3b94b20e91ed0158041b4164fdc2d2caa7b1647c018
--   plan_id text
--   plan_version text
--   sha256 text
--   size_bytes integer
--   document text
--   registered_by text
--   registered_at timestamp with time zone
--   registered_for text
--   plan_no integer
grant select on writ.plan to dot_executor;
grant select on writ.plan to workflow_admin;
grant select on writ.plan to writ_admin;
grant select on writ.plan to writ_applier;
grant select on writ.plan to writ_auditor;
grant select on writ.plan to writ_engine;
grant select on writ.plan to writ_producer;
grant select on writ.plan to writ_server;
grant select on writ.plan to writ_worker;

-- view writ.principal with (security_barrier=true); owner writ_owner; source a538a8749ae6a0d35b60d0fa4a3fd2752f35f00f947284bef7efde8afbaeda8f
--   principal_id text
--   tenant_id text
--   kind text
--   on_behalf_of text
--   rights text[]
--   public_key text
--   added_by text
--   added_at timestamp with time zone
--   disabled_at timestamp with time zone
--   permissions text[]
grant select on writ.principal to dot_executor;
grant select on writ.principal to workflow_admin;
grant select on writ.principal to writ_admin;
grant select on writ.principal to writ_applier;
grant select on writ.principal to writ_auditor;
grant select on writ.principal to writ_engine;
grant select on writ.principal to writ_principal;
grant select on writ.principal to writ_producer;
grant select on writ.principal to writ_server;
grant select on writ.principal to writ_worker;

-- view writ.probe with (security_barrier=true); owner writ_owner; source 95c2e987a395dc7388fb0d4c45686c25386fc4679f839dbdd2b16668851270a1
--   tenant_id text
--   name text
--   capability text
--   type text
--   config jsonb
--   every_ms integer
--   timeout_ms integer
--   status text
--   detail text
--   checked_at timestamp with time zone
--   due_at timestamp with time zone
--   put_by text
--   put_at timestamp with time zone
grant select on writ.probe to dot_executor;
grant select on writ.probe to workflow_admin;
grant select on writ.probe to writ_admin;
grant select on writ.probe to writ_applier;
grant select on writ.probe to writ_auditor;
grant select on writ.probe to writ_engine;
grant select on writ.probe to writ_principal;
grant select on writ.probe to writ_producer;
grant select on writ.probe to writ_server;
grant select on writ.probe to writ_worker;

-- view writ.receipt with (security_barrier=true); owner writ_owner; source 7fccdf0d6ce9a8410e12d1a0e4947209790feeb045043105342ded788845b969
--   receipt_id uuid
--   log_id text
--   stream text
--   stream_seq bigint
--   at timestamp with time zone
--   receipt jsonb
--   entry text
--   leaf_index bigint
grant select on writ.receipt to workflow_admin;
grant select on writ.receipt to writ_admin;
grant select on writ.receipt to writ_auditor;
grant select on writ.receipt to writ_server;
grant select on writ.receipt to writ_signer;

-- view writ.run with (security_barrier=true); owner writ_owner; source 95172d3cc287de0c878440450d005b6bffb7cbf8daad57905033038ed4b62909
--   run_id uuid
--   tenant_id text
--   project_id text
--   environment_id text
--   plan_id text
--   plan_version text
--   plan_sha256 text
--   engine text
--   engine_run_ref jsonb
--   priority smallint
--   request_id text
--   original_run_id uuid
--   status text
--   substatus text
--   started_by text
--   created_at timestamp with time zone
--   moved_at timestamp with time zone
--   ended_at timestamp with time zone
--   traceparent text
--   plan_no integer
grant select on writ.run to dot_executor;
grant select on writ.run to workflow_admin;
grant select on writ.run to writ_admin;
grant select on writ.run to writ_applier;
grant select on writ.run to writ_auditor;
grant select on writ.run to writ_engine;
grant select on writ.run to writ_producer;
grant select on writ.run to writ_server;
grant select on writ.run to writ_worker;

-- view writ.run_deliveries with (security_barrier=true); owner writ_owner; source 451b5209386e6d259d459e40608910e9330b80c83bd583d23de066c2ec1a959a
--   run_id uuid
--   tenant_id text
--   delivery_id text
--   event text
--   size_bytes integer
--   delivered_at timestamp with time zone
--   delivered_by text
--   taken_by text
grant select on writ.run_deliveries to dot_executor;
grant select on writ.run_deliveries to workflow_admin;
grant select on writ.run_deliveries to writ_admin;
grant select on writ.run_deliveries to writ_applier;
grant select on writ.run_deliveries to writ_auditor;
grant select on writ.run_deliveries to writ_engine;
grant select on writ.run_deliveries to writ_producer;
grant select on writ.run_deliveries to writ_server;
grant select on writ.run_deliveries to writ_worker;

-- view writ.run_events with (security_barrier=true); owner writ_owner; source 08be54a5acfd7035f279ed34f01e0205c48b77c4370a5ee45c3009d6074b2165
--   run_id uuid
--   run_seq integer
--   event_id uuid
--   event_type text
--   step_id text
--   logical_attempt_id text
--   engine_attempt_id text
--   event_data jsonb
--   idempotency_key text
--   emitted_at timestamp with time zone
--   persisted_at timestamp with time zone
--   adapter_version text
--   engine_run_ref jsonb
--   caused_by_signal_id uuid
--   parent_event_id uuid
--   tenant_id text
grant select on writ.run_events to dot_executor;
grant select on writ.run_events to workflow_admin;
grant select on writ.run_events to writ_admin;
grant select on writ.run_events to writ_applier;
grant select on writ.run_events to writ_auditor;
grant select on writ.run_events to writ_engine;
grant select on writ.run_events to writ_producer;
grant select on writ.run_events to writ_server;
grant select on writ.run_events to writ_worker;

-- view writ.run_snapshots with (security_barrier=true); owner writ_owner; source b25939d2440e6eee8cc039f5ccf9f2c6bb3b3282972ea5290cea685b4fbcbcb9
--   run_id uuid
--   tenant_id text
--   last_event_seq integer
--   status text
--   snapshot json
--   stale boolean
--   missing_seq integer
--   updated_at timestamp with time zone
grant select on writ.run_snapshots to dot_executor;
grant select on writ.run_snapshots to workflow_admin;
grant select on writ.run_snapshots to writ_admin;
grant select on writ.run_snapshots to writ_applier;
grant select on writ.run_snapshots to writ_auditor;
grant select on writ.run_snapshots to writ_engine;
grant select on writ.run_snapshots to writ_producer;
grant select on writ.run_snapshots to writ_server;
grant select on writ.run_snapshots to writ_worker;

-- view writ.schedule with (security_barrier=true); owner writ_owner; source 8c46c9316e2de5a94718011b1235593bab14cbb432cf9b15e06b45f7ad74058c
--   tenant_id text
--   schedule text
--   cron text
--   time_zone text
--   catch_up text
--   job_kind text
--   job_options jsonb
--   version integer
--   next_tick timestamp with time zone
--   paused_at timestamp with time zone
--   paused_by text
--   last_tick timestamp with time zone
--   last_job_id uuid
--   created_at timestamp with time zone
--   created_by text
--   updated_at timestamp with time zone
--   updated_by text
--   aside_until timestamp with time zone
grant select on writ.schedule to dot_executor;
grant select on writ.schedule to workflow_admin;
grant select on writ.schedule to writ_admin;
grant select on writ.schedule to writ_applier;
grant select on writ.schedule to writ_auditor;
grant select on writ.schedule to writ_engine;
grant select on writ.schedule to writ_producer;
grant select on writ.schedule to writ_server;
grant select on writ.schedule to writ_worker;

-- view writ.schedule_tick with (security_barrier=true); owner writ_owner; source 8a3e1c3af6e59feb7414359ba7cc7fe8574096b4dbd73dc10389c3b55d210403
--   tenant_id text
--   schedule text
--   tick timestamp with time zone
--   job_id uuid
--   fired_at timestamp with time zone
--   fired_by text
grant select on writ.schedule_tick to dot_executor;
grant select on writ.schedule_tick to workflow_admin;
grant select on writ.schedule_tick to writ_admin;
grant select on writ.schedule_tick to writ_applier;
grant select on writ.schedule_tick to writ_auditor;
grant select on writ.schedule_tick to writ_engine;
grant select on writ.schedule_tick to writ_producer;
grant select on writ.schedule_tick to writ_server;
grant select on writ.schedule_tick to writ_worker;

-- view writ.system_contracts with (security_barrier=true); owner writ_owner; source 51a0fcbe669700f55999ad7f9c7941d383fcb4ee87b66fd5302478e9bf2deb9f
--   contract_id uuid
--   tenant_id text
--   version integer
--   issue_id text
--   source text
--   status text
--   status_reason text
--   title text
--   description text
--   content text
--   scope_hash text
--   steps jsonb
--   proposed_changes jsonb
--   affected_capabilities text[]
--   risk_level text
--   validator_verdict jsonb
--   eligibility_verdict jsonb
--   confidence_score numeric(3,2)
--   created_by text
--   on_behalf_of text
--   approved_by text[]
--   approved_at timestamp with time zone
--   policy_version integer
--   pre_state text
--   approval_hash text
--   escalated_by text
--   glass_broken text
--   activation_window_start timestamp with time zone
--   activation_window_end timestamp with time zone
--   execution_constraints jsonb
--   audit_verdict text
--   audit_reason text
--   audit_completed_at timestamp with time zone
--   parent_contract_id uuid
--   template_id uuid
--   template jsonb
--   template_params jsonb
--   job_id uuid
--   created_at timestamp with time zone
--   updated_at timestamp with time zone
--   expires_at timestamp with time zone
--   transition_history jsonb
grant select on writ.system_contracts to dot_executor;
grant select on writ.system_contracts to workflow_admin;
grant select on writ.system_contracts to writ_admin;
grant select on writ.system_contracts to writ_applier;
grant select on writ.system_contracts to writ_auditor;
grant select on writ.system_contracts to writ_engine;
grant select on writ.system_contracts to writ_principal;
grant select on writ.system_contracts to writ_producer;
grant select on writ.system_contracts to writ_server;
grant select on writ.system_contracts to writ_worker;

-- view writ.tenant_weight with (security_barrier=true); owner writ_owner; source 55283feb892bffdf545ea9d6aa5c3a56baff1630f682f6d2da8f55f892c0a88b
--   tenant_id text
--   weight double precision
--   set_by text
--   set_at timestamp with time zone
grant select on writ.tenant_weight to dot_executor;
grant select on writ.tenant_weight to workflow_admin;
grant select on writ.tenant_weight to writ_admin;
grant select on writ.tenant_weight to writ_applier;
grant select on writ.tenant_weight to writ_auditor;
grant select on writ.tenant_weight to writ_engine;
grant select on writ.tenant_weight to writ_producer;
grant select on writ.tenant_weight to writ_server;
grant select on writ.tenant_weight to writ_worker;

-- view writ.undelivered with (security_barrier=true); owner writ_owner; source 3e58c8d7cb5a2bd99985c0912fed8f6877da12ff29cb546acc18fbac411190df
--   destination text
--   event_id uuid
--   stream uuid
--   run_seq integer
--   attempts smallint
--   due_at timestamp with time zone
--   dead_at timestamp with time zone
--   status integer
--   reason text
--   tenant_id text
grant select on writ.undelivered to dot_executor;
grant select on writ.undelivered to workflow_admin;
grant select on writ.undelivered to writ_admin;
grant select on writ.undelivered to writ_applier;
grant select on writ.undelivered to writ_auditor;
grant select on writ.undelivered to writ_engine;
grant select on writ.undelivered to writ_producer;
grant select on writ.undelivered to writ_server;
grant select on writ.undelivered to writ_worker;

-- view writ.v_job with (security_barrier=true); owner writ_owner; source 114cff590c7a4d644c0ed487473ceddfde61df3bb17ee87d5e4a890973f80884
--   job_id uuid
--   tenant_id text
--   job_kind text
--   workflow_id uuid
--   correlation_id text
--   enqueued_at timestamp with time zone
grant select on writ.v_job to dot_executor;
grant select on writ.v_job to workflow_admin;
grant select on writ.v_job to writ_admin;
grant select on writ.v_job to writ_applier;
grant select on writ.v_job to writ_auditor;
grant select on writ.v_job to writ_engine;
grant select on writ.v_job to writ_producer;
grant select on writ.v_job to writ_server;
grant select on writ.v_job to writ_worker;

-- view writ.v_job_by_status with (security_barrier=true); owner writ_owner; source 13bda648394b1ed95c8d4de41f1c9e2dbbc586a31d110ba492f288a4e2f74a73
--   job_id uuid
--   tenant_id text
--   job_kind text
--   status text
grant select on writ.v_job_by_status to dot_executor;
grant select on writ.v_job_by_status to workflow_admin;
grant select on writ.v_job_by_status to writ_admin;
grant select on writ.v_job_by_status to writ_applier;
grant select on writ.v_job_by_status to writ_auditor;
grant select on writ.v_job_by_status to writ_engine;
grant select on writ.v_job_by_status to writ_producer;
grant select on writ.v_job_by_status to writ_server;
grant select on writ.v_job_by_status to writ_worker;

-- view writ.v_job_queue_backlog with (security_barrier=true); owner writ_owner; source 5d4c460c8d371f1688e55c225ac7656389c16db2cb78d8ce86221080e1bcbed3
--   job_kind text
--   backlog bigint
grant select on writ.v_job_queue_backlog to dot_executor;
grant select on writ.v_job_queue_backlog to workflow_admin;
grant select on writ.v_job_queue_backlog to writ_admin;
grant select on writ.v_job_queue_backlog to writ_applier;
grant select on writ.v_job_queue_backlog to writ_auditor;
grant select on writ.v_job_queue_backlog to writ_engine;
grant select on writ.v_job_queue_backlog to writ_producer;
grant select on writ.v_job_queue_backlog to writ_server;
grant select on writ.v_job_queue_backlog to writ_worker;

-- view writ.v_job_queue_dead_letter_open; owner writ_owner; source 804da996acf368ae805332ab7e7ddd9cb9115a2a9e4748482010f3682a872edc
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
--   limit_key text
--   traceparent text
grant select on writ.v_job_queue_dead_letter_open to dot_executor;
grant select on writ.v_job_queue_dead_letter_open to workflow_admin;
grant select on writ.v_job_queue_dead_letter_open to writ_admin;
grant select on writ.v_job_queue_dead_letter_open to writ_applier;
grant select on writ.v_job_queue_dead_letter_open to writ_auditor;
grant select on writ.v_job_queue_dead_letter_open to writ_engine;
grant select on writ.v_job_queue_dead_letter_open to writ_producer;
grant select on writ.v_job_queue_dead_letter_open to writ_server;
grant select on writ.v_job_queue_dead_letter_open to writ_worker;

-- view writ.v_job_queue_in_progress with (security_barrier=true); owner writ_owner; source 5005bfc2c50c75b3cf0fc68c623503bf5aa6ff452c430ca7283adf1c40898bae
--   job_kind text
--   in_progress bigint
grant select on writ.v_job_queue_in_progress to dot_executor;
grant select on writ.v_job_queue_in_progress to workflow_admin;
grant select on writ.v_job_queue_in_progress to writ_admin;
grant select on writ.v_job_queue_in_progress to writ_applier;
grant select on writ.v_job_queue_in_progress to writ_auditor;
grant select on writ.v_job_queue_in_progress to writ_engine;
grant select on writ.v_job_queue_in_progress to writ_producer;
grant select on writ.v_job_queue_in_progress to writ_server;
grant select on writ.v_job_queue_in_progress to writ_worker;

-- view writ.v_job_state with (security_barrier=true); owner writ_owner; source e97f52b489d0605b3df241a84e45d1a8ac351d99b40b0a86af36a4dd7537297e
--   job_id uuid
--   tenant_id text
--   state text
--   attempt integer
--   created_at timestamp with time zone
--   updated_at timestamp with time zone
grant select on writ.v_job_state to dot_executor;
grant select on writ.v_job_state to workflow_admin;
grant select on writ.v_job_state to writ_admin;
grant select on writ.v_job_state to writ_applier;
grant select on writ.v_job_state to writ_auditor;
grant select on writ.v_job_state to writ_engine;
grant select on writ.v_job_state to writ_producer;
grant select on writ.v_job_state to writ_server;
grant select on writ.v_job_state to writ_worker;

-- view writ.v_queue_flow with (security_barrier=true); owner writ_owner; source a42ce6e8b9c961fc6646f1687505445de0ae11e3c9fd05bfabe125c67b3500a6
--   batch_id uuid
--   xid xid8
--   at timestamp with time zone
--   event_type text
--   jobs integer
--   job_ids uuid[]
grant select on writ.v_queue_flow to dot_executor;
grant select on writ.v_queue_flow to workflow_admin;
grant select on writ.v_queue_flow to writ_admin;
grant select on writ.v_queue_flow to writ_applier;
grant select on writ.v_queue_flow to writ_auditor;
grant select on writ.v_queue_flow to writ_engine;
grant select on writ.v_queue_flow to writ_producer;
grant select on writ.v_queue_flow to writ_server;
grant select on writ.v_queue_flow to writ_worker;

-- view writ.v_queue_health; owner writ_owner; source 354af1387313f00f91e55209d11f22174015db0db2ac37dd6db447adcc34289e
--   backlog bigint
--   waiting bigint
--   in_progress bigint
--   dead_letter_open bigint
--   oldest_queued_age_s numeric
--   lease_active bigint
--   lease_expired bigint
--   workers bigint
--   enabled boolean
grant select on writ.v_queue_health to dot_executor;
grant select on writ.v_queue_health to workflow_admin;
grant select on writ.v_queue_health to writ_admin;
grant select on writ.v_queue_health to writ_applier;
grant select on writ.v_queue_health to writ_auditor;
grant select on writ.v_queue_health to writ_engine;
grant select on writ.v_queue_health to writ_producer;
grant select on writ.v_queue_health to writ_server;
grant select on writ.v_queue_health to writ_worker;

-- view writ.v_queue_heartbeat; owner writ_owner; source ea2546a593edfb7f5cbc7bf21d96b3b2d6363fc0ba2143ea1dc536141df28d16
--   executor_id text
--   executor_kind text
--   domain_scope text[]
--   kinds text[]
--   last_beat_at timestamp with time zone
--   expected_cadence_seconds integer
--   details jsonb
--   idle_until timestamp with time zone
--   freshness text
--   login text
grant select on writ.v_queue_heartbeat to dot_executor;
grant select on writ.v_queue_heartbeat to workflow_admin;
grant select on writ.v_queue_heartbeat to writ_admin;
grant select on writ.v_queue_heartbeat to writ_applier;
grant select on writ.v_queue_heartbeat to writ_auditor;
grant select on writ.v_queue_heartbeat to writ_engine;
grant select on writ.v_queue_heartbeat to writ_producer;
grant select on writ.v_queue_heartbeat to writ_server;
grant select on writ.v_queue_heartbeat to writ_worker;

-- view writ.v_queue_lease with (security_barrier=true); owner writ_owner; source 76e8fa149ecebc4bbd3964c62e18e2db7e53a2ad34ad8cdf44eaa13d11929b93
--   lease_name text
--   holder text
--   claimed_at timestamp with time zone
--   leased_until timestamp with time zone
--   jobs integer
--   open_jobs integer
--   started_upto integer
grant select on writ.v_queue_lease to dot_executor;
grant select on writ.v_queue_lease to workflow_admin;
grant select on writ.v_queue_lease to writ_admin;
grant select on writ.v_queue_lease to writ_applier;
grant select on writ.v_queue_lease to writ_auditor;
grant select on writ.v_queue_lease to writ_engine;
grant select on writ.v_queue_lease to writ_producer;
grant select on writ.v_queue_lease to writ_server;
grant select on writ.v_queue_lease to writ_worker;

-- function writ.fn_admission_put(p_tenant_id text, p_policy text, p_max_running integer, p_max_pending integer, p_delay_ms integer, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 299a0adfa5faaf8258d06e0d968ce823
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_admission_put(text,text,integer,integer,integer,text) to workflow_admin;
grant execute on function writ.fn_admission_put(text,text,integer,integer,integer,text) to writ_admin;

-- function writ.fn_alert_clear(p_alert_id uuid, p_reason text, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 8a0de1f954c19f40a004ee8f3d3dce03
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_alert_clear(uuid,text,text) to workflow_admin;
grant execute on function writ.fn_alert_clear(uuid,text,text) to writ_admin;
grant execute on function writ.fn_alert_clear(uuid,text,text) to writ_server;

-- function writ.fn_api_key_put(p_key text, p_put jsonb, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 77bb99d50d760ea123e698d72693de3d
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_api_key_put(text,jsonb,text) to workflow_admin;
grant execute on function writ.fn_api_key_put(text,jsonb,text) to writ_admin;
grant execute on function writ.fn_api_key_put(text,jsonb,text) to writ_server;

-- function writ.fn_audit_resolve(p_key text, p_job_id uuid, p_verdict text, p_reason text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body d17c2d7a0ac57b685dbc230496de43cc
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_audit_resolve(text,uuid,text,text) to dot_executor;
grant execute on function writ.fn_audit_resolve(text,uuid,text,text) to workflow_admin;
grant execute on function writ.fn_audit_resolve(text,uuid,text,text) to writ_principal;
grant execute on function writ.fn_audit_resolve(text,uuid,text,text) to writ_server;

-- function writ.fn_caller_admit(p_caller jsonb, p_right text DEFAULT NULL::text, p_tenant_id text DEFAULT NULL::text, p_all_tenants boolean DEFAULT false) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body f96c8471c384920a21f459a968642c98
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_caller_admit(jsonb,text,text,boolean) to workflow_admin;
grant execute on function writ.fn_caller_admit(jsonb,text,text,boolean) to writ_server;

-- function writ.fn_capability_put(p_key text, p_items jsonb, p_tenant_id text DEFAULT 'default'::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body cf8e4d33426cb294307e391e2445e570
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_capability_put(text,jsonb,text) to dot_executor;
grant execute on function writ.fn_capability_put(text,jsonb,text) to workflow_admin;
grant execute on function writ.fn_capability_put(text,jsonb,text) to writ_principal;
grant execute on function writ.fn_capability_put(text,jsonb,text) to writ_server;

-- function writ.fn_change_begin(p_job_id uuid, p_lease_token uuid, p_found jsonb, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 415b89de6c9dc4c38cfd93138f7775a9
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_change_begin(uuid,uuid,jsonb,text) to dot_executor;
grant execute on function writ.fn_change_begin(uuid,uuid,jsonb,text) to workflow_admin;
grant execute on function writ.fn_change_begin(uuid,uuid,jsonb,text) to writ_applier;

-- function writ.fn_changes_apply(p_items jsonb, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 3cf9f15eadbf21b9cf6cd0d3811b725b
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
--   set plan_cache_mode=force_generic_plan
grant execute on function writ.fn_changes_apply(jsonb,text) to dot_executor;
grant execute on function writ.fn_changes_apply(jsonb,text) to workflow_admin;
grant execute on function writ.fn_changes_apply(jsonb,text) to writ_applier;

-- function writ.fn_consumer_dispatch(p_event_id uuid, p_actor text DEFAULT 'dispatch'::text, p_tenant_id text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 5688f065f40298f2b20e50e4ea0a6d25
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_consumer_dispatch(uuid,text,text) to dot_executor;
grant execute on function writ.fn_consumer_dispatch(uuid,text,text) to workflow_admin;
grant execute on function writ.fn_consumer_dispatch(uuid,text,text) to writ_admin;
grant execute on function writ.fn_consumer_dispatch(uuid,text,text) to writ_engine;

-- function writ.fn_consumer_dispatch_many(p_limit integer DEFAULT 1000) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 2ff0a93495afad4747d4fed21be43be0
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_consumer_dispatch_many(integer) to dot_executor;
grant execute on function writ.fn_consumer_dispatch_many(integer) to workflow_admin;
grant execute on function writ.fn_consumer_dispatch_many(integer) to writ_engine;

-- function writ.fn_consumer_register(p_consumer text, p_event_type text, p_job_kind text, p_options jsonb, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body ddec3f8c544e4b7156967253a6bbd213
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_consumer_register(text,text,text,jsonb,text) to workflow_admin;
grant execute on function writ.fn_consumer_register(text,text,text,jsonb,text) to writ_admin;

-- function writ.fn_consumer_remove(p_consumer text, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body d364128567a44ff0465dee02ad29087f
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_consumer_remove(text,text) to workflow_admin;
grant execute on function writ.fn_consumer_remove(text,text) to writ_admin;

-- function writ.fn_contract_preview(p_key text, p_contract_id uuid) returns jsonb
--   plpgsql, stable, security definer; owner writ_owner; body 1feaed328dcc50fb337912f665aebe8c
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_contract_preview(text,uuid) to dot_executor;
grant execute on function writ.fn_contract_preview(text,uuid) to workflow_admin;
grant execute on function writ.fn_contract_preview(text,uuid) to writ_principal;
grant execute on function writ.fn_contract_preview(text,uuid) to writ_server;

-- function writ.fn_contract_propose(p_key text, p_content text, p_about jsonb, p_tenant_id text DEFAULT 'default'::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 2e148c2be7f943262b06a5f977e75d06
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan
grant execute on function writ.fn_contract_propose(text,text,jsonb,text) to dot_executor;
grant execute on function writ.fn_contract_propose(text,text,jsonb,text) to workflow_admin;
grant execute on function writ.fn_contract_propose(text,text,jsonb,text) to writ_principal;
grant execute on function writ.fn_contract_propose(text,text,jsonb,text) to writ_server;

-- function writ.fn_contract_read_done(p_job_id uuid, p_lease_token uuid, p_values jsonb, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body e2047dc326db31a7d7a6127abc59ee81
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_contract_read_done(uuid,uuid,jsonb,text) to dot_executor;
grant execute on function writ.fn_contract_read_done(uuid,uuid,jsonb,text) to workflow_admin;
grant execute on function writ.fn_contract_read_done(uuid,uuid,jsonb,text) to writ_applier;

-- function writ.fn_contract_read_request(p_key text, p_contract_id uuid) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 229286afccf278f33ad95b8165e9bde5
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_contract_read_request(text,uuid) to dot_executor;
grant execute on function writ.fn_contract_read_request(text,uuid) to workflow_admin;
grant execute on function writ.fn_contract_read_request(text,uuid) to writ_applier;
grant execute on function writ.fn_contract_read_request(text,uuid) to writ_principal;
grant execute on function writ.fn_contract_read_request(text,uuid) to writ_server;

-- function writ.fn_contract_review(p_key text, p_contract_id uuid, p_action text, p_reason text DEFAULT NULL::text, p_document text DEFAULT NULL::text, p_signature text DEFAULT NULL::text, p_scheme text DEFAULT 'ed25519'::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 94aba389935b7b2015663901de87dbbe
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_contract_review(text,uuid,text,text,text,text,text) to dot_executor;
grant execute on function writ.fn_contract_review(text,uuid,text,text,text,text,text) to workflow_admin;
grant execute on function writ.fn_contract_review(text,uuid,text,text,text,text,text) to writ_principal;
grant execute on function writ.fn_contract_review(text,uuid,text,text,text,text,text) to writ_server;

-- function writ.fn_contracts_activate(p_key text, p_items jsonb) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body e4144a0dd176c90791795b92701d2cef
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan
grant execute on function writ.fn_contracts_activate(text,jsonb) to dot_executor;
grant execute on function writ.fn_contracts_activate(text,jsonb) to workflow_admin;
grant execute on function writ.fn_contracts_activate(text,jsonb) to writ_applier;
grant execute on function writ.fn_contracts_activate(text,jsonb) to writ_principal;
grant execute on function writ.fn_contracts_activate(text,jsonb) to writ_server;

-- function writ.fn_deployment_renew(p_deployment uuid, p_reason text, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 61db9d1729a8531116c435057a6d57e8
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_deployment_renew(uuid,text,text) to workflow_admin;
grant execute on function writ.fn_deployment_renew(uuid,text,text) to writ_admin;

-- function writ.fn_destination_put(p_name text, p_bus text, p_types text[], p_tenant_id text, p_config jsonb, p_since timestamp with time zone, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 1dccb14362fce1e5cb1e8a3c59619b2d
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_destination_put(text,text,text[],text,jsonb,timestamp with time zone,text) to workflow_admin;
grant execute on function writ.fn_destination_put(text,text,text[],text,jsonb,timestamp with time zone,text) to writ_admin;
grant execute on function writ.fn_destination_put(text,text,text[],text,jsonb,timestamp with time zone,text) to writ_server;

-- function writ.fn_destination_set(p_name text, p_state text, p_note text, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 8bdfa5df9e962e574cc1ba77fe20abb5
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_destination_set(text,text,text,text) to workflow_admin;
grant execute on function writ.fn_destination_set(text,text,text,text) to writ_admin;
grant execute on function writ.fn_destination_set(text,text,text,text) to writ_server;

-- function writ.fn_entitlement_put(p_key text, p_entitlement jsonb, p_tenant text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 7414f02f9a2f3e14e6d282fec746cb38
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_entitlement_put(text,jsonb,text) to dot_executor;
grant execute on function writ.fn_entitlement_put(text,jsonb,text) to workflow_admin;
grant execute on function writ.fn_entitlement_put(text,jsonb,text) to writ_principal;
grant execute on function writ.fn_entitlement_put(text,jsonb,text) to writ_server;

-- function writ.fn_flags(p_ask jsonb) returns jsonb
--   plpgsql, stable, security definer; owner writ_owner; body 0f2abca8972b3862bafe31d71620363a
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_flags(jsonb) to dot_executor;
grant execute on function writ.fn_flags(jsonb) to workflow_admin;
grant execute on function writ.fn_flags(jsonb) to writ_admin;
grant execute on function writ.fn_flags(jsonb) to writ_applier;
grant execute on function writ.fn_flags(jsonb) to writ_auditor;
grant execute on function writ.fn_flags(jsonb) to writ_engine;
grant execute on function writ.fn_flags(jsonb) to writ_principal;
grant execute on function writ.fn_flags(jsonb) to writ_producer;
grant execute on function writ.fn_flags(jsonb) to writ_server;
grant execute on function writ.fn_flags(jsonb) to writ_worker;

-- function writ.fn_freeze_put(p_key text, p_freeze jsonb, p_tenant_id text DEFAULT 'default'::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body f1c29c93dd873251399bfc0ca6e9ea9c
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_freeze_put(text,jsonb,text) to dot_executor;
grant execute on function writ.fn_freeze_put(text,jsonb,text) to workflow_admin;
grant execute on function writ.fn_freeze_put(text,jsonb,text) to writ_principal;
grant execute on function writ.fn_freeze_put(text,jsonb,text) to writ_server;

-- function writ.fn_governance_audits(p_items jsonb, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 7d56de8dbb09e82098164c2aaff0d228
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan
grant execute on function writ.fn_governance_audits(jsonb,text) to dot_executor;
grant execute on function writ.fn_governance_audits(jsonb,text) to workflow_admin;
grant execute on function writ.fn_governance_audits(jsonb,text) to writ_applier;

-- function writ.fn_governance_cancel(p_key text, p_job_id uuid, p_reason text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body dd3cb1c210b647d550d717e45b51bc9d
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_governance_cancel(text,uuid,text) to dot_executor;
grant execute on function writ.fn_governance_cancel(text,uuid,text) to workflow_admin;
grant execute on function writ.fn_governance_cancel(text,uuid,text) to writ_principal;
grant execute on function writ.fn_governance_cancel(text,uuid,text) to writ_server;

-- function writ.fn_governance_ended(p_job_id uuid, p_lease_token uuid, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body a8cae760fa5303866f29839941888fd8
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_governance_ended(uuid,uuid,text) to dot_executor;
grant execute on function writ.fn_governance_ended(uuid,uuid,text) to workflow_admin;
grant execute on function writ.fn_governance_ended(uuid,uuid,text) to writ_applier;

-- function writ.fn_governance_policy(p_tenant_id text DEFAULT 'default'::text, p_version integer DEFAULT NULL::integer) returns jsonb
--   sql, stable, security definer; owner writ_owner; body 483d4d7396f96966c1455231041c3cf7
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_governance_policy(text,integer) to dot_executor;
grant execute on function writ.fn_governance_policy(text,integer) to workflow_admin;
grant execute on function writ.fn_governance_policy(text,integer) to writ_admin;
grant execute on function writ.fn_governance_policy(text,integer) to writ_applier;
grant execute on function writ.fn_governance_policy(text,integer) to writ_auditor;
grant execute on function writ.fn_governance_policy(text,integer) to writ_engine;
grant execute on function writ.fn_governance_policy(text,integer) to writ_principal;
grant execute on function writ.fn_governance_policy(text,integer) to writ_producer;
grant execute on function writ.fn_governance_policy(text,integer) to writ_server;
grant execute on function writ.fn_governance_policy(text,integer) to writ_worker;

-- function writ.fn_governance_policy_publish(p_key text, p_document jsonb, p_tenant_id text DEFAULT 'default'::text, p_version integer DEFAULT NULL::integer) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body d0ff1e7eeccf19972eff2ee2aba693bc
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_governance_policy_publish(text,jsonb,text,integer) to dot_executor;
grant execute on function writ.fn_governance_policy_publish(text,jsonb,text,integer) to workflow_admin;
grant execute on function writ.fn_governance_policy_publish(text,jsonb,text,integer) to writ_principal;
grant execute on function writ.fn_governance_policy_publish(text,jsonb,text,integer) to writ_server;

-- function writ.fn_governance_stop(p_key text, p_contract_ids uuid[], p_reason text, p_signal_id uuid, p_tenant_id text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body b062faa5fdad253a0fadf581bf0d76dd
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_governance_stop(text,uuid[],text,uuid,text) to dot_executor;
grant execute on function writ.fn_governance_stop(text,uuid[],text,uuid,text) to workflow_admin;
grant execute on function writ.fn_governance_stop(text,uuid[],text,uuid,text) to writ_applier;
grant execute on function writ.fn_governance_stop(text,uuid[],text,uuid,text) to writ_principal;
grant execute on function writ.fn_governance_stop(text,uuid[],text,uuid,text) to writ_server;

-- function writ.fn_governance_tick(p_actor text, p_limit integer DEFAULT 100) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body efb9460b357ec2e3e3e3dd820a6595a1
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan
grant execute on function writ.fn_governance_tick(text,integer) to dot_executor;
grant execute on function writ.fn_governance_tick(text,integer) to workflow_admin;
grant execute on function writ.fn_governance_tick(text,integer) to writ_engine;

-- function writ.fn_governed_approvals(p_runs uuid[]) returns jsonb
--   plpgsql, stable, security definer; owner writ_owner; body baee7beb6a34775eb49c17d49d8941c3
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan
grant execute on function writ.fn_governed_approvals(uuid[]) to dot_executor;
grant execute on function writ.fn_governed_approvals(uuid[]) to workflow_admin;
grant execute on function writ.fn_governed_approvals(uuid[]) to writ_applier;

-- function writ.fn_governed_read(p_jobs uuid[]) returns jsonb
--   plpgsql, stable, security definer; owner writ_owner; body 191faeccfa228a29e1db2d651e82e41a
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
--   set plan_cache_mode=force_generic_plan
grant execute on function writ.fn_governed_read(uuid[]) to dot_executor;
grant execute on function writ.fn_governed_read(uuid[]) to workflow_admin;
grant execute on function writ.fn_governed_read(uuid[]) to writ_applier;

-- function writ.fn_governor_ack(p_key text, p_tenant text, p_sku text, p_cause text, p_reason text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 6af5c48e44224cd11a67ef96310d8a4f
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_governor_ack(text,text,text,text,text) to dot_executor;
grant execute on function writ.fn_governor_ack(text,text,text,text,text) to workflow_admin;
grant execute on function writ.fn_governor_ack(text,text,text,text,text) to writ_principal;
grant execute on function writ.fn_governor_ack(text,text,text,text,text) to writ_server;

-- function writ.fn_governor_act(p_key text, p_tenant text, p_sku text, p_id uuid, p_action_type text, p_parameters jsonb) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 7c7f69106ebc75173ad89eac76b462a8
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_governor_act(text,text,text,uuid,text,jsonb) to dot_executor;
grant execute on function writ.fn_governor_act(text,text,text,uuid,text,jsonb) to workflow_admin;
grant execute on function writ.fn_governor_act(text,text,text,uuid,text,jsonb) to writ_principal;
grant execute on function writ.fn_governor_act(text,text,text,uuid,text,jsonb) to writ_server;

-- function writ.fn_governor_check(p_tenants text[], p_recent boolean DEFAULT false) returns jsonb
--   plpgsql, stable, security definer; owner writ_owner; body 167b11ce35ff7ac1d6a3f037b55c8cbf
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_governor_check(text[],boolean) to dot_executor;
grant execute on function writ.fn_governor_check(text[],boolean) to workflow_admin;
grant execute on function writ.fn_governor_check(text[],boolean) to writ_engine;

-- function writ.fn_governor_commit(p_job_id uuid, p_lease_token uuid, p_actor text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body b4076b5087d4993b1498c2ebc245f820
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_governor_commit(uuid,uuid,text) to dot_executor;
grant execute on function writ.fn_governor_commit(uuid,uuid,text) to workflow_admin;
grant execute on function writ.fn_governor_commit(uuid,uuid,text) to writ_applier;

-- function writ.fn_governor_crashed(p_governor_id uuid, p_rev bigint, p_error text, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body d30393570eff5467e0afbc0b5484f2f5
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_governor_crashed(uuid,bigint,text,text) to dot_executor;
grant execute on function writ.fn_governor_crashed(uuid,bigint,text,text) to workflow_admin;
grant execute on function writ.fn_governor_crashed(uuid,bigint,text,text) to writ_engine;

-- function writ.fn_governor_events(p_governor_id uuid, p_after bigint, p_limit integer) returns TABLE(event_seq bigint, document text)
--   plpgsql, stable, security definer; owner writ_owner; body f28817a070391507c2e1821f1944ddfa
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
grant execute on function writ.fn_governor_events(uuid,bigint,integer) to workflow_admin;
grant execute on function writ.fn_governor_events(uuid,bigint,integer) to writ_admin;
grant execute on function writ.fn_governor_events(uuid,bigint,integer) to writ_auditor;
grant execute on function writ.fn_governor_events(uuid,bigint,integer) to writ_server;

-- function writ.fn_governor_outage(p_host text, p_entries jsonb, p_from timestamp with time zone, p_to timestamp with time zone) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 022c4d5a0f49efeb70dea3fffff196d6
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_governor_outage(text,jsonb,timestamp with time zone,timestamp with time zone) to dot_executor;
grant execute on function writ.fn_governor_outage(text,jsonb,timestamp with time zone,timestamp with time zone) to workflow_admin;
grant execute on function writ.fn_governor_outage(text,jsonb,timestamp with time zone,timestamp with time zone) to writ_engine;

-- function writ.fn_governor_policy(p_governor_id uuid, p_version integer) returns jsonb
--   plpgsql, stable, security definer; owner writ_owner; body a07b5283ab530cba1850970c216b5f90
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_governor_policy(uuid,integer) to dot_executor;
grant execute on function writ.fn_governor_policy(uuid,integer) to workflow_admin;
grant execute on function writ.fn_governor_policy(uuid,integer) to writ_admin;
grant execute on function writ.fn_governor_policy(uuid,integer) to writ_applier;
grant execute on function writ.fn_governor_policy(uuid,integer) to writ_auditor;
grant execute on function writ.fn_governor_policy(uuid,integer) to writ_engine;
grant execute on function writ.fn_governor_policy(uuid,integer) to writ_principal;
grant execute on function writ.fn_governor_policy(uuid,integer) to writ_producer;
grant execute on function writ.fn_governor_policy(uuid,integer) to writ_server;
grant execute on function writ.fn_governor_policy(uuid,integer) to writ_worker;

-- function writ.fn_governor_policy_publish(p_key text, p_tenant text, p_sku text, p_policy_id text, p_document jsonb, p_hash text, p_shadow boolean, p_newest integer DEFAULT NULL::integer) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 40dadaa168910ff9a4c49ff9184d98a7
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_governor_policy_publish(text,text,text,text,jsonb,text,boolean,integer) to dot_executor;
grant execute on function writ.fn_governor_policy_publish(text,text,text,text,jsonb,text,boolean,integer) to workflow_admin;
grant execute on function writ.fn_governor_policy_publish(text,text,text,text,jsonb,text,boolean,integer) to writ_principal;
grant execute on function writ.fn_governor_policy_publish(text,text,text,text,jsonb,text,boolean,integer) to writ_server;

-- function writ.fn_governor_put(p_tenant text, p_sku text, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body f4e45d934620cbe51c1227b0d4affa0b
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_governor_put(text,text,text) to dot_executor;
grant execute on function writ.fn_governor_put(text,text,text) to workflow_admin;
grant execute on function writ.fn_governor_put(text,text,text) to writ_admin;
grant execute on function writ.fn_governor_put(text,text,text) to writ_producer;
grant execute on function writ.fn_governor_put(text,text,text) to writ_server;

-- function writ.fn_governor_report(p_job_id uuid, p_lease_token uuid, p_report jsonb, p_governance_job uuid DEFAULT NULL::uuid) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body d8c1a32eb2f2217997ef190f8a555f1d
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_governor_report(uuid,uuid,jsonb,uuid) to dot_executor;
grant execute on function writ.fn_governor_report(uuid,uuid,jsonb,uuid) to workflow_admin;
grant execute on function writ.fn_governor_report(uuid,uuid,jsonb,uuid) to writ_applier;

-- function writ.fn_governor_tell(p_governors uuid[], p_failure jsonb) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body cb3d13c9bc75558d2707154ee9302458
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_governor_tell(uuid[],jsonb) to dot_executor;
grant execute on function writ.fn_governor_tell(uuid[],jsonb) to workflow_admin;
grant execute on function writ.fn_governor_tell(uuid[],jsonb) to writ_engine;

-- function writ.fn_governor_tick(p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 7426d5e69892529e2020b256e5a22630
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_governor_tick(text) to dot_executor;
grant execute on function writ.fn_governor_tick(text) to workflow_admin;
grant execute on function writ.fn_governor_tick(text) to writ_engine;

-- function writ.fn_governors_apply(p_turn jsonb, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body a55ab5cde3b9d5cc85609221d5cf3451
--   set search_path=pg_catalog, pg_temp
--   set plan_cache_mode=force_generic_plan
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
grant execute on function writ.fn_governors_apply(jsonb,text) to dot_executor;
grant execute on function writ.fn_governors_apply(jsonb,text) to workflow_admin;
grant execute on function writ.fn_governors_apply(jsonb,text) to writ_engine;

-- function writ.fn_governors_take(p_limit integer, p_mails integer, p_after timestamp with time zone DEFAULT '-infinity'::timestamp with time zone, p_ids uuid[] DEFAULT NULL::uuid[]) returns TABLE(id uuid, t text, s text, events bigint, receipts bigint, done bigint, last bigint, state text, hash text, due bigint, data text, waiting text, crashes integer, crash text, mails text, held text, taken_upto timestamp with time zone)
--   plpgsql, volatile, security definer; owner writ_owner; body 61714bfda17cf7ea1bd40e7d8830d1cf
--   set search_path=pg_catalog, pg_temp
--   set plan_cache_mode=force_generic_plan
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
grant execute on function writ.fn_governors_take(integer,integer,timestamp with time zone,uuid[]) to dot_executor;
grant execute on function writ.fn_governors_take(integer,integer,timestamp with time zone,uuid[]) to workflow_admin;
grant execute on function writ.fn_governors_take(integer,integer,timestamp with time zone,uuid[]) to writ_engine;

-- function writ.fn_health(p_tenant_id text DEFAULT 'default'::text) returns jsonb
--   sql, stable, security definer; owner writ_owner; body b6a8f2f290612c58638d30cb0193a5d6
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_health(text) to dot_executor;
grant execute on function writ.fn_health(text) to workflow_admin;
grant execute on function writ.fn_health(text) to writ_admin;
grant execute on function writ.fn_health(text) to writ_applier;
grant execute on function writ.fn_health(text) to writ_auditor;
grant execute on function writ.fn_health(text) to writ_engine;
grant execute on function writ.fn_health(text) to writ_principal;
grant execute on function writ.fn_health(text) to writ_producer;
grant execute on function writ.fn_health(text) to writ_server;
grant execute on function writ.fn_health(text) to writ_worker;

-- function writ.fn_incident_put(p_key text, p_incident jsonb, p_tenant_id text DEFAULT 'default'::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 167a57db177a890cd0929eb4bc60022d
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_incident_put(text,jsonb,text) to dot_executor;
grant execute on function writ.fn_incident_put(text,jsonb,text) to workflow_admin;
grant execute on function writ.fn_incident_put(text,jsonb,text) to writ_principal;
grant execute on function writ.fn_incident_put(text,jsonb,text) to writ_server;

-- function writ.fn_job_abort_many(p_lease_token uuid, p_positions integer[], p_abort_kinds text[], p_codes text[], p_messages text[], p_start_upto integer DEFAULT 0, p_actor text DEFAULT NULL::text, p_stacks text[] DEFAULT NULL::text[]) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 50e465f53a662a2d6edb608d5f41a545
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_abort_many(uuid,integer[],text[],text[],text[],integer,text,text[]) to dot_executor;
grant execute on function writ.fn_job_abort_many(uuid,integer[],text[],text[],text[],integer,text,text[]) to workflow_admin;
grant execute on function writ.fn_job_abort_many(uuid,integer[],text[],text[],text[],integer,text,text[]) to writ_applier;
grant execute on function writ.fn_job_abort_many(uuid,integer[],text[],text[],text[],integer,text,text[]) to writ_worker;

-- function writ.fn_job_cancel(p_job_id uuid, p_reason text, p_actor text, p_tenant_id text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body fefe9a387f121fb8814fea07afb57822
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_cancel(uuid,text,text,text) to workflow_admin;
grant execute on function writ.fn_job_cancel(uuid,text,text,text) to writ_admin;
grant execute on function writ.fn_job_cancel(uuid,text,text,text) to writ_server;

-- function writ.fn_job_claim(p_kind text, p_executor text, p_lease_name text, p_lease_holder text, p_lease_ttl_seconds integer, p_limit integer DEFAULT 1) returns json
--   plpgsql, volatile, security definer; owner writ_owner; body 976a98a6c145190f8b5abe7849362b2d
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_claim(text,text,text,text,integer,integer) to dot_executor;
grant execute on function writ.fn_job_claim(text,text,text,text,integer,integer) to workflow_admin;
grant execute on function writ.fn_job_claim(text,text,text,text,integer,integer) to writ_applier;
grant execute on function writ.fn_job_claim(text,text,text,text,integer,integer) to writ_worker;

-- function writ.fn_job_claim_many(p_kinds text[], p_executor text, p_lease_holder text, p_lease_ttl_seconds double precision DEFAULT NULL::double precision, p_limit integer DEFAULT 1, p_start integer DEFAULT 0, p_lease_name text DEFAULT NULL::text, p_durable boolean DEFAULT true, p_lease_token uuid DEFAULT NULL::uuid, p_alone boolean DEFAULT false, p_after text DEFAULT NULL::text) returns json
--   plpgsql, volatile, security definer; owner writ_owner; body 8cddc2a7cae936e7df9a3c6d867275f7
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
--   set plan_cache_mode=force_generic_plan
grant execute on function writ.fn_job_claim_many(text[],text,text,double precision,integer,integer,text,boolean,uuid,boolean,text) to dot_executor;
grant execute on function writ.fn_job_claim_many(text[],text,text,double precision,integer,integer,text,boolean,uuid,boolean,text) to workflow_admin;
grant execute on function writ.fn_job_claim_many(text[],text,text,double precision,integer,integer,text,boolean,uuid,boolean,text) to writ_applier;
grant execute on function writ.fn_job_claim_many(text[],text,text,double precision,integer,integer,text,boolean,uuid,boolean,text) to writ_worker;

-- function writ.fn_job_cleanup_sweep(p_limit integer DEFAULT 10000, p_actor text DEFAULT 'sweep'::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 92cb97f3c3de53f9836c77df28b922a7
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
grant execute on function writ.fn_job_cleanup_sweep(integer,text) to dot_executor;
grant execute on function writ.fn_job_cleanup_sweep(integer,text) to workflow_admin;
grant execute on function writ.fn_job_cleanup_sweep(integer,text) to writ_admin;
grant execute on function writ.fn_job_cleanup_sweep(integer,text) to writ_engine;

-- function writ.fn_job_commit(p_job_id uuid, p_lease_token uuid, p_actor text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 1662fba224b63ddd22128c209ab9b494
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_commit(uuid,uuid,text) to dot_executor;
grant execute on function writ.fn_job_commit(uuid,uuid,text) to workflow_admin;
grant execute on function writ.fn_job_commit(uuid,uuid,text) to writ_applier;
grant execute on function writ.fn_job_commit(uuid,uuid,text) to writ_worker;

-- function writ.fn_job_commit_status(p_job_id uuid, p_lease_token uuid, p_xid text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 65f0ee495be6d5d6eb8a7a81040461a7
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_commit_status(uuid,uuid,text) to dot_executor;
grant execute on function writ.fn_job_commit_status(uuid,uuid,text) to workflow_admin;
grant execute on function writ.fn_job_commit_status(uuid,uuid,text) to writ_applier;
grant execute on function writ.fn_job_commit_status(uuid,uuid,text) to writ_worker;

-- function writ.fn_job_dead_letter_replay(p_job_id uuid, p_triage text, p_actor text, p_tenant_id text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 5bd0ed3d9359054db04629ad11980779
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_dead_letter_replay(uuid,text,text,text) to workflow_admin;
grant execute on function writ.fn_job_dead_letter_replay(uuid,text,text,text) to writ_admin;
grant execute on function writ.fn_job_dead_letter_replay(uuid,text,text,text) to writ_server;

-- function writ.fn_job_enqueue(p_kind text, p_idempotency_key text, p_executor text, p_source_ref text, p_target_ref text, p_payload_ref text, p_safe_payload jsonb, p_priority integer, p_process_after timestamp with time zone, p_deadline_at timestamp with time zone, p_correlation_id text, p_causation_event_id uuid, p_actor text, p_tenant_id text DEFAULT 'default'::text, p_input jsonb DEFAULT NULL::jsonb, p_max_attempts integer DEFAULT NULL::integer, p_parent_job_id uuid DEFAULT NULL::uuid, p_workflow_id uuid DEFAULT NULL::uuid) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 803d2680ff17cea2e4bbed53e4a6d47a
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_enqueue(text,text,text,text,text,text,jsonb,integer,timestamp with time zone,timestamp with time zone,text,uuid,text,text,jsonb,integer,uuid,uuid) to dot_executor;
grant execute on function writ.fn_job_enqueue(text,text,text,text,text,text,jsonb,integer,timestamp with time zone,timestamp with time zone,text,uuid,text,text,jsonb,integer,uuid,uuid) to workflow_admin;
grant execute on function writ.fn_job_enqueue(text,text,text,text,text,text,jsonb,integer,timestamp with time zone,timestamp with time zone,text,uuid,text,text,jsonb,integer,uuid,uuid) to writ_producer;
grant execute on function writ.fn_job_enqueue(text,text,text,text,text,text,jsonb,integer,timestamp with time zone,timestamp with time zone,text,uuid,text,text,jsonb,integer,uuid,uuid) to writ_server;

-- function writ.fn_job_enqueue_alike(p_kind text, p_ids uuid[], p_inputs json, p_actor text, p_tenant_id text DEFAULT 'default'::text, p_priority smallint DEFAULT 0, p_atomic boolean DEFAULT false, p_traces text[] DEFAULT NULL::text[]) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body ab02fe0d45c73decf55220f7fb4872fb
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_enqueue_alike(text,uuid[],json,text,text,smallint,boolean,text[]) to dot_executor;
grant execute on function writ.fn_job_enqueue_alike(text,uuid[],json,text,text,smallint,boolean,text[]) to workflow_admin;
grant execute on function writ.fn_job_enqueue_alike(text,uuid[],json,text,text,smallint,boolean,text[]) to writ_producer;
grant execute on function writ.fn_job_enqueue_alike(text,uuid[],json,text,text,smallint,boolean,text[]) to writ_server;

-- function writ.fn_job_enqueue_many(p_jobs jsonb, p_actor text, p_tenant_id text DEFAULT 'default'::text, p_atomic boolean DEFAULT false) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 1ec1ca219fa28a0cd1aff00b9c073ac3
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_enqueue_many(jsonb,text,text,boolean) to dot_executor;
grant execute on function writ.fn_job_enqueue_many(jsonb,text,text,boolean) to workflow_admin;
grant execute on function writ.fn_job_enqueue_many(jsonb,text,text,boolean) to writ_producer;
grant execute on function writ.fn_job_enqueue_many(jsonb,text,text,boolean) to writ_server;

-- function writ.fn_job_events(p_job_id uuid, p_tenant_id text DEFAULT NULL::text) returns jsonb
--   sql, volatile, security definer; owner writ_owner; body fe2c722cad550ecabb60ae09727140df
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_events(uuid,text) to dot_executor;
grant execute on function writ.fn_job_events(uuid,text) to workflow_admin;
grant execute on function writ.fn_job_events(uuid,text) to writ_admin;
grant execute on function writ.fn_job_events(uuid,text) to writ_applier;
grant execute on function writ.fn_job_events(uuid,text) to writ_auditor;
grant execute on function writ.fn_job_events(uuid,text) to writ_engine;
grant execute on function writ.fn_job_events(uuid,text) to writ_producer;
grant execute on function writ.fn_job_events(uuid,text) to writ_server;
grant execute on function writ.fn_job_events(uuid,text) to writ_worker;

-- function writ.fn_job_fail_permanent(p_job_id uuid, p_lease_token uuid, p_error_code text, p_error_message text, p_actor text) returns jsonb
--   sql, volatile, security definer; owner writ_owner; body 1fa25c959de8508f9a8de958932bcc1a
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_fail_permanent(uuid,uuid,text,text,text) to dot_executor;
grant execute on function writ.fn_job_fail_permanent(uuid,uuid,text,text,text) to workflow_admin;
grant execute on function writ.fn_job_fail_permanent(uuid,uuid,text,text,text) to writ_applier;
grant execute on function writ.fn_job_fail_permanent(uuid,uuid,text,text,text) to writ_worker;

-- function writ.fn_job_fail_transient(p_job_id uuid, p_lease_token uuid, p_error_code text, p_error_message text, p_actor text) returns jsonb
--   sql, volatile, security definer; owner writ_owner; body ac390cd716c906decdd05669fc3b5e38
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_fail_transient(uuid,uuid,text,text,text) to dot_executor;
grant execute on function writ.fn_job_fail_transient(uuid,uuid,text,text,text) to workflow_admin;
grant execute on function writ.fn_job_fail_transient(uuid,uuid,text,text,text) to writ_applier;
grant execute on function writ.fn_job_fail_transient(uuid,uuid,text,text,text) to writ_worker;

-- function writ.fn_job_kind_pause(p_kind text, p_paused boolean, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 4537a022ec4282e35ef580d22513da15
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_kind_pause(text,boolean,text) to workflow_admin;
grant execute on function writ.fn_job_kind_pause(text,boolean,text) to writ_admin;
grant execute on function writ.fn_job_kind_pause(text,boolean,text) to writ_server;

-- function writ.fn_job_kind_register(p_kind text, p_definition jsonb, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 0da10cecfc8d40c6b5ae09aaf9aaf8cd
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_kind_register(text,jsonb,text) to dot_executor;
grant execute on function writ.fn_job_kind_register(text,jsonb,text) to workflow_admin;
grant execute on function writ.fn_job_kind_register(text,jsonb,text) to writ_admin;
grant execute on function writ.fn_job_kind_register(text,jsonb,text) to writ_applier;
grant execute on function writ.fn_job_kind_register(text,jsonb,text) to writ_producer;
grant execute on function writ.fn_job_kind_register(text,jsonb,text) to writ_server;
grant execute on function writ.fn_job_kind_register(text,jsonb,text) to writ_worker;

-- function writ.fn_job_lease_reaper(p_actor text DEFAULT 'reaper'::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 2f5abc98a177102a41409a4ed9dd9dd1
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_lease_reaper(text) to dot_executor;
grant execute on function writ.fn_job_lease_reaper(text) to workflow_admin;
grant execute on function writ.fn_job_lease_reaper(text) to writ_engine;

-- function writ.fn_job_payload(p_job_id uuid, p_tenant_id text DEFAULT NULL::text) returns json
--   sql, volatile, security definer; owner writ_owner; body 35fa6c122ee843936cdd1008e517616c
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_payload(uuid,text) to dot_executor;
grant execute on function writ.fn_job_payload(uuid,text) to workflow_admin;
grant execute on function writ.fn_job_payload(uuid,text) to writ_admin;
grant execute on function writ.fn_job_payload(uuid,text) to writ_applier;
grant execute on function writ.fn_job_payload(uuid,text) to writ_producer;
grant execute on function writ.fn_job_payload(uuid,text) to writ_server;
grant execute on function writ.fn_job_payload(uuid,text) to writ_worker;

-- function writ.fn_job_progress(p_job_id uuid, p_status_signal_only text, p_lease_token uuid, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body b3444712aaf57cf9c92a538b83973e85
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_progress(uuid,text,uuid,text) to dot_executor;
grant execute on function writ.fn_job_progress(uuid,text,uuid,text) to workflow_admin;
grant execute on function writ.fn_job_progress(uuid,text,uuid,text) to writ_applier;
grant execute on function writ.fn_job_progress(uuid,text,uuid,text) to writ_worker;

-- function writ.fn_job_queue_health(p_kinds text[] DEFAULT NULL::text[]) returns jsonb
--   plpgsql, stable, security definer; owner writ_owner; body 91f2cc09513059b38dc6e100e25a670c
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_queue_health(text[]) to dot_executor;
grant execute on function writ.fn_job_queue_health(text[]) to workflow_admin;
grant execute on function writ.fn_job_queue_health(text[]) to writ_admin;
grant execute on function writ.fn_job_queue_health(text[]) to writ_applier;
grant execute on function writ.fn_job_queue_health(text[]) to writ_auditor;
grant execute on function writ.fn_job_queue_health(text[]) to writ_engine;
grant execute on function writ.fn_job_queue_health(text[]) to writ_producer;
grant execute on function writ.fn_job_queue_health(text[]) to writ_server;
grant execute on function writ.fn_job_queue_health(text[]) to writ_worker;

-- function writ.fn_job_release(p_job_id uuid, p_lease_token uuid, p_actor text) returns jsonb
--   sql, volatile, security definer; owner writ_owner; body f039e1717d91bc32c67e7f51eeecf441
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_release(uuid,uuid,text) to dot_executor;
grant execute on function writ.fn_job_release(uuid,uuid,text) to workflow_admin;
grant execute on function writ.fn_job_release(uuid,uuid,text) to writ_applier;
grant execute on function writ.fn_job_release(uuid,uuid,text) to writ_worker;

-- function writ.fn_job_renew_many(p_lease_tokens uuid[], p_lease_ttl_seconds double precision, p_actor text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 3f9defbd50c452c5b472f87b5630d805
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_renew_many(uuid[],double precision,text) to dot_executor;
grant execute on function writ.fn_job_renew_many(uuid[],double precision,text) to workflow_admin;
grant execute on function writ.fn_job_renew_many(uuid[],double precision,text) to writ_applier;
grant execute on function writ.fn_job_renew_many(uuid[],double precision,text) to writ_worker;

-- function writ.fn_job_requeue_many(p_job_ids uuid[], p_triage text, p_actor text, p_tenant_id text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 71e6f834d2398cdb3db71c976ab5903d
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_requeue_many(uuid[],text,text,text) to workflow_admin;
grant execute on function writ.fn_job_requeue_many(uuid[],text,text,text) to writ_admin;
grant execute on function writ.fn_job_requeue_many(uuid[],text,text,text) to writ_server;

-- function writ.fn_job_start_many(p_lease_token uuid, p_upto integer, p_actor text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 7abfb45b8a05d791573bcc48a5f009be
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_start_many(uuid,integer,text) to dot_executor;
grant execute on function writ.fn_job_start_many(uuid,integer,text) to workflow_admin;
grant execute on function writ.fn_job_start_many(uuid,integer,text) to writ_applier;
grant execute on function writ.fn_job_start_many(uuid,integer,text) to writ_worker;

-- function writ.fn_job_subscription_put(p_executor_id text, p_job_kind text, p_event_domain text, p_priority_floor integer, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 73b63414fbfc7d5a3c4b343897404283
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_subscription_put(text,text,text,integer,text) to workflow_admin;
grant execute on function writ.fn_job_subscription_put(text,text,text,integer,text) to writ_admin;

-- function writ.fn_job_subscription_remove(p_executor_id text, p_job_kind text, p_event_domain text, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 942c801c304f761200b04461721b7f23
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_subscription_remove(text,text,text,text) to workflow_admin;
grant execute on function writ.fn_job_subscription_remove(text,text,text,text) to writ_admin;

-- function writ.fn_job_succeed(p_job_id uuid, p_lease_token uuid, p_result_ref text, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body c21e963e9e4956527d5562ff51065f4e
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_succeed(uuid,uuid,text,text) to dot_executor;
grant execute on function writ.fn_job_succeed(uuid,uuid,text,text) to workflow_admin;
grant execute on function writ.fn_job_succeed(uuid,uuid,text,text) to writ_applier;
grant execute on function writ.fn_job_succeed(uuid,uuid,text,text) to writ_worker;

-- function writ.fn_job_succeed_many(p_lease_token uuid, p_positions integer[], p_results text[] DEFAULT NULL::text[], p_start_upto integer DEFAULT 0, p_actor text DEFAULT NULL::text, p_result_refs text[] DEFAULT NULL::text[]) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 90a32125c55889b9e6bf80492af7975a
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
--   set plan_cache_mode=force_generic_plan
grant execute on function writ.fn_job_succeed_many(uuid,integer[],text[],integer,text,text[]) to dot_executor;
grant execute on function writ.fn_job_succeed_many(uuid,integer[],text[],integer,text,text[]) to workflow_admin;
grant execute on function writ.fn_job_succeed_many(uuid,integer[],text[],integer,text,text[]) to writ_applier;
grant execute on function writ.fn_job_succeed_many(uuid,integer[],text[],integer,text,text[]) to writ_worker;

-- function writ.fn_job_tick(p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body b3608985c0703b22d1f28525e788c43f
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_job_tick(text) to dot_executor;
grant execute on function writ.fn_job_tick(text) to workflow_admin;
grant execute on function writ.fn_job_tick(text) to writ_applier;
grant execute on function writ.fn_job_tick(text) to writ_engine;
grant execute on function writ.fn_job_tick(text) to writ_producer;
grant execute on function writ.fn_job_tick(text) to writ_worker;

-- function writ.fn_lease_release(p_lease_token uuid, p_actor text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 6abd28b973b4da1c844d4cf5d7d78a11
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_lease_release(uuid,text) to dot_executor;
grant execute on function writ.fn_lease_release(uuid,text) to workflow_admin;
grant execute on function writ.fn_lease_release(uuid,text) to writ_applier;
grant execute on function writ.fn_lease_release(uuid,text) to writ_worker;

-- function writ.fn_ledger_accept_restore(p_known_checkpoint text, p_known_epoch integer, p_known_size bigint, p_reason text, p_actor text, p_epoch integer, p_size bigint, p_root text, p_signature text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body b953012d041afa39bdb19ef6aaf52cf3
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_ledger_accept_restore(text,integer,bigint,text,text,integer,bigint,text,text) to workflow_admin;
grant execute on function writ.fn_ledger_accept_restore(text,integer,bigint,text,text,integer,bigint,text,text) to writ_admin;

-- function writ.fn_ledger_archived(p_month date, p_place text, p_actor text, p_size bigint, p_signature text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 542fc32c0172b03bd51270066d1302f8
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_ledger_archived(date,text,text,bigint,text) to workflow_admin;
grant execute on function writ.fn_ledger_archived(date,text,text,bigint,text) to writ_signer;

-- function writ.fn_ledger_checkpoint_record(p_checkpoints jsonb, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 595e8a30357e746a5212d0050c2b532f
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_ledger_checkpoint_record(jsonb,text) to workflow_admin;
grant execute on function writ.fn_ledger_checkpoint_record(jsonb,text) to writ_signer;

-- function writ.fn_ledger_first_segment() returns bigint
--   sql, stable, security definer; owner writ_owner; body c4298be0275dd0a02dc780ce8b7bdef0
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_ledger_first_segment() to workflow_admin;
grant execute on function writ.fn_ledger_first_segment() to writ_admin;
grant execute on function writ.fn_ledger_first_segment() to writ_auditor;
grant execute on function writ.fn_ledger_first_segment() to writ_server;
grant execute on function writ.fn_ledger_first_segment() to writ_signer;

-- function writ.fn_ledger_heads(p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 2dcdba2bf82f9231474cdd3f12cb7816
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_ledger_heads(text) to workflow_admin;
grant execute on function writ.fn_ledger_heads(text) to writ_signer;

-- function writ.fn_ledger_health() returns jsonb
--   plpgsql, stable, security definer; owner writ_owner; body 512c007e5a61f50545fe5c34c1bd23f4
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_ledger_health() to dot_executor;
grant execute on function writ.fn_ledger_health() to workflow_admin;
grant execute on function writ.fn_ledger_health() to writ_admin;
grant execute on function writ.fn_ledger_health() to writ_applier;
grant execute on function writ.fn_ledger_health() to writ_auditor;
grant execute on function writ.fn_ledger_health() to writ_engine;
grant execute on function writ.fn_ledger_health() to writ_producer;
grant execute on function writ.fn_ledger_health() to writ_server;
grant execute on function writ.fn_ledger_health() to writ_signer;
grant execute on function writ.fn_ledger_health() to writ_worker;

-- function writ.fn_ledger_key_add(p_key text, p_replaces text, p_signature_new text, p_signature_old text, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 608daf4a3133011634a1ae149cd3d107
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_ledger_key_add(text,text,text,text,text) to workflow_admin;
grant execute on function writ.fn_ledger_key_add(text,text,text,text,text) to writ_signer;

-- function writ.fn_ledger_root_at(p_log text, p_size bigint DEFAULT NULL::bigint, p_epoch integer DEFAULT NULL::integer) returns jsonb
--   sql, stable, security definer; owner writ_owner; body 92599318a8af1fcc58cf3a8054f8887c
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_ledger_root_at(text,bigint,integer) to dot_executor;
grant execute on function writ.fn_ledger_root_at(text,bigint,integer) to workflow_admin;
grant execute on function writ.fn_ledger_root_at(text,bigint,integer) to writ_admin;
grant execute on function writ.fn_ledger_root_at(text,bigint,integer) to writ_applier;
grant execute on function writ.fn_ledger_root_at(text,bigint,integer) to writ_auditor;
grant execute on function writ.fn_ledger_root_at(text,bigint,integer) to writ_engine;
grant execute on function writ.fn_ledger_root_at(text,bigint,integer) to writ_producer;
grant execute on function writ.fn_ledger_root_at(text,bigint,integer) to writ_server;
grant execute on function writ.fn_ledger_root_at(text,bigint,integer) to writ_signer;
grant execute on function writ.fn_ledger_root_at(text,bigint,integer) to writ_worker;

-- function writ.fn_ledger_run_event(p_run_id uuid, p_run_seq integer) returns TABLE(batch_id uuid, document text)
--   sql, stable, security definer; owner writ_owner; body 13ccfc673728f74c5ed7d5237e563c56
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_ledger_run_event(uuid,integer) to workflow_admin;
grant execute on function writ.fn_ledger_run_event(uuid,integer) to writ_admin;
grant execute on function writ.fn_ledger_run_event(uuid,integer) to writ_auditor;
grant execute on function writ.fn_ledger_run_event(uuid,integer) to writ_server;
grant execute on function writ.fn_ledger_run_event(uuid,integer) to writ_signer;

-- function writ.fn_ledger_segment(p_segment bigint) returns TABLE(batch_id uuid, document text)
--   plpgsql, stable, security definer; owner writ_owner; body dcdfdcfc7e2f94daef0a866a3027fe7f
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_ledger_segment(bigint) to workflow_admin;
grant execute on function writ.fn_ledger_segment(bigint) to writ_admin;
grant execute on function writ.fn_ledger_segment(bigint) to writ_auditor;
grant execute on function writ.fn_ledger_segment(bigint) to writ_server;
grant execute on function writ.fn_ledger_segment(bigint) to writ_signer;

-- function writ.fn_ledger_segment_of(p_event_id uuid) returns bigint
--   sql, stable, security definer; owner writ_owner; body d9583e52af5d9f6ee9bd08750a18008c
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_ledger_segment_of(uuid) to workflow_admin;
grant execute on function writ.fn_ledger_segment_of(uuid) to writ_admin;
grant execute on function writ.fn_ledger_segment_of(uuid) to writ_auditor;
grant execute on function writ.fn_ledger_segment_of(uuid) to writ_server;
grant execute on function writ.fn_ledger_segment_of(uuid) to writ_signer;

-- function writ.fn_ledger_segment_runs(p_segment bigint) returns TABLE(kept boolean, document text)
--   plpgsql, stable, security definer; owner writ_owner; body 752d59e81c59a1a0373970f7dfbebd9d
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_ledger_segment_runs(bigint) to workflow_admin;
grant execute on function writ.fn_ledger_segment_runs(bigint) to writ_admin;
grant execute on function writ.fn_ledger_segment_runs(bigint) to writ_auditor;
grant execute on function writ.fn_ledger_segment_runs(bigint) to writ_server;
grant execute on function writ.fn_ledger_segment_runs(bigint) to writ_signer;

-- function writ.fn_ledger_tick(p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body cf98c0e31ddfddeacdaedd84b55d1200
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_ledger_tick(text) to dot_executor;
grant execute on function writ.fn_ledger_tick(text) to workflow_admin;
grant execute on function writ.fn_ledger_tick(text) to writ_engine;

-- function writ.fn_ledger_walk(p_log text, p_stream text, p_before bigint, p_limit integer) returns TABLE(place bigint, log_id text, leaf_index bigint, at timestamp with time zone, entry text)
--   plpgsql, stable, security definer; owner writ_owner; body b0542e8ed56f9cc6c949f4ad9df6be59
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
grant execute on function writ.fn_ledger_walk(text,text,bigint,integer) to workflow_admin;
grant execute on function writ.fn_ledger_walk(text,text,bigint,integer) to writ_admin;
grant execute on function writ.fn_ledger_walk(text,text,bigint,integer) to writ_auditor;
grant execute on function writ.fn_ledger_walk(text,text,bigint,integer) to writ_server;
grant execute on function writ.fn_ledger_walk(text,text,bigint,integer) to writ_signer;

-- function writ.fn_login() returns jsonb
--   plpgsql, stable, security definer; owner writ_owner; body d1f7315fc238ed42869ee74d67f28e46
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_login() to dot_executor;
grant execute on function writ.fn_login() to workflow_admin;
grant execute on function writ.fn_login() to writ_admin;
grant execute on function writ.fn_login() to writ_applier;
grant execute on function writ.fn_login() to writ_auditor;
grant execute on function writ.fn_login() to writ_engine;
grant execute on function writ.fn_login() to writ_principal;
grant execute on function writ.fn_login() to writ_producer;
grant execute on function writ.fn_login() to writ_server;
grant execute on function writ.fn_login() to writ_signer;
grant execute on function writ.fn_login() to writ_worker;

-- function writ.fn_login_put(p_login text, p_definition jsonb, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body cb9a3bb0404c37729e5929fad1b05ac9
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_login_put(text,jsonb,text) to workflow_admin;
grant execute on function writ.fn_login_put(text,jsonb,text) to writ_admin;

-- function writ.fn_login_remove(p_login text, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 1a077a5923b9947d2ff74844e1e7dc76
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_login_remove(text,text) to workflow_admin;
grant execute on function writ.fn_login_remove(text,text) to writ_admin;

-- function writ.fn_metrics() returns jsonb
--   plpgsql, stable, security definer; owner writ_owner; body a92ac5f1d41b3fb7bce4f0073adce4e9
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_metrics() to dot_executor;
grant execute on function writ.fn_metrics() to workflow_admin;
grant execute on function writ.fn_metrics() to writ_admin;
grant execute on function writ.fn_metrics() to writ_applier;
grant execute on function writ.fn_metrics() to writ_auditor;
grant execute on function writ.fn_metrics() to writ_engine;
grant execute on function writ.fn_metrics() to writ_producer;
grant execute on function writ.fn_metrics() to writ_server;
grant execute on function writ.fn_metrics() to writ_worker;

-- function writ.fn_mot_graph_emit(p_workflow jsonb, p_jobs jsonb, p_actor text, p_tenant_id text DEFAULT 'default'::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 73c3f97f26eef606f5982a4eb9230c34
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_mot_graph_emit(jsonb,jsonb,text,text) to dot_executor;
grant execute on function writ.fn_mot_graph_emit(jsonb,jsonb,text,text) to workflow_admin;
grant execute on function writ.fn_mot_graph_emit(jsonb,jsonb,text,text) to writ_producer;
grant execute on function writ.fn_mot_graph_emit(jsonb,jsonb,text,text) to writ_server;

-- function writ.fn_outbox_done(p_destination text, p_turn uuid, p_moves boolean, p_outcomes json, p_trouble text DEFAULT NULL::text, p_reason text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body fc7e1625b38be161d77e0886b59988b3
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan
grant execute on function writ.fn_outbox_done(text,uuid,boolean,json,text,text) to dot_executor;
grant execute on function writ.fn_outbox_done(text,uuid,boolean,json,text,text) to workflow_admin;
grant execute on function writ.fn_outbox_done(text,uuid,boolean,json,text,text) to writ_engine;

-- function writ.fn_outbox_read(p_position text, p_types text[], p_tenant_id text DEFAULT NULL::text, p_limit integer DEFAULT 500, p_idle boolean DEFAULT false, p_events integer DEFAULT 2000) returns json
--   plpgsql, volatile, security definer; owner writ_owner; body 8f7bb26eff2a2417578c002b3154a30b
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_outbox_read(text,text[],text,integer,boolean,integer) to dot_executor;
grant execute on function writ.fn_outbox_read(text,text[],text,integer,boolean,integer) to workflow_admin;
grant execute on function writ.fn_outbox_read(text,text[],text,integer,boolean,integer) to writ_admin;
grant execute on function writ.fn_outbox_read(text,text[],text,integer,boolean,integer) to writ_applier;
grant execute on function writ.fn_outbox_read(text,text[],text,integer,boolean,integer) to writ_auditor;
grant execute on function writ.fn_outbox_read(text,text[],text,integer,boolean,integer) to writ_engine;
grant execute on function writ.fn_outbox_read(text,text[],text,integer,boolean,integer) to writ_producer;
grant execute on function writ.fn_outbox_read(text,text[],text,integer,boolean,integer) to writ_server;
grant execute on function writ.fn_outbox_read(text,text[],text,integer,boolean,integer) to writ_worker;

-- function writ.fn_outbox_replay(p_name text, p_events uuid[], p_since timestamp with time zone, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body bb2ecf35dafc9b252a61f0954dcd79c8
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_outbox_replay(text,uuid[],timestamp with time zone,text) to workflow_admin;
grant execute on function writ.fn_outbox_replay(text,uuid[],timestamp with time zone,text) to writ_admin;
grant execute on function writ.fn_outbox_replay(text,uuid[],timestamp with time zone,text) to writ_server;

-- function writ.fn_outbox_take(p_relay text, p_buses text[], p_limit integer DEFAULT 200) returns json
--   plpgsql, volatile, security definer; owner writ_owner; body c136050beb2baf3d7c8c27aaa814115a
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_outbox_take(text,text[],integer) to dot_executor;
grant execute on function writ.fn_outbox_take(text,text[],integer) to workflow_admin;
grant execute on function writ.fn_outbox_take(text,text[],integer) to writ_engine;

-- function writ.fn_permissions(p_tenant text, p_principals text[]) returns jsonb
--   plpgsql, stable, security definer; owner writ_owner; body 167d1cedce811a7e6e5e9526852a3925
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_permissions(text,text[]) to dot_executor;
grant execute on function writ.fn_permissions(text,text[]) to workflow_admin;
grant execute on function writ.fn_permissions(text,text[]) to writ_applier;
grant execute on function writ.fn_permissions(text,text[]) to writ_engine;

-- function writ.fn_plan_register(p_document text, p_sha256 text, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 529fdb4fb61e15712e6b4405a6090c73
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_plan_register(text,text,text) to dot_executor;
grant execute on function writ.fn_plan_register(text,text,text) to workflow_admin;
grant execute on function writ.fn_plan_register(text,text,text) to writ_producer;
grant execute on function writ.fn_plan_register(text,text,text) to writ_server;

-- function writ.fn_principal_put(p_principal jsonb, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 4fb67bac41c1073a7a97d1926b358a0f
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_principal_put(jsonb,text) to workflow_admin;
grant execute on function writ.fn_principal_put(jsonb,text) to writ_admin;

-- function writ.fn_probe_put(p_key text, p_probe jsonb, p_tenant_id text DEFAULT 'default'::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 3fd9eb1726ba54743a7aa0c6ff1418e4
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_probe_put(text,jsonb,text) to dot_executor;
grant execute on function writ.fn_probe_put(text,jsonb,text) to workflow_admin;
grant execute on function writ.fn_probe_put(text,jsonb,text) to writ_principal;
grant execute on function writ.fn_probe_put(text,jsonb,text) to writ_server;

-- function writ.fn_probe_report(p_key text, p_report jsonb, p_tenant_id text DEFAULT 'default'::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 07b4272c5f6f95a1c2fab8d4bfb2dc79
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_probe_report(text,jsonb,text) to dot_executor;
grant execute on function writ.fn_probe_report(text,jsonb,text) to workflow_admin;
grant execute on function writ.fn_probe_report(text,jsonb,text) to writ_principal;
grant execute on function writ.fn_probe_report(text,jsonb,text) to writ_server;

-- function writ.fn_probes_report(p_reports jsonb, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body b3cac8e81b726a1a22bf4da8474ba209
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_probes_report(jsonb,text) to dot_executor;
grant execute on function writ.fn_probes_report(jsonb,text) to workflow_admin;
grant execute on function writ.fn_probes_report(jsonb,text) to writ_applier;
grant execute on function writ.fn_probes_report(jsonb,text) to writ_engine;

-- function writ.fn_probes_take(p_limit integer, p_tenant_id text DEFAULT NULL::text, p_targets text[] DEFAULT NULL::text[], p_without text[] DEFAULT '{}'::text[]) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body ab8183ee2f9de2ef734404240f44ff44
--   set search_path=pg_catalog, pg_temp
--   set plan_cache_mode=force_generic_plan
grant execute on function writ.fn_probes_take(integer,text,text[],text[]) to dot_executor;
grant execute on function writ.fn_probes_take(integer,text,text[],text[]) to workflow_admin;
grant execute on function writ.fn_probes_take(integer,text,text[],text[]) to writ_applier;
grant execute on function writ.fn_probes_take(integer,text,text[],text[]) to writ_engine;

-- function writ.fn_queue_heartbeat(p_executor_id text, p_executor_kind text, p_domain_scope text[], p_cadence_seconds integer, p_kinds text[] DEFAULT '{}'::text[], p_idle_seconds double precision DEFAULT NULL::double precision, p_details jsonb DEFAULT '{}'::jsonb) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 480413f4c533b5f7342c3fbb5dbaf6ed
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_queue_heartbeat(text,text,text[],integer,text[],double precision,jsonb) to dot_executor;
grant execute on function writ.fn_queue_heartbeat(text,text,text[],integer,text[],double precision,jsonb) to workflow_admin;
grant execute on function writ.fn_queue_heartbeat(text,text,text[],integer,text[],double precision,jsonb) to writ_applier;
grant execute on function writ.fn_queue_heartbeat(text,text,text[],integer,text[],double precision,jsonb) to writ_engine;
grant execute on function writ.fn_queue_heartbeat(text,text,text[],integer,text[],double precision,jsonb) to writ_worker;

-- function writ.fn_queue_worker_leave(p_executor_id text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body a3e6dfd01afb88b5c52e0d4513762bc4
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_queue_worker_leave(text) to dot_executor;
grant execute on function writ.fn_queue_worker_leave(text) to workflow_admin;
grant execute on function writ.fn_queue_worker_leave(text) to writ_applier;
grant execute on function writ.fn_queue_worker_leave(text) to writ_engine;
grant execute on function writ.fn_queue_worker_leave(text) to writ_worker;

-- function writ.fn_receipt_erase(p_receipt_id uuid, p_reason text, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body eca163f5a7adf4b62ea0af23e1af506d
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_receipt_erase(uuid,text,text) to workflow_admin;
grant execute on function writ.fn_receipt_erase(uuid,text,text) to writ_admin;

-- function writ.fn_request_begin(p_key text, p_tenant_id text, p_once text, p_digest text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 5a84250c4798ffa94b95178e7c3563b5
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_request_begin(text,text,text,text) to dot_executor;
grant execute on function writ.fn_request_begin(text,text,text,text) to workflow_admin;
grant execute on function writ.fn_request_begin(text,text,text,text) to writ_admin;
grant execute on function writ.fn_request_begin(text,text,text,text) to writ_applier;
grant execute on function writ.fn_request_begin(text,text,text,text) to writ_engine;
grant execute on function writ.fn_request_begin(text,text,text,text) to writ_principal;
grant execute on function writ.fn_request_begin(text,text,text,text) to writ_producer;
grant execute on function writ.fn_request_begin(text,text,text,text) to writ_server;
grant execute on function writ.fn_request_begin(text,text,text,text) to writ_worker;

-- function writ.fn_request_end(p_key text, p_tenant_id text, p_once text, p_answer jsonb) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 2a93809a982c8dcdde55e4179f18b8ec
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_request_end(text,text,text,jsonb) to dot_executor;
grant execute on function writ.fn_request_end(text,text,text,jsonb) to workflow_admin;
grant execute on function writ.fn_request_end(text,text,text,jsonb) to writ_admin;
grant execute on function writ.fn_request_end(text,text,text,jsonb) to writ_applier;
grant execute on function writ.fn_request_end(text,text,text,jsonb) to writ_engine;
grant execute on function writ.fn_request_end(text,text,text,jsonb) to writ_principal;
grant execute on function writ.fn_request_end(text,text,text,jsonb) to writ_producer;
grant execute on function writ.fn_request_end(text,text,text,jsonb) to writ_server;
grant execute on function writ.fn_request_end(text,text,text,jsonb) to writ_worker;

-- function writ.fn_requests_rejected(p_host text, p_codes jsonb, p_from timestamp with time zone, p_to timestamp with time zone) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body b47c54d647c19cba2ad273009873797e
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_requests_rejected(text,jsonb,timestamp with time zone,timestamp with time zone) to dot_executor;
grant execute on function writ.fn_requests_rejected(text,jsonb,timestamp with time zone,timestamp with time zone) to workflow_admin;
grant execute on function writ.fn_requests_rejected(text,jsonb,timestamp with time zone,timestamp with time zone) to writ_engine;

-- function writ.fn_rollback_retry(p_key text, p_job_id uuid) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body f12c62f3aeee37082c29ad24b20952f0
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_rollback_retry(text,uuid) to dot_executor;
grant execute on function writ.fn_rollback_retry(text,uuid) to workflow_admin;
grant execute on function writ.fn_rollback_retry(text,uuid) to writ_principal;
grant execute on function writ.fn_rollback_retry(text,uuid) to writ_server;

-- function writ.fn_run_append(p_run_id uuid, p_event jsonb, p_actor text, p_tenant_id text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 453ccc168e63f293a81d67e0ff224f78
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_run_append(uuid,jsonb,text,text) to dot_executor;
grant execute on function writ.fn_run_append(uuid,jsonb,text,text) to workflow_admin;
grant execute on function writ.fn_run_append(uuid,jsonb,text,text) to writ_engine;
grant execute on function writ.fn_run_append(uuid,jsonb,text,text) to writ_producer;

-- function writ.fn_run_changes(p_projector text, p_limit integer DEFAULT 500) returns json
--   plpgsql, volatile, security definer; owner writ_owner; body 439d2ec1a50b99f0c9aa165cd63500ea
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan
grant execute on function writ.fn_run_changes(text,integer) to dot_executor;
grant execute on function writ.fn_run_changes(text,integer) to workflow_admin;
grant execute on function writ.fn_run_changes(text,integer) to writ_engine;

-- function writ.fn_run_deliver(p_run_id uuid, p_event text, p_payload json, p_delivery_id text, p_actor text, p_tenant_id text DEFAULT NULL::text, p_denied text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body c9bb73b4c2a98c547d18f8a324c16003
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_run_deliver(uuid,text,json,text,text,text,text) to dot_executor;
grant execute on function writ.fn_run_deliver(uuid,text,json,text,text,text,text) to workflow_admin;
grant execute on function writ.fn_run_deliver(uuid,text,json,text,text,text,text) to writ_producer;
grant execute on function writ.fn_run_deliver(uuid,text,json,text,text,text,text) to writ_server;

-- function writ.fn_run_dequeue_many(p_actor text, p_limit integer DEFAULT 100) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body c32225b0889193dad5f4f8f2d64c1b86
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan
grant execute on function writ.fn_run_dequeue_many(text,integer) to dot_executor;
grant execute on function writ.fn_run_dequeue_many(text,integer) to workflow_admin;
grant execute on function writ.fn_run_dequeue_many(text,integer) to writ_engine;

-- function writ.fn_run_project(p_turn uuid, p_snapshots json) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 059f353a7ff1fb78d9eff40ad876e9c0
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan
grant execute on function writ.fn_run_project(uuid,json) to dot_executor;
grant execute on function writ.fn_run_project(uuid,json) to workflow_admin;
grant execute on function writ.fn_run_project(uuid,json) to writ_engine;

-- function writ.fn_run_read_many(p_runs uuid[]) returns json
--   plpgsql, stable, security definer; owner writ_owner; body 055c4c5849bdbdc50258ea82a08a35ea
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
--   set plan_cache_mode=force_generic_plan
grant execute on function writ.fn_run_read_many(uuid[]) to dot_executor;
grant execute on function writ.fn_run_read_many(uuid[]) to workflow_admin;
grant execute on function writ.fn_run_read_many(uuid[]) to writ_admin;
grant execute on function writ.fn_run_read_many(uuid[]) to writ_applier;
grant execute on function writ.fn_run_read_many(uuid[]) to writ_auditor;
grant execute on function writ.fn_run_read_many(uuid[]) to writ_engine;
grant execute on function writ.fn_run_read_many(uuid[]) to writ_producer;
grant execute on function writ.fn_run_read_many(uuid[]) to writ_server;
grant execute on function writ.fn_run_read_many(uuid[]) to writ_worker;

-- function writ.fn_run_rebuild(p_runs uuid[], p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body eac3882ca7568b1e91befbf891419f1f
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_run_rebuild(uuid[],text) to workflow_admin;
grant execute on function writ.fn_run_rebuild(uuid[],text) to writ_admin;
grant execute on function writ.fn_run_rebuild(uuid[],text) to writ_server;

-- function writ.fn_run_signal(p_run_id uuid, p_signal jsonb, p_actor text, p_tenant_id text DEFAULT NULL::text, p_denied text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 08c928d63a10fd6f1b0fe8b76fa2b4a2
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_run_signal(uuid,jsonb,text,text,text) to workflow_admin;
grant execute on function writ.fn_run_signal(uuid,jsonb,text,text,text) to writ_admin;
grant execute on function writ.fn_run_signal(uuid,jsonb,text,text,text) to writ_server;

-- function writ.fn_run_start_many(p_runs jsonb, p_actor text, p_tenant_id text DEFAULT 'default'::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 848ce9c9234cff6fd8d281f4cb5bf13d
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
--   set plan_cache_mode=force_generic_plan
grant execute on function writ.fn_run_start_many(jsonb,text,text) to dot_executor;
grant execute on function writ.fn_run_start_many(jsonb,text,text) to workflow_admin;
grant execute on function writ.fn_run_start_many(jsonb,text,text) to writ_producer;
grant execute on function writ.fn_run_start_many(jsonb,text,text) to writ_server;

-- function writ.fn_run_step_commit(p_job_id uuid, p_lease_token uuid, p_result json, p_actor text DEFAULT NULL::text, p_artifacts jsonb DEFAULT NULL::jsonb) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 95f64b1595cf1ad7112e33d8040d8351
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_run_step_commit(uuid,uuid,json,text,jsonb) to dot_executor;
grant execute on function writ.fn_run_step_commit(uuid,uuid,json,text,jsonb) to workflow_admin;
grant execute on function writ.fn_run_step_commit(uuid,uuid,json,text,jsonb) to writ_applier;
grant execute on function writ.fn_run_step_commit(uuid,uuid,json,text,jsonb) to writ_worker;

-- function writ.fn_run_steps_succeed(p_tokens uuid[], p_positions integer[], p_jobs uuid[], p_runs uuid[], p_results text[], p_take boolean[], p_kinds text[], p_token uuid, p_lease_ttl_seconds double precision, p_holder text) returns json
--   plpgsql, volatile, security definer; owner writ_owner; body 04d81218d36cc5527b571bd57fb55de1
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
--   set join_collapse_limit=1
--   set plan_cache_mode=force_generic_plan
grant execute on function writ.fn_run_steps_succeed(uuid[],integer[],uuid[],uuid[],text[],boolean[],text[],uuid,double precision,text) to dot_executor;
grant execute on function writ.fn_run_steps_succeed(uuid[],integer[],uuid[],uuid[],text[],boolean[],text[],uuid,double precision,text) to workflow_admin;
grant execute on function writ.fn_run_steps_succeed(uuid[],integer[],uuid[],uuid[],text[],boolean[],text[],uuid,double precision,text) to writ_applier;
grant execute on function writ.fn_run_steps_succeed(uuid[],integer[],uuid[],uuid[],text[],boolean[],text[],uuid,double precision,text) to writ_worker;

-- function writ.fn_run_values(p_run_id uuid, p_refs text[], p_tenant_id text DEFAULT NULL::text) returns jsonb
--   plpgsql, stable, security definer; owner writ_owner; body cdd80f07cc79765e8f316f27fb3e17e8
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_run_values(uuid,text[],text) to dot_executor;
grant execute on function writ.fn_run_values(uuid,text[],text) to workflow_admin;
grant execute on function writ.fn_run_values(uuid,text[],text) to writ_applier;
grant execute on function writ.fn_run_values(uuid,text[],text) to writ_worker;

-- function writ.fn_schedule_due(p_limit integer, p_after_tick timestamp with time zone DEFAULT '-infinity'::timestamp with time zone, p_after_tenant text DEFAULT ''::text, p_after_schedule text DEFAULT ''::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 77da62f91dff4bf071df1e0cfe42d505
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_schedule_due(integer,timestamp with time zone,text,text) to dot_executor;
grant execute on function writ.fn_schedule_due(integer,timestamp with time zone,text,text) to workflow_admin;
grant execute on function writ.fn_schedule_due(integer,timestamp with time zone,text,text) to writ_engine;

-- function writ.fn_schedule_fire(p_due jsonb, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body a25732e35a334d1d114e2a253f9fefb6
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_schedule_fire(jsonb,text) to dot_executor;
grant execute on function writ.fn_schedule_fire(jsonb,text) to workflow_admin;
grant execute on function writ.fn_schedule_fire(jsonb,text) to writ_engine;

-- function writ.fn_schedule_pause(p_schedule text, p_actor text, p_tenant_id text DEFAULT 'default'::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body c8965b7b75c5e0f0b62fabbb31033aa3
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_schedule_pause(text,text,text) to workflow_admin;
grant execute on function writ.fn_schedule_pause(text,text,text) to writ_admin;
grant execute on function writ.fn_schedule_pause(text,text,text) to writ_server;

-- function writ.fn_schedule_put(p_schedule text, p_definition jsonb, p_next_tick timestamp with time zone, p_actor text, p_tenant_id text DEFAULT 'default'::text, p_version integer DEFAULT NULL::integer) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 42ba72a772e2f9e0192cc004dc09e738
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_schedule_put(text,jsonb,timestamp with time zone,text,text,integer) to dot_executor;
grant execute on function writ.fn_schedule_put(text,jsonb,timestamp with time zone,text,text,integer) to workflow_admin;
grant execute on function writ.fn_schedule_put(text,jsonb,timestamp with time zone,text,text,integer) to writ_admin;
grant execute on function writ.fn_schedule_put(text,jsonb,timestamp with time zone,text,text,integer) to writ_producer;
grant execute on function writ.fn_schedule_put(text,jsonb,timestamp with time zone,text,text,integer) to writ_server;

-- function writ.fn_schedule_remove(p_schedule text, p_actor text, p_tenant_id text DEFAULT 'default'::text, p_version integer DEFAULT NULL::integer) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 0ba785e80044f1593a7b29dcd25e8fc8
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_schedule_remove(text,text,text,integer) to workflow_admin;
grant execute on function writ.fn_schedule_remove(text,text,text,integer) to writ_admin;
grant execute on function writ.fn_schedule_remove(text,text,text,integer) to writ_server;

-- function writ.fn_schedule_resume(p_schedule text, p_actor text, p_tenant_id text DEFAULT 'default'::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body e92c4658dc993f3fba04540cceb061d4
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_schedule_resume(text,text,text) to workflow_admin;
grant execute on function writ.fn_schedule_resume(text,text,text) to writ_admin;
grant execute on function writ.fn_schedule_resume(text,text,text) to writ_server;

-- function writ.fn_schedule_run_now(p_schedule text, p_actor text, p_tenant_id text DEFAULT 'default'::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 011fe66fa9f2aac82f567d0190908570
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_schedule_run_now(text,text,text) to workflow_admin;
grant execute on function writ.fn_schedule_run_now(text,text,text) to writ_admin;
grant execute on function writ.fn_schedule_run_now(text,text,text) to writ_server;

-- function writ.fn_setting_set(p_key text, p_value jsonb, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 81103fef0faafcb1d727a3f3be37c034
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_setting_set(text,jsonb,text) to workflow_admin;
grant execute on function writ.fn_setting_set(text,jsonb,text) to writ_admin;

-- function writ.fn_signal_record(p_key text, p_signal jsonb, p_tenant_id text DEFAULT 'default'::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body f0729dbcf62903ac0061f7317de220e1
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_signal_record(text,jsonb,text) to dot_executor;
grant execute on function writ.fn_signal_record(text,jsonb,text) to workflow_admin;
grant execute on function writ.fn_signal_record(text,jsonb,text) to writ_principal;
grant execute on function writ.fn_signal_record(text,jsonb,text) to writ_server;

-- function writ.fn_signals_settled(p_items jsonb) returns jsonb
--   plpgsql, stable, security definer; owner writ_owner; body 6351daa81d4a056b417f5196c9079d1c
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_signals_settled(jsonb) to dot_executor;
grant execute on function writ.fn_signals_settled(jsonb) to workflow_admin;
grant execute on function writ.fn_signals_settled(jsonb) to writ_admin;
grant execute on function writ.fn_signals_settled(jsonb) to writ_auditor;
grant execute on function writ.fn_signals_settled(jsonb) to writ_engine;
grant execute on function writ.fn_signals_settled(jsonb) to writ_producer;
grant execute on function writ.fn_signals_settled(jsonb) to writ_server;

-- function writ.fn_signals_take(p_items json, p_actor text, p_wake boolean DEFAULT true) returns json
--   plpgsql, volatile, security definer; owner writ_owner; body 8d0f8750d51f8ddd355b61ee433c78fd
--   set search_path=pg_catalog, pg_temp
--   set plan_cache_mode=force_generic_plan
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
grant execute on function writ.fn_signals_take(json,text,boolean) to dot_executor;
grant execute on function writ.fn_signals_take(json,text,boolean) to workflow_admin;
grant execute on function writ.fn_signals_take(json,text,boolean) to writ_producer;
grant execute on function writ.fn_signals_take(json,text,boolean) to writ_server;

-- function writ.fn_signatures_read(p_contracts uuid[]) returns jsonb
--   plpgsql, stable, security definer; owner writ_owner; body 0b0f730512eab2b60bb9d21b0afae156
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan
grant execute on function writ.fn_signatures_read(uuid[]) to dot_executor;
grant execute on function writ.fn_signatures_read(uuid[]) to workflow_admin;
grant execute on function writ.fn_signatures_read(uuid[]) to writ_applier;

-- function writ.fn_signatures_verified(p_items jsonb, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body df3edb1ed6961c2ad26eb25f2ab92789
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_signatures_verified(jsonb,text) to dot_executor;
grant execute on function writ.fn_signatures_verified(jsonb,text) to workflow_admin;
grant execute on function writ.fn_signatures_verified(jsonb,text) to writ_applier;

-- function writ.fn_template_activate(p_key text, p_template_id uuid, p_params jsonb, p_content text, p_id uuid DEFAULT NULL::uuid) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body c145768e6c6014151e813719e3330d37
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_template_activate(text,uuid,jsonb,text,uuid) to dot_executor;
grant execute on function writ.fn_template_activate(text,uuid,jsonb,text,uuid) to workflow_admin;
grant execute on function writ.fn_template_activate(text,uuid,jsonb,text,uuid) to writ_applier;
grant execute on function writ.fn_template_activate(text,uuid,jsonb,text,uuid) to writ_principal;
grant execute on function writ.fn_template_activate(text,uuid,jsonb,text,uuid) to writ_server;

-- function writ.fn_tenant_weight_set(p_tenant_id text, p_weight double precision, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 5304428f4ed88a7f250043cf97c27a94
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_tenant_weight_set(text,double precision,text) to workflow_admin;
grant execute on function writ.fn_tenant_weight_set(text,double precision,text) to writ_admin;

-- function writ.now() returns timestamp with time zone
--   sql, volatile; owner writ_owner; body 7fcedcdc154870f37b2342abd6689066
grant execute on function writ.now() to dot_executor;
grant execute on function writ.now() to workflow_admin;
grant execute on function writ.now() to writ_admin;
grant execute on function writ.now() to writ_applier;
grant execute on function writ.now() to writ_auditor;
grant execute on function writ.now() to writ_engine;
grant execute on function writ.now() to writ_principal;
grant execute on function writ.now() to writ_producer;
grant execute on function writ.now() to writ_server;
grant execute on function writ.now() to writ_signer;
grant execute on function writ.now() to writ_worker;

-- function writ.queue_figures() returns jsonb
--   plpgsql, stable, security definer; owner writ_owner; body 389641ac3c1075b3d49ed05d5f008d66
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.queue_figures() to dot_executor;
grant execute on function writ.queue_figures() to workflow_admin;
grant execute on function writ.queue_figures() to writ_admin;
grant execute on function writ.queue_figures() to writ_applier;
grant execute on function writ.queue_figures() to writ_auditor;
grant execute on function writ.queue_figures() to writ_engine;
grant execute on function writ.queue_figures() to writ_producer;
grant execute on function writ.queue_figures() to writ_server;
grant execute on function writ.queue_figures() to writ_worker;

-- function writ.run_event_id(p_run_id uuid, p_run_seq integer) returns uuid
--   sql, immutable, security definer; owner writ_owner; body 596c52e82f9472a9cf4e3c3b9ca7a1d5
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.run_event_id(uuid,integer) to dot_executor;
grant execute on function writ.run_event_id(uuid,integer) to workflow_admin;
grant execute on function writ.run_event_id(uuid,integer) to writ_admin;
grant execute on function writ.run_event_id(uuid,integer) to writ_applier;
grant execute on function writ.run_event_id(uuid,integer) to writ_auditor;
grant execute on function writ.run_event_id(uuid,integer) to writ_engine;
grant execute on function writ.run_event_id(uuid,integer) to writ_producer;
grant execute on function writ.run_event_id(uuid,integer) to writ_server;
grant execute on function writ.run_event_id(uuid,integer) to writ_worker;

-- function writ.visible_tenant() returns text
--   plpgsql, stable, security definer; owner writ_owner; body b61c605cdc2ee9742116c458db606cea
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.visible_tenant() to dot_executor;
grant execute on function writ.visible_tenant() to workflow_admin;
grant execute on function writ.visible_tenant() to writ_admin;
grant execute on function writ.visible_tenant() to writ_applier;
grant execute on function writ.visible_tenant() to writ_auditor;
grant execute on function writ.visible_tenant() to writ_engine;
grant execute on function writ.visible_tenant() to writ_principal;
grant execute on function writ.visible_tenant() to writ_producer;
grant execute on function writ.visible_tenant() to writ_server;
grant execute on function writ.visible_tenant() to writ_signer;
grant execute on function writ.visible_tenant() to writ_worker;

-- function writ_data.abort(p_lease writ_data.job_lease, p_positions integer[], p_abort_kinds text[], p_codes text[], p_messages text[], p_at timestamp with time zone, p_stacks text[] DEFAULT NULL::text[], OUT jobs uuid[], OUT counts integer[], OUT early integer) returns record
--   plpgsql, volatile; owner writ_owner; body 8474f8a50d78d129e5ed81027cda2912
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.abort_jobs(p_lease_token uuid, p_positions integer[], p_abort_kinds text[], p_codes text[], p_messages text[], p_start_upto integer DEFAULT 0, p_actor text DEFAULT NULL::text, p_stacks text[] DEFAULT NULL::text[]) returns jsonb
--   plpgsql, volatile; owner writ_owner; body 4cb2e82edfd48070f204d738bb376ef8

-- function writ_data.abort_one(p_job_id uuid, p_lease_token uuid, p_abort_kind text, p_error_code text, p_error_message text, p_actor text, p_by_gate boolean DEFAULT false) returns jsonb
--   plpgsql, volatile; owner writ_owner; body 0bb06e78c1e31de85663a76cd58e8478

-- function writ_data.activate_contracts(p_contracts uuid[], p_jobs uuid[], p_actor text, p_at timestamp with time zone) returns jsonb[]
--   plpgsql, volatile; owner writ_owner; body 98e13d11aa70125d418d463b1959c7b7

-- function writ_data.activate_items(p_key text, p_items jsonb) returns jsonb[]
--   plpgsql, volatile; owner writ_owner; body 264ab858e43cddcad7d94c44f53d3ff8

-- function writ_data.alert_delays(p_tenant text, p_actor text, p_at timestamp with time zone) returns integer
--   plpgsql, volatile; owner writ_owner; body a1546f38ece0cd89a54793fe60c84f6c

-- function writ_data.all_roles() returns text[]
--   sql, immutable; owner writ_owner; body d14a1d19cf884c1540041771bda520d1

-- function writ_data.allowance(p_kind text, p_key text, p_want integer, p_begin integer, p_taken integer, OUT jobs integer, OUT at timestamp with time zone, OUT again_ms double precision, OUT starts boolean) returns record
--   plpgsql, volatile; owner writ_owner; body 428ee30ad5e0584fbe5d89f07b385bbe

-- function writ_data.append_events(p_runs uuid[], p_types text[], p_steps text[], p_attempts text[], p_engine_attempts integer[], p_data jsonb[], p_each smallint[], p_signal uuid, p_command text, p_actor text, p_at timestamp with time zone, p_jobs uuid[] DEFAULT NULL::uuid[], p_once boolean DEFAULT true) returns uuid
--   plpgsql, volatile; owner writ_owner; body 78693e79e4223ba7e99d869cac0400f8
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.append_items(p_runs uuid[], p_seqs integer[], p_types text[], p_steps text[], p_attempts text[], p_engine_attempts integer[], p_data jsonb[], p_each smallint[], p_signal uuid, p_at timestamp with time zone, p_batch uuid) returns void
--   plpgsql, volatile; owner writ_owner; body c916d75ba7d456c0c4095e16735acebb
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.append_receipts(p_entries text[], p_at timestamp with time zone, p_erasables jsonb DEFAULT NULL::jsonb) returns bigint[]
--   plpgsql, volatile; owner writ_owner; body 373afd7a16af643facf3d8ae057fe68f
--   set plan_cache_mode=force_generic_plan

-- function writ_data.applied_by(p_job uuid) returns jsonb
--   sql, stable; owner writ_owner; body cbdf618e13925297cab6cbd9a9ea4cea

-- function writ_data.apply_changes(p_run uuid, p_first integer, p_last integer, p_read jsonb, p_trust text, p_actor text, p_at timestamp with time zone) returns jsonb[]
--   plpgsql, volatile; owner writ_owner; body c8b497a7b7dd194af294542361515c83

-- function writ_data.apply_items(p_items jsonb, p_actor text) returns jsonb
--   plpgsql, volatile; owner writ_owner; body f6b557d19558bb66cd3dfb2e63c943eb

-- function writ_data.approval_window(c writ_data.contract) returns interval
--   sql, immutable; owner writ_owner; body ec6d768a86fea937154a010551204516

-- function writ_data.approve_verified(p_contract uuid, p_quorum integer, p_trust text, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body fbf2265de7d4be39b8b0923be4d4c81c

-- function writ_data.approved_still(c writ_data.contract) returns text
--   plpgsql, stable; owner writ_owner; body 98e96877d5b0296a6c67c75b5389d41c

-- function writ_data.approvers(c writ_data.contract) returns text[]
--   plpgsql, stable; owner writ_owner; body 076d30b5374c75b6942eb2222800a9b3

-- function writ_data.as_jsonb(p_json json) returns jsonb
--   plpgsql, immutable; owner writ_owner; body 215d580b068ca2b5eac7dc7484b582a7

-- function writ_data.as_moment(p_text text) returns timestamp with time zone
--   plpgsql, stable; owner writ_owner; body 27767819e902fa574d110824cee9ae4a

-- function writ_data.audit_checks(g writ_data.governance_job, c writ_data.contract, p_health jsonb, p_read jsonb, p_touched jsonb, p_at timestamp with time zone) returns jsonb
--   plpgsql, stable; owner writ_owner; body 66505dd1c622e972fe294959c11ebdcc

-- function writ_data.audit_items(p_items jsonb, p_actor text) returns jsonb
--   plpgsql, volatile; owner writ_owner; body a8219f57bd1719f3a98a917c944c6c42

-- function writ_data.audit_of(g writ_data.governance_job, c writ_data.contract, p_read jsonb, p_touched jsonb, p_at timestamp with time zone) returns jsonb
--   plpgsql, stable; owner writ_owner; body ba1feb5011af39e0abfdba40e7b5c5c6

-- function writ_data.audited(p_command text, p_actor text, p_answer jsonb) returns jsonb
--   plpgsql, volatile; owner writ_owner; body 776f3a7cee3d5c87b84f2f6d6d97bc4e

-- function writ_data.await_audits(p_jobs uuid[], p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 817de064f40dc88d4d7db0ea9abb3f08

-- function writ_data.batch_of(p_event_id uuid) returns uuid
--   sql, immutable; owner writ_owner; body 1b3f631d52568c593594defe59be90a2

-- function writ_data.begin_deployment() returns void
--   plpgsql, volatile; owner writ_owner; body 8841c7dfa7ccf1042ad0a33e1786e148

-- function writ_data.begin_ending(p_run uuid, p_ending text, p_with jsonb, p_signal uuid, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 2697062d7ba5c0021f0255d5c21e43f8
--   set enable_seqscan=off

-- function writ_data.begin_era() returns void
--   plpgsql, volatile; owner writ_owner; body fb6a559520a7daa88b1aebc3c3d88881

-- function writ_data.begin_round(p_contract uuid) returns void
--   sql, volatile; owner writ_owner; body f7a2510379531cc63112768b9f1ee9f5

-- function writ_data.begin_runs(p_runs uuid[], p_command text, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body e9d20a13787fd6f6a42bfec8cb551d02
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.begin_step(r writ_data.run, s writ_data.plan_step, p_attempt smallint, p_actor text, p_at timestamp with time zone) returns boolean
--   plpgsql, volatile; owner writ_owner; body f5a7b6e6feb1b66315c789b6815fd91d
--   set enable_seqscan=off

-- function writ_data.begin_steps(p_jobs uuid[], p_attempts smallint[], p_execution_nos integer[], p_actor text, p_at timestamp with time zone, OUT away integer[], OUT held boolean) returns record
--   plpgsql, volatile; owner writ_owner; body 8495a59056215e7f8415ca1ee1ce7b78

-- function writ_data.behind(p_principal text) returns text[]
--   sql, stable; owner writ_owner; body 23748213e9dd564b8064382741ee9227

-- function writ_data.break_glass(c writ_data.contract, p_who writ_data.principal, p_reason text, p_glass jsonb, p_at timestamp with time zone) returns jsonb
--   plpgsql, volatile; owner writ_owner; body 0bc33c85af590fa81c4b49183773bd4c

-- function writ_data.built_in_policy() returns jsonb
--   sql, immutable; owner writ_owner; body 10bfb783a95038416d30615c01c6a4ae

-- function writ_data.caller_has(p_role text) returns boolean
--   sql, stable; owner writ_owner; body 71e6f66525b2188a257cf151606c21ba

-- function writ_data.caller_tenant() returns text
--   plpgsql, stable; owner writ_owner; body f651be74cfd2c637cde4ddabf222c8de

-- function writ_data.cancel_job(p_job_id uuid, p_reason text, p_actor text, p_tenant_id text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile; owner writ_owner; body 5c1865b6ff2133a30ddf4d0ec06377de
--   set enable_seqscan=off

-- function writ_data.cancel_late(p_actor text, p_at timestamp with time zone) returns integer
--   plpgsql, volatile; owner writ_owner; body f08589ed16a3b38bc9fb0f3ae4e11e88
--   set enable_seqscan=off

-- function writ_data.cancel_unleased(p_ready tid[], p_waiting uuid[], p_at timestamp with time zone) returns uuid[]
--   plpgsql, volatile; owner writ_owner; body 7fc51f4dfd6561333d36b12efc60ec8c
--   set enable_seqscan=off

-- function writ_data.canonical(p_value jsonb) returns text
--   plpgsql, immutable; owner writ_owner; body 826fe426bbdbed59e38018d48e20ea77

-- function writ_data.change_target(p_tenant text, p_type text, p_target text, p_key text, p_expected jsonb, p_expected_version bigint, p_value jsonb, p_actor text, p_at timestamp with time zone, OUT as_expected boolean, OUT was jsonb, OUT found_version bigint, OUT written_version bigint) returns record
--   plpgsql, volatile; owner writ_owner; body 6a71e045c0e518f532fb1a29407d454f

-- function writ_data.changes_made(p_made jsonb[], p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body b840d55522490c618d455e08a72b2c62

-- function writ_data.checked_snapshots(p_snapshots json) returns TABLE(run_id uuid, tenant_id text, last_seq integer, status text, snapshot json, stored_seq integer, missing integer)
--   plpgsql, stable; owner writ_owner; body 8e0d0d1404d42a844cf38952167c86c0
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.choose_lanes(p_kinds text[], p_floors smallint[], p_alone boolean, p_after text, p_limit integer, p_keyed boolean, p_tenant text, OUT lanes bigint[], OUT heads bigint[], OUT firsts bigint[], OUT tenants text[], OUT kinds text[], OUT keys text[], OUT quotas integer[], OUT limited boolean[], OUT priorities smallint[], OUT after text) returns record
--   plpgsql, stable; owner writ_owner; body 08408ca05e44cf375ee7f8ccb48c45a3

-- function writ_data.clamped(p_number text, p_most bigint) returns numeric
--   sql, immutable; owner writ_owner; body 10cefa06b12e77bc4875efb3586b636a

-- function writ_data.clean_jobs(p_jobs uuid[], p_was text[], p_actor text, p_at timestamp with time zone) returns uuid[]
--   plpgsql, volatile; owner writ_owner; body da16624cbe457f8bb07718305de4d6e3

-- function writ_data.clear_alert(p_code text, p_subject text, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 3d04cfb44010d0e842da5a3f49adf5f7

-- function writ_data.clear_review_alerts(c writ_data.contract, p_who text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body f37ac2eae4e5c95daa2cc18ab01998f3

-- function writ_data.close_contracts(p_contracts uuid[], p_to text, p_reasons text[], p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body a33ea34b54a0543165422d677347b018

-- function writ_data.close_ended_steps(p_run uuid, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 58dd95442f4f1ccd191bb56fbca0e9e6
--   set enable_seqscan=off

-- function writ_data.close_lanes() returns void
--   plpgsql, volatile; owner writ_owner; body 4d402c6d67efd2137ba0856d0236c43e

-- function writ_data.commit_job(p_job_id uuid, p_lease_token uuid, p_actor text DEFAULT NULL::text, p_own boolean DEFAULT false) returns jsonb
--   plpgsql, volatile; owner writ_owner; body 56fac0c6de2f06f017d8ed4ae90bc0b4
--   set enable_seqscan=off

-- function writ_data.commit_leased(p_jobs uuid[], p_tokens uuid[], p_results text[], p_at timestamp with time zone) returns smallint[]
--   plpgsql, volatile; owner writ_owner; body 6d09fc944c0b5e2d00479baac819f2f8

-- function writ_data.consumer_jobs(p_consumers text[], p_since uuid[], p_event_ids uuid[], p_event_types text[], p_subjects text[]) returns TABLE(consumer text, jobs jsonb)
--   plpgsql, volatile; owner writ_owner; body 86e8d6c37938377fc0d0ae348554bf01
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.contract_due(p_contract uuid, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 61b30f84ba7f8bd6941d4e4805e6cf42

-- function writ_data.contract_receipt(p_contract uuid, p_status text, p_reason text, p_context jsonb, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 0418c3be84e51f1578820756efa5219f

-- function writ_data.count_denials(p_tenant text, p_limit integer, p_at timestamp with time zone) returns integer
--   plpgsql, volatile; owner writ_owner; body da16fd3890f179614ca8c8c95667a25d

-- function writ_data.count_limited(p_jobs uuid[], OUT kinds text[], OUT keys text[], OUT counts integer[]) returns record
--   plpgsql, stable; owner writ_owner; body d66ae0045ff3b309bd41e735b562b6a1

-- function writ_data.crash_count(p_crashes timestamp with time zone[], p_at timestamp with time zone) returns integer
--   sql, immutable; owner writ_owner; body 750d3278a9b441cd19cb89aa67fe723d

-- function writ_data.cut_with_hash(p_text text, p_most integer) returns text
--   sql, immutable; owner writ_owner; body 291a23a5e7f337040e06fd7e5900bb7a

-- function writ_data.day_floor(p_day date) returns uuid
--   sql, immutable; owner writ_owner; body b5553ed13441a22432edb4f61e6d047d

-- function writ_data.day_stands(p_day date) returns boolean
--   sql, stable; owner writ_owner; body 47aca3e2dc5f61f237d0a847a3216349

-- function writ_data.day_tables() returns text[]
--   sql, immutable; owner writ_owner; body b2aead3e3943e1c8456f4c164882dfd8

-- function writ_data.days_of(p_table text, p_before date) returns date[]
--   sql, stable; owner writ_owner; body 94e180bc5d8b81552c219601198206ec

-- function writ_data.defined_kind(p_standing writ_data.job_kind, p_kind text, p_definition jsonb) returns writ_data.job_kind
--   plpgsql, volatile; owner writ_owner; body 6d1c0fd3b8912fe10967006a74972333

-- function writ_data.definition_of(p_kind writ_data.job_kind) returns jsonb
--   sql, immutable; owner writ_owner; body a108ac68710d298462a71bcbea3320bd

-- function writ_data.deny(p_who writ_data.principal, p_right text, p_tenant text, p_code text, p_detail text, p_at timestamp with time zone, p_asked text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile; owner writ_owner; body 46029991a8b0f750bb0594fc754433cc

-- function writ_data.deployment_id() returns uuid
--   sql, stable; owner writ_owner; body a27e844b802687eca640f776c559051f

-- function writ_data.document_of(c writ_data.contract, p_round integer, p_policy_version integer, p_policy jsonb, p_state jsonb) returns jsonb
--   sql, stable; owner writ_owner; body a81ccd336f562a3cdca6c5b51d35ead8

-- function writ_data.document_time(p_time timestamp with time zone) returns text
--   sql, stable; owner writ_owner; body 625f54f8405d0da90acf6a9fbec97b82

-- function writ_data.drop_day(p_table text, p_day date) returns text
--   plpgsql, volatile; owner writ_owner; body 32340bd36cbd6cb6addb5ade77a9bd19

-- function writ_data.eligibility(c writ_data.contract, p_policy jsonb, p_at timestamp with time zone) returns jsonb
--   plpgsql, stable; owner writ_owner; body 7088ccd46bfe52b2accba8a041578822

-- function writ_data.end_governance_job(p_job uuid, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 95dacb1619197396b786038047a71d88

-- function writ_data.end_late(p_jobs uuid[], p_attempts smallint[], p_execution_nos integer[], p_actor text, p_at timestamp with time zone) returns uuid[]
--   plpgsql, volatile; owner writ_owner; body a3247fab141767ecea8c9737993de25f

-- function writ_data.end_timers(p_jobs uuid[], p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 4001f4fc8010b46abdf140b2ed39d97d
--   set enable_seqscan=off

-- function writ_data.end_unleased(p_job_ids uuid[], p_attempts smallint[], p_execution_nos integer[], p_error_code text, p_error_message text, p_at timestamp with time zone) returns uuid[]
--   plpgsql, volatile; owner writ_owner; body c6dbd0dd853fbdf71e573a80a4390937

-- function writ_data.end_waiting_steps(p_run uuid, p_signal uuid, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 04c2ddef8ae4a7788d106b4bf86d3c71
--   set enable_seqscan=off

-- function writ_data.enqueue_alike(p_kind text, p_ids uuid[], p_inputs json, p_actor text, p_tenant_id text DEFAULT 'default'::text, p_priority smallint DEFAULT 0, p_atomic boolean DEFAULT false, p_traces text[] DEFAULT NULL::text[]) returns jsonb
--   plpgsql, volatile; owner writ_owner; body 1f8f77ab64f876d82d66491c691b6642
--   set plan_cache_mode=force_generic_plan

-- function writ_data.enqueue_each(p_jobs jsonb, p_actor text, p_tenant_id text, p_atomic boolean, p_by_gate boolean) returns jsonb
--   plpgsql, volatile; owner writ_owner; body 4659ac249c9c39163431f02d0e0efbb6

-- function writ_data.enqueue_followers(p_consumer text, p_jobs jsonb, p_at timestamp with time zone, OUT enqueued integer, OUT refused jsonb) returns record
--   plpgsql, volatile; owner writ_owner; body 103cafde18181983e3b43cfb672340b3

-- function writ_data.enqueue_governance(p_kind text, p_jobs uuid[], p_tenant text, p_actor text) returns void
--   plpgsql, volatile; owner writ_owner; body 075e0a880dbbcfbb3d3856f86765df83

-- function writ_data.enqueue_items(r writ_data.run, s writ_data.plan_step, p_attempt smallint, p_from integer, p_n integer, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body f8e5bd6e053a9f87414228db5e8705c3
--   set enable_seqscan=off

-- function writ_data.enqueue_jobs(p_jobs jsonb, p_actor text, p_tenant_id text DEFAULT 'default'::text, p_atomic boolean DEFAULT false, p_by_gate boolean DEFAULT false) returns jsonb
--   plpgsql, volatile; owner writ_owner; body 412dfbe6bdbb272e5dbc9c418a9e833a
--   set enable_nestloop=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.enqueue_steps(p_runs uuid[], p_steps smallint[], p_places integer[], p_attempts smallint[], p_undo boolean[], p_inputs text[], p_actor text, p_at timestamp with time zone, p_taken boolean[] DEFAULT NULL::boolean[], OUT ids uuid[], OUT answers text[]) returns record
--   plpgsql, volatile; owner writ_owner; body 55d2c5086571cd61d5a9ac1c4f878f2b
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.enqueue_unlike(p_kind text, p_ids uuid[], p_inputs json, p_actor text, p_tenant_id text, p_priority smallint, p_atomic boolean, p_traces text[], p_by_gate boolean DEFAULT false) returns jsonb
--   plpgsql, volatile; owner writ_owner; body 25f07a32db44975f4358f0801b3ff82d

-- function writ_data.enqueue_verification(c writ_data.contract, p_actor text) returns void
--   plpgsql, volatile; owner writ_owner; body a6b9fe47a09f7ba80016f4e9ff454c50

-- function writ_data.entitlement_of(p_tenant text) returns jsonb
--   sql, stable; owner writ_owner; body 4bd70fadb292d8c932220c47b3b30db3

-- function writ_data.era_end(p_era uuid) returns uuid
--   sql, stable; owner writ_owner; body 3a147019c3efd703ede751b24560d426

-- function writ_data.event_document(b writ_data.event_batch) returns text
--   sql, stable; owner writ_owner; body d350000018643d03ce333ed5b4daeb2b

-- function writ_data.evidence_of(p_tenant text, p_targets text[]) returns jsonb
--   plpgsql, stable; owner writ_owner; body e3734e3f6ddaacb4f36f6ba01b529602

-- function writ_data.evidence_text(p_evidence jsonb) returns text
--   sql, immutable; owner writ_owner; body 239b90184fcbaf81589ee4b3a197367a

-- function writ_data.exact(p_value jsonb, p_slot text) returns jsonb
--   plpgsql, immutable; owner writ_owner; body 2f5895a8cfa72931431e8d713f67acc3

-- function writ_data.fact_id(p_batch_id uuid, p_ordinal bigint) returns uuid
--   sql, immutable; owner writ_owner; body a468bfd41a56de8b0b3d2710aeb19bd2

-- function writ_data.fact_known(p_event_id uuid) returns boolean
--   plpgsql, stable; owner writ_owner; body 23c3b3da3d2cea1b5ef7eae71ecb65ad

-- function writ_data.fail_governance_job(p_job uuid, p_event text, p_reason text, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 81be2eea477e873aadea88444adfd569

-- function writ_data.failed_step(p_run uuid) returns text
--   plpgsql, stable; owner writ_owner; body 094104b670db8f24040e1efcce7aa932
--   set enable_seqscan=off

-- function writ_data.fence_job(p_job_id uuid, p_actor text) returns boolean
--   plpgsql, volatile; owner writ_owner; body 7629f6fd8e91dc85c48e0aa532532741

-- function writ_data.fill(p_template jsonb, p_run uuid, p_plan integer, p_input jsonb, p_item jsonb) returns jsonb
--   plpgsql, stable; owner writ_owner; body f0e13401542a2790caa84e224141c975

-- function writ_data.fill_value(p_value jsonb, p_params jsonb) returns jsonb
--   plpgsql, immutable; owner writ_owner; body 201dbafe2b33a1ede80dcadb185d884b

-- function writ_data.filled(p_steps jsonb, p_params jsonb) returns jsonb
--   sql, immutable; owner writ_owner; body 5e0cf01b7903526823d90e0b3e76d2f1

-- function writ_data.filled_input(p_template jsonb, p_run uuid, p_plan integer, p_input jsonb, p_item jsonb) returns jsonb
--   plpgsql, stable; owner writ_owner; body fba46bcebf5851bf2bad05feb792ccc2

-- function writ_data.fire_schedules(p_due jsonb, p_actor text, p_at timestamp with time zone, OUT fired integer, OUT moved integer, OUT refused jsonb) returns record
--   plpgsql, volatile; owner writ_owner; body f99a1571373c7e2926b976caa979ad69

-- function writ_data.first_due(p_waiting jsonb) returns timestamp with time zone
--   sql, immutable; owner writ_owner; body 754a4278cd936ed5f15ea9d13aa91232

-- function writ_data.fix_approval(c writ_data.contract, p_document text, p_signature text, p_scheme text, p_at timestamp with time zone) returns jsonb
--   plpgsql, volatile; owner writ_owner; body 8d14388e284b2f3b2daa29e5d922f071

-- function writ_data.follow_review(c writ_data.contract, p_action text, p_reason text, p_who text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 0f9a06abcee2bf43ae8922cb75f86e5b

-- function writ_data.forbidden_key(p_document jsonb) returns text
--   sql, immutable; owner writ_owner; body 4e8733d2462024bfbe36c38ccafdb97f

-- function writ_data.foreign_jobs(p_jobs uuid[], p_tenant text) returns boolean
--   sql, stable; owner writ_owner; body 0850cd3b303e0dc33569f390a9167162

-- function writ_data.forget_requests(p_limit integer, p_at timestamp with time zone) returns integer
--   plpgsql, volatile; owner writ_owner; body be7548fc8558c91752aee8d855d13829

-- function writ_data.frozen_by(p_tenant text, p_targets text[]) returns text
--   sql, stable; owner writ_owner; body 185b39316309bea16924ac4ce916de00

-- function writ_data.governance_entry(p_tenant text, p_stream text, p_seq bigint, p_status text, p_reason text, p_context jsonb, p_at timestamp with time zone) returns text
--   plpgsql, volatile; owner writ_owner; body c057fc01424f9b442d92652f802a567a

-- function writ_data.governance_job_due(p_job uuid, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 9e4c6bc538fd82b31bd9841b5f88198b

-- function writ_data.governance_policy_of(p_tenant text, OUT version integer, OUT document jsonb) returns record
--   sql, stable; owner writ_owner; body 6767ab01a90b4ff057189e0ddd0fd5b3

-- function writ_data.governance_receipt(p_tenant text, p_stream text, p_seq bigint, p_status text, p_reason text, p_context jsonb, p_at timestamp with time zone) returns bigint
--   plpgsql, volatile; owner writ_owner; body c19053954636df8970251861d124843d

-- function writ_data.governed_plan(p_steps jsonb, p_timeout_ms bigint, p_actor text) returns integer
--   plpgsql, volatile; owner writ_owner; body 6e20e4f156ca8831fa1f8c7d0a1ec529

-- function writ_data.governor_attempt(p_about jsonb, p_was jsonb, p_undoing jsonb, p_actor text, p_at timestamp with time zone) returns text
--   plpgsql, volatile; owner writ_owner; body 5c2602fbbddec898aced989f22e667b7

-- function writ_data.governor_bounds() returns jsonb
--   sql, stable; owner writ_owner; body 87ad9c7fb153b9716a301339ee1ccdc1

-- function writ_data.governor_effects(p_effects jsonb[], p_actor text, p_at timestamp with time zone) returns text
--   plpgsql, volatile; owner writ_owner; body 806f1864165694cc37d9e93a1845d484

-- function writ_data.governor_moves(p_from text, p_event text, p_to text) returns boolean
--   sql, immutable; owner writ_owner; body b46ff8345afcf03832bbc059020f47a1

-- function writ_data.governor_of(p_tenant text, p_sku text) returns writ_data.governor
--   plpgsql, stable; owner writ_owner; body dc41153ea7b3551b32e2f445ab3fa232

-- function writ_data.governor_writes(p_reason text, p_status text, p_terminal boolean) returns boolean
--   sql, immutable; owner writ_owner; body 65b1444e641d6e80cfb71f476daff335

-- function writ_data.grow_logs(p_nos bigint[], p_logs text[], p_hashes bytea[], p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 6e4e02877b373d311a5378027c5af850
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.has_role(p_login oid, p_role text) returns boolean
--   sql, stable; owner writ_owner; body 66b3378438657624a35226c990947512

-- function writ_data.health_block(p_tenant text, p_target text, p_max_age interval) returns text
--   plpgsql, stable; owner writ_owner; body 50fa6dfed924bd031b45dd1cba7009f5

-- function writ_data.health_of(p_tenant text, p_only text DEFAULT NULL::text, p_max_age interval DEFAULT NULL::interval, p_since timestamp with time zone DEFAULT NULL::timestamp with time zone) returns TABLE(capability text, domain text, status text, why text, monitored boolean)
--   sql, stable; owner writ_owner; body 78d1650d56a32b37ce6652535fca6185

-- function writ_data.held_signals(p_data jsonb, p_waiting jsonb) returns TABLE(mail_seq bigint, arrival_seq bigint, n bigint)
--   sql, immutable; owner writ_owner; body 705b65039e496ca4554ef06203596010

-- function writ_data.held_target(p_tenant text, p_capability text) returns text
--   sql, stable; owner writ_owner; body ea7bc7d86f9a8255f96f1dab75d4b75c

-- function writ_data.holds(p_condition jsonb, p_run uuid, p_plan integer, p_input jsonb) returns boolean
--   plpgsql, stable; owner writ_owner; body e46173d000f292b490cd38a732b52ed3

-- function writ_data.holds_signals(p_data jsonb, p_waiting jsonb) returns boolean
--   sql, immutable; owner writ_owner; body 6b2f91501235a69a0423b92c5784ca97

-- function writ_data.house(p_calls jsonb) returns void
--   plpgsql, volatile; owner writ_owner; body 52c3cd003f27f547c173dc0627a9811c

-- function writ_data.inexact_number(p_value jsonb) returns text
--   plpgsql, immutable; owner writ_owner; body df38d301113f3fed5504fd81bd9e2fb3
--   set extra_float_digits=1

-- function writ_data.is_callers_fault(p_sqlstate text) returns boolean
--   plpgsql, stable; owner writ_owner; body 2c35ba7a5916d13153b7bbaadcf74edc

-- function writ_data.is_condition(p_value jsonb, p_depth bigint) returns boolean
--   plpgsql, immutable; owner writ_owner; body 9986150ce843e846e45424e02b344d4c

-- function writ_data.is_instance(p_contract_id uuid, p_action_id text, p_first integer, p_last integer) returns boolean
--   sql, immutable; owner writ_owner; body 79de4348788f83e777397692dc844c36

-- function writ_data.is_json(p_text text) returns boolean
--   plpgsql, immutable; owner writ_owner; body 6ee37d1759f9c5b60e9dc78317c86a56

-- function writ_data.is_own(p_action jsonb, p_attempts jsonb[]) returns boolean
--   sql, immutable; owner writ_owner; body 8c0b725cbba578169a6349d1a35bb25b

-- function writ_data.is_readable(p_json text) returns boolean
--   sql, immutable; owner writ_owner; body 00d0f1186fbd4e6020e36b19f93403eb

-- function writ_data.is_reference(p_value jsonb) returns boolean
--   plpgsql, immutable; owner writ_owner; body 755701baebf0567d2e6eef0eec393349

-- function writ_data.is_retry(p_value jsonb, p_most bigint) returns boolean
--   plpgsql, immutable; owner writ_owner; body 7521c0101db1a06d49476aa79930fae6

-- function writ_data.is_transient(p_sqlstate text) returns boolean
--   sql, immutable; owner writ_owner; body 41de1225e640eae2c8447dc1e988fbee

-- function writ_data.job_known(p_job_id uuid, p_tenant_id text) returns boolean
--   plpgsql, stable; owner writ_owner; body 1bc7770885e425bfd3df0341daecfb3b

-- function writ_data.job_limit_ms(p_constraints jsonb) returns bigint
--   sql, immutable; owner writ_owner; body 0345900838975a9447fb7f8ee3a243a4

-- function writ_data.keep_document(c writ_data.contract, p_document text, p_now jsonb, p_at timestamp with time zone) returns jsonb
--   plpgsql, volatile; owner writ_owner; body 1b82252cde0381b87e6f29d023d07368

-- function writ_data.keep_governors(p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 134e3f34f6c6f4356aeef341adda17a1
--   set lock_timeout=100ms

-- function writ_data.keep_partitions(p_actor text, p_at timestamp with time zone) returns integer
--   plpgsql, volatile; owner writ_owner; body 62faa124b7055a89d0288f1cfb9b7470
--   set lock_timeout=200ms

-- function writ_data.keep_receipts(p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 905ab5fd4cc25b42e5045bb10ff83441
--   set lock_timeout=100ms

-- function writ_data.kind_is_served(p_kind text) returns boolean
--   sql, stable; owner writ_owner; body 12ee2a891148a9d47144998740c92f3d

-- function writ_data.lanes_by_key(p_kinds text[], p_floors smallint[], p_alone boolean, p_after text, p_upto text, p_tenants integer, p_tenant text DEFAULT NULL::text, OUT lanes bigint[], OUT heads bigint[], OUT firsts bigint[], OUT tenants text[], OUT kinds text[], OUT keys text[], OUT limited boolean[], OUT priorities smallint[], OUT tenants_found integer, OUT last text) returns record
--   plpgsql, stable; owner writ_owner; body a41121659b03d53b78f99387b5a8bf03

-- function writ_data.lease_fault(p_job uuid, p_token uuid) returns text
--   plpgsql, stable; owner writ_owner; body 9f10568efa64ada6ab30378a8d5801c8

-- function writ_data.lease_position(p_lease_token uuid, p_job_id uuid) returns integer
--   sql, stable; owner writ_owner; body 3fdbe83fab1709f9ad8c0a5a0316aa7c

-- function writ_data.leases_told(p_tokens uuid[], p_leases integer) returns void
--   plpgsql, volatile; owner writ_owner; body f1b28790ead5138a2b6ca90b6c5922b5

-- function writ_data.leave_ready(p_job writ_data.job, OUT attempts smallint, OUT execution_no integer) returns record
--   plpgsql, volatile; owner writ_owner; body 921c0fab90823bb15e98c4dba63e884a
--   set enable_seqscan=off

-- function writ_data.lock_lease(p_lease_token uuid, p_to_remove boolean) returns writ_data.job_lease
--   plpgsql, volatile; owner writ_owner; body b4cd43c76aa1896c9aee4ebd661535be

-- function writ_data.lock_runs(p_runs uuid[]) returns void
--   plpgsql, volatile; owner writ_owner; body eec7aae8b63eeac5386cd5dcdac4daf6
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.log_after(p_at writ_data.record_position, p_horizon xid8, p_until uuid, p_since uuid, p_types text[], p_facts integer, OUT event_ids uuid[], OUT event_types text[], OUT subjects text[], OUT upto writ_data.record_position, OUT more boolean) returns record
--   plpgsql, stable; owner writ_owner; body a303ab252d774cd019b4310302ca01ef
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.login_document(p_login writ_data.login) returns jsonb
--   sql, immutable; owner writ_owner; body 88e3c71d4437ba0878cb159b825d0979

-- function writ_data.look_up(p_ids uuid[], p_attempts smallint[], p_nos integer[], p_answers text[]) returns text[]
--   plpgsql, stable; owner writ_owner; body f66bb76db0f4929109f7adae2cdbffa3

-- function writ_data.make_governor_partition(p_month date) returns boolean
--   plpgsql, volatile; owner writ_owner; body b49d63d0fc3cd779add462116b2ad1ff
--   set default_tablespace=
--   set default_table_access_method=heap

-- function writ_data.make_partition(p_table text, p_day date) returns boolean
--   plpgsql, volatile; owner writ_owner; body 91853751fb1575b9de60c2688be10ea2
--   set default_tablespace=
--   set default_table_access_method=heap

-- function writ_data.make_ready(p_jobs uuid[], p_kinds text[], p_tenants text[], p_limit_keys text[], p_priorities smallint[], p_alone boolean[], p_attempts smallint[], p_execution_nos integer[], p_deadlines timestamp with time zone[]) returns text[]
--   plpgsql, volatile; owner writ_owner; body 662d9dd346fa0fb05220311cd1a32076

-- function writ_data.make_receipt_partition(p_month date) returns boolean
--   plpgsql, volatile; owner writ_owner; body 5dc05d0ce8751c2806580676cbe49ab6
--   set default_tablespace=
--   set default_table_access_method=heap

-- function writ_data.may(p_key text, p_right text, p_tenant text, OUT who writ_data.principal, OUT refusal jsonb) returns record
--   plpgsql, volatile; owner writ_owner; body 647de64e2e85ad288df630bd1627391a

-- function writ_data.may_go_on(g writ_data.governance_job, c writ_data.contract, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body f279e39dd501a8bbeb9d74617ce6b16a

-- function writ_data.meter(p_kind text, p_key text, p_jobs integer, p_at timestamp with time zone) returns void
--   sql, volatile; owner writ_owner; body 46e6308e546fd795fb033865b6127527

-- function writ_data.misfit(p_value jsonb, p_schema jsonb, p_path text DEFAULT 'the payload'::text) returns text
--   plpgsql, immutable; owner writ_owner; body ea903bc633f2ba25ca5dadb9ba7a1bac

-- function writ_data.moment(p_text text) returns timestamp with time zone
--   plpgsql, stable, strict; owner writ_owner; body f88c0ab7b695cc7236257640f472ea41

-- function writ_data.move_contract(p_contract uuid, p_to text, p_reason text, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 1464f8fc65b9b594860df2a8d3c642de

-- function writ_data.move_contracts(p_contracts uuid[], p_to text, p_reasons text[], p_actor text, p_at timestamp with time zone, p_jobs uuid[] DEFAULT NULL::uuid[]) returns void
--   plpgsql, volatile; owner writ_owner; body 1d9ad099a376d4961e26a8a6a4e40a51

-- function writ_data.move_governance_job(p_job uuid, p_path text[], p_event text, p_reason text, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 24005a6c5a0d09b93298db2293aec9b8

-- function writ_data.move_governance_jobs(p_jobs uuid[], p_path text[], p_event text, p_reason text, p_actor text, p_at timestamp with time zone, p_states bytea[] DEFAULT NULL::bytea[]) returns void
--   plpgsql, volatile; owner writ_owner; body 2c5e9f7713929fdc1c7227c96ab4fbaf

-- function writ_data.move_head(p_lane bigint, p_safe bigint) returns void
--   plpgsql, volatile; owner writ_owner; body fa12038fceb63e68032f5d977e29867a

-- function writ_data.move_lists(p_run uuid, p_steps smallint[], p_actor text, p_at timestamp with time zone) returns smallint[]
--   plpgsql, volatile; owner writ_owner; body 3553893573a41264409d986db719ef16
--   set enable_seqscan=off

-- function writ_data.move_run(p_run uuid, p_steps smallint[], p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 4da43a8b5f44a5935efec78c5c21ce5c
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.next_document(c writ_data.contract, p_state jsonb) returns jsonb
--   plpgsql, stable; owner writ_owner; body 354661980acb4201b4dc88336e58f5dd

-- function writ_data.next_due_ms(p_at timestamp with time zone) returns numeric
--   sql, stable; owner writ_owner; body 3fc3e492b381b2b197a00c1096b06a78

-- function writ_data.next_seq(p_log text, p_stream text, p_n integer) returns bigint
--   sql, volatile; owner writ_owner; body fd9122957f99ed6efd84a4abf49f52fb

-- function writ_data.not_committable(p_job_id uuid, p_detail text) returns void
--   plpgsql, volatile; owner writ_owner; body fe4ea92b82b75b408904102ff2525fa0

-- function writ_data.number_in(p_object jsonb, p_name text) returns numeric
--   sql, immutable; owner writ_owner; body 6ccd265d3f5af7427043e53cb30da58f

-- function writ_data.old_value_conflict(p_tenant text, p_steps jsonb) returns text
--   plpgsql, stable; owner writ_owner; body a9b67a7ca9d1747261765e2cdb4fc529

-- function writ_data.on_caller_elsewhere(p_key text, p_tenant_id text) returns boolean
--   sql, stable; owner writ_owner; body 3540cf585ad6958444a8ccf28ec73c68

-- function writ_data.on_caller_named(p_key text) returns text
--   sql, stable; owner writ_owner; body 504bcfeabea8d4824073eb41a9f4ca13

-- function writ_data.on_commits_done(p_jobs uuid[], p_command text, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 19ec0ce55d50470c5be97deac60b0592
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.on_control_changed(p_tenant text, p_control text, p_name text, p_was jsonb, p_now jsonb, p_by text, p_at timestamp with time zone) returns bigint
--   plpgsql, volatile; owner writ_owner; body c33ec358d537da88163c5963edbfc6ed

-- function writ_data.on_day_retired(p_day date) returns boolean
--   sql, stable; owner writ_owner; body 1fcc8d235363780964a8aa87a086450a

-- function writ_data.on_days_retired(p_at timestamp with time zone) returns text
--   plpgsql, volatile; owner writ_owner; body 1710bf284a032c5f5e073229903fdeee

-- function writ_data.on_fact_tenant(p_type text, p_subject uuid) returns text
--   sql, stable; owner writ_owner; body a0374e3498868c60757c8f755d273ec3

-- function writ_data.on_job_described(p_run uuid, p_step smallint, p_place integer, p_attempt smallint, p_undo boolean) returns text
--   sql, stable; owner writ_owner; body 1f14bccd54d51a43963d8ae19179a92d

-- function writ_data.on_job_swept(p_job uuid, p_before timestamp with time zone) returns boolean
--   plpgsql, stable; owner writ_owner; body 6bd33a33142e6ee0032986d55efccc69
--   set enable_seqscan=off

-- function writ_data.on_jobs_claimed(p_jobs uuid[], p_execution_nos integer[], p_worker text, p_at timestamp with time zone, OUT held integer[], OUT over integer[]) returns record
--   plpgsql, volatile; owner writ_owner; body faf6d3450e12fe97a4f0ba726ce8f6bf
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.on_jobs_ending(p_jobs uuid[]) returns void
--   plpgsql, volatile; owner writ_owner; body bae7a14eb7007f4cfecd8ac77136b10b
--   set enable_seqscan=off

-- function writ_data.on_jobs_gone(p_jobs uuid[], p_command text, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 81112a45ad09c9c74edefceb21e19925
--   set enable_seqscan=off

-- function writ_data.on_jobs_succeeded(p_jobs uuid[], p_results text[], p_attempts smallint[], p_command text, p_actor text, p_at timestamp with time zone, p_taker text DEFAULT NULL::text, p_take boolean[] DEFAULT NULL::boolean[], p_kinds text[] DEFAULT NULL::text[], OUT ended uuid[], OUT followed boolean, OUT due timestamp with time zone, OUT taken uuid[], OUT answers text[]) returns record
--   plpgsql, volatile; owner writ_owner; body e28590edc23ae2efaad0b77a10bd764d
--   set enable_seqscan=off

-- function writ_data.on_login_put(p_principal_id text, OUT principal_id text, OUT tenant_id text) returns record
--   sql, stable; owner writ_owner; body 986c7b636bba3de91a7a189013186ef6

-- function writ_data.on_minute(p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body bc3f1afe9c4b1c44087f5a62b4346922

-- function writ_data.on_recorded(p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body fe1f63ac6495aa15f948818e33f826ef

-- function writ_data.on_run_ended(p_job uuid, p_tenant text, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 8f42a133e381e393cc9b3761973446c2

-- function writ_data.on_runs_retired(p_lo uuid, p_hi uuid) returns boolean
--   sql, stable; owner writ_owner; body db077f96cf6131639a784063b6ac1dac

-- function writ_data.on_tick(p_actor text, p_at timestamp with time zone) returns integer
--   plpgsql, volatile; owner writ_owner; body 4cb5d24a3a975969dd285f15dc00f8e1
--   set enable_seqscan=off

-- function writ_data.on_upkeep(p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body e073a27e2afde3b440cf73254e9d090e

-- function writ_data.open_days() returns boolean
--   plpgsql, volatile; owner writ_owner; body 7173a43d17cdc31329fd903308585724
--   set lock_timeout=10s

-- function writ_data.open_governor_month(p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 53683cf237eae2d5e76932ec0ea4cc3f

-- function writ_data.open_in_log(p_run uuid, p_plan integer) returns text
--   plpgsql, stable; owner writ_owner; body 234d63d64f41964f284b5679a548d0ab
--   set enable_seqscan=off

-- function writ_data.open_incident(p_tenant text, p_capability text, p_severity text, p_subject text, p_summary text, p_actor text, p_at timestamp with time zone) returns uuid
--   plpgsql, volatile; owner writ_owner; body e35153518d780ac6809860cccbfcbc26

-- function writ_data.open_lane(p_kind text, p_tenant text, p_limit_key text, p_priority smallint, p_alone boolean) returns bigint
--   plpgsql, volatile; owner writ_owner; body c55c86d7922382373b46ce5c100c9b22

-- function writ_data.open_month(p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 976ca498410037ad5e0c714f2cff8a95

-- function writ_data.open_steps(p_run uuid) returns TABLE(step_id text, attempt smallint, step_no smallint, type text, job_id uuid)
--   sql, stable; owner writ_owner; body fa9117d083b94ec6fc0c10fc423b171e

-- function writ_data.outbox_event(p_id uuid, p_type text, p_subject uuid, p_tenant text, p_at timestamp with time zone, p_actor text, p_seq integer, p_step text, p_attempt text, p_engine_attempt integer, p_data jsonb, p_details jsonb, p_trace text) returns text
--   sql, stable; owner writ_owner; body 8ecb23e14bbf3d097299b4355846eff6

-- function writ_data.outbox_fact(p_event uuid) returns TABLE(type text, subject uuid, run_seq integer, tenant text)
--   plpgsql, stable; owner writ_owner; body a74683ff6b171fb03b2716f4c4af97ec
--   set enable_seqscan=off

-- function writ_data.outbox_patterns(p_types text[]) returns text[]
--   sql, immutable; owner writ_owner; body 674fd0f27275392eea64074d626b7c9a

-- function writ_data.outbox_retries(p_destination text, p_limit integer, p_at timestamp with time zone) returns text
--   plpgsql, volatile; owner writ_owner; body cb15477fb8f8348b2ebe217e60e473a1
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.outbox_window(p_at writ_data.record_position, p_horizon xid8, p_until uuid, p_types text[], p_tenant text, p_limit integer, p_events integer, OUT events text, OUT upto writ_data.record_position, OUT more boolean, OUT oldest timestamp with time zone, OUT subjects uuid[]) returns record
--   plpgsql, stable; owner writ_owner; body 9badcaaf8435fa1d46d8075f2d3eebc1
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.outside_slots(p_steps jsonb) returns TABLE(slot text, step_type text)
--   sql, immutable; owner writ_owner; body e61c80805e099b3c7920713f8293675d

-- function writ_data.over_limit(p_runs jsonb, p_tenant text, p_bound text, p_at timestamp with time zone, OUT places integer[], OUT policies text[], OUT times timestamp with time zone[]) returns record
--   plpgsql, volatile; owner writ_owner; body 78e928d35bdbd2490c16586edaeefd58
--   set enable_seqscan=off

-- function writ_data.pause_run(p_run uuid, p_reason text, p_signal uuid, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body d66dadef392a40d5a4f83287b1fff174

-- function writ_data.permitted_kinds(p_kinds text[], p_executor text, OUT kinds text[], OUT skipped jsonb, OUT timeout_s double precision) returns record
--   plpgsql, stable; owner writ_owner; body 2b3c655639eba12b217846bc71b2f623

-- function writ_data.place_receipts(p_nos bigint[], p_logs text[], p_hashes bytea[], p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 141a65bd5f15e0496bee2a0ebdc4a1a4

-- function writ_data.plan_limit(p_name text) returns bigint
--   sql, immutable; owner writ_owner; body f5f132459b5273bd0d45d53a8fdc25ae

-- function writ_data.position_of(p_text text) returns writ_data.record_position
--   plpgsql, immutable; owner writ_owner; body 21694311ece096bf24a0d6fc763a681e

-- function writ_data.position_since(p_since timestamp with time zone) returns writ_data.record_position
--   sql, stable; owner writ_owner; body 8f5187faff02f560a1d3e6b1f096cb2c

-- function writ_data.position_text(p_position writ_data.record_position) returns text
--   sql, immutable; owner writ_owner; body 45fd0cab356c7bb2a2f468aaaeb2bf7b

-- function writ_data.principal_of(p_key text) returns SETOF writ_data.principal
--   plpgsql, stable; owner writ_owner; body 7897110354df5e9bbbe7e08a761abf88

-- function writ_data.probes_of(p_tenant text, p_targets text[]) returns jsonb
--   sql, stable; owner writ_owner; body b9b8a386fb5b6b04b315135f7119ad7e

-- function writ_data.promote(p_jobs uuid[], p_at timestamp with time zone) returns integer
--   plpgsql, volatile; owner writ_owner; body b1af4e754837b9889b23f9916b4a2751
--   set enable_seqscan=off

-- function writ_data.promote_due(p_actor text, p_at timestamp with time zone) returns integer
--   plpgsql, volatile; owner writ_owner; body 2895a13c0267e9c45cf4aeeea74a900a
--   set enable_seqscan=off

-- function writ_data.proposals_limited(p_who writ_data.principal, p_at timestamp with time zone) returns jsonb
--   plpgsql, volatile; owner writ_owner; body 3168fd612a16f4ab067bcb0f06cab329

-- function writ_data.put_back(p_jobs uuid[], p_attempts smallint[], p_execution_nos integer[], p_alone boolean[]) returns void
--   plpgsql, volatile; owner writ_owner; body 3515a4e4786f250e53028239f81e55c0
--   set enable_seqscan=off

-- function writ_data.put_mail(p_governors uuid[], p_contents jsonb[], p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 353a76e4053632698fff328249532fd2

-- function writ_data.put_scope(p_tenant text, p_item jsonb, p_new boolean, p_who text, p_at timestamp with time zone) returns jsonb
--   plpgsql, volatile; owner writ_owner; body 7d1845b2a539e5b71488a5ed9ef8324a

-- function writ_data.put_signal(p_tenant text, p_type text, p_scope text, p_decision text, p_reason text, p_expires_at timestamp with time zone, p_actor text, p_at timestamp with time zone, p_constraints jsonb DEFAULT NULL::jsonb) returns uuid
--   plpgsql, volatile; owner writ_owner; body 30dbe3637b6ae6d55d288aec1b5fd55b

-- function writ_data.quota_of(p_tenant text, p_at timestamp with time zone) returns jsonb
--   sql, stable; owner writ_owner; body 7c9188f608a3f533d4ac758db102ed95

-- function writ_data.raise_alert(p_code text, p_severity text, p_tenant text, p_subject text, p_detail jsonb, p_actor text, p_at timestamp with time zone) returns boolean
--   plpgsql, volatile; owner writ_owner; body 570f5cb97a4a4d800bca56fbce88650e

-- function writ_data.read_is_open(p_job uuid) returns boolean
--   sql, stable; owner writ_owner; body 67a44755352b042c5a8e39b0540c1f4d

-- function writ_data.reads_of(c writ_data.contract) returns jsonb
--   sql, stable; owner writ_owner; body 92ecb4bd0e1ac70431300eb4363c2414

-- function writ_data.ready_to_activate(p_key text, p_contract uuid, p_job uuid, p_glass jsonb, p_at timestamp with time zone, OUT actor text, OUT answer jsonb) returns record
--   plpgsql, volatile; owner writ_owner; body b3664777ffb28b9d3338f1153a90210f

-- function writ_data.reap(p_lease writ_data.job_lease, p_positions integer[], p_actor text, p_at timestamp with time zone) returns integer[]
--   plpgsql, volatile; owner writ_owner; body 8720c6bd512dd863d8659a9510ed0359

-- function writ_data.reap_leases(p_actor text) returns jsonb
--   plpgsql, volatile; owner writ_owner; body f31b480ad5119bf151e6657b0813491e
--   set enable_seqscan=off

-- function writ_data.record(p_command text, p_actor text, p_at timestamp with time zone, p_subjects uuid[], p_types text[], p_first integer[], p_last integer[], p_details jsonb DEFAULT NULL::jsonb, p_note text DEFAULT NULL::text) returns uuid
--   plpgsql, volatile; owner writ_owner; body 4b5cea7f903dc8288320cb577dc1b682

-- function writ_data.record_abort(p_command text, p_actor text, p_at timestamp with time zone, p_jobs uuid[], p_counts integer[], p_started uuid[] DEFAULT '{}'::uuid[], p_details jsonb DEFAULT NULL::jsonb) returns void
--   plpgsql, volatile; owner writ_owner; body f7f2ebfe2dd74e964b883eca497a9a4b

-- function writ_data.record_after(p_at writ_data.record_position, p_until uuid) returns SETOF writ_data.event_batch
--   sql, stable; owner writ_owner; body 76a4ad7a13ff1a2c5eae64c12aee7ccb

-- function writ_data.record_bounds(p_position writ_data.record_position, OUT start writ_data.record_position, OUT horizon xid8, OUT until uuid, OUT closed boolean) returns record
--   plpgsql, volatile; owner writ_owner; body 88939f675d3f3ef0053afdb66626e807
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.record_is_needed(p_day date) returns boolean
--   sql, stable; owner writ_owner; body b36eb4a3b82659ebb65eb129ba4e4cd7

-- function writ_data.record_jobs(p_jobs uuid[], p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 4589cc2b758c6c51bbb94e03358ef3db

-- function writ_data.record_stands() returns boolean
--   sql, volatile; owner writ_owner; body 846c832cfbc3bdc2a463a484326a1c20

-- function writ_data.record_step_signal(g writ_data.governance_job, c writ_data.contract, p_step_no integer, p_parameters jsonb, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 40396b047d3b95d68c5227bcca705a30

-- function writ_data.references_only(p_data jsonb) returns boolean
--   sql, immutable; owner writ_owner; body d9b0131546f027de843a0d8e2a731aff

-- function writ_data.refusal(p_reason text, p_detail text DEFAULT NULL::text) returns jsonb
--   sql, immutable; owner writ_owner; body 58b4b7c68bc7725ad8502a197dc40c80

-- function writ_data.refuse_change() returns trigger
--   plpgsql, volatile; owner writ_owner; body f91c4f881f0636fc9b02b2ec3318fced
--   set search_path=pg_catalog, pg_temp

-- function writ_data.refused(p_command text, p_actor text, p_reason text, p_detail text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile; owner writ_owner; body 520daff4c22b1ffc811f0b84f8b16c14

-- function writ_data.register_plan(p_document text, p_sha256 text, p_tenant text, p_actor text, p_own boolean) returns jsonb
--   plpgsql, volatile; owner writ_owner; body 278d0da86e1e481bdc017638a9bfa175

-- function writ_data.relay_idle(p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body e7af019fa1ccfc8b2ba298136d7d1a6e

-- function writ_data.release_limits(p_lease_token uuid, p_jobs uuid[]) returns void
--   sql, volatile; owner writ_owner; body 865195284b1a2498eab5e4d13b8425b2

-- function writ_data.report_silent(p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body eb8ae1f85a04855facb39316bfbd6fe7
--   set enable_seqscan=off

-- function writ_data.reported(p_report jsonb) returns jsonb
--   plpgsql, immutable; owner writ_owner; body 2b63d6e86f6d9ebc7417702709d08b8e

-- function writ_data.request_reads(c writ_data.contract, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 205f07e9d9f50c1a4abcc1d7fb7a6341

-- function writ_data.require_read_committed() returns void
--   plpgsql, stable; owner writ_owner; body 2f09aa9e9ff0b8b38b8932b5be9cc213

-- function writ_data.reserved_kind(p_kind text) returns boolean
--   sql, immutable; owner writ_owner; body b594ab016c204ba66da4eb27063aa5fe

-- function writ_data.resume_if_settled(p_run uuid, p_signal uuid, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 2350778c389d3fc0ada1fd8d8b662bc4
--   set enable_seqscan=off

-- function writ_data.resume_run(p_run uuid, p_signal uuid, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body f8c5cfd277c394c22969f430953800c4
--   set enable_seqscan=off

-- function writ_data.retire_day(p_day date) returns bigint
--   plpgsql, volatile; owner writ_owner; body 21ff7c47bed12ee2e8e119434afe3b58

-- function writ_data.retire_days(p_actor text, p_at timestamp with time zone) returns integer
--   plpgsql, volatile; owner writ_owner; body 3adbfd9e16c15c997e12df43a29bc1df
--   set lock_timeout=100ms

-- function writ_data.retry_aside(p_limit integer, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 7261a3947001110cc8a77cb3b0cc6cdc

-- function writ_data.revert_changes(g writ_data.governance_job, c writ_data.contract, p_first integer, p_last integer, p_read jsonb, p_trust text, p_actor text, p_at timestamp with time zone) returns jsonb[]
--   plpgsql, volatile; owner writ_owner; body cd081477f5fa1b38628ef72cbbdc7247

-- function writ_data.role_holders(p_role text) returns text[]
--   sql, immutable; owner writ_owner; body 6bbef57ab2dc175caf0538cca943bced

-- function writ_data.roles_of(p_login name) returns text[]
--   sql, stable; owner writ_owner; body 3104d2796c38651d0300f0047df18228

-- function writ_data.rollback_failed(p_job uuid, p_reason text, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 29b10704c702f94d940f3b1fab5a5161

-- function writ_data.root_at(p_log text, p_size bigint) returns bytea
--   plpgsql, stable; owner writ_owner; body fde390d60762cb48323649359135693e

-- function writ_data.run_event_document(p_run uuid, p_seq integer, p_type text, p_step text, p_attempt text, p_engine_attempt integer, p_data text, p_signal uuid, p_at timestamp with time zone) returns text
--   sql, stable; owner writ_owner; body af74c0f8ff724d5d84d75ddc9a42494d

-- function writ_data.run_event_leaf(p_run uuid, p_seq integer, p_type text, p_step text, p_attempt text, p_engine_attempt integer, p_data text, p_signal uuid, p_at timestamp with time zone) returns bytea
--   sql, stable; owner writ_owner; body 57a420cf65d3d3075f87f8d412cbbdea

-- function writ_data.run_value(p_run uuid, p_plan integer, p_input jsonb, p_item jsonb, p_ref text) returns jsonb
--   plpgsql, stable; owner writ_owner; body 9c48152d119a02ebaeaee44d1f71e560
--   set enable_seqscan=off

-- function writ_data.schedule_job(p_schedule writ_data.schedule, p_tick timestamp with time zone) returns jsonb
--   plpgsql, volatile; owner writ_owner; body 95bcb56c25c1016789b810ed23d3f894

-- function writ_data.schedule_job_refusal(p_schedule writ_data.schedule, p_actor text) returns jsonb
--   plpgsql, volatile; owner writ_owner; body 6b349a069fc75205d4ea4efd4c5f2898

-- function writ_data.seal_events(p_rows integer, p_at timestamp with time zone) returns integer
--   plpgsql, volatile; owner writ_owner; body 1bc3f6236e319ccc1c4528cd22002542
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.seal_or_alert(p_rows integer, p_actor text, p_at timestamp with time zone) returns integer
--   plpgsql, volatile; owner writ_owner; body 9e668f48abe465ad0b89d624fe9e7c42

-- function writ_data.sequence_receipts(p_limit integer, p_at timestamp with time zone, p_fresh boolean) returns integer
--   plpgsql, volatile; owner writ_owner; body f33f23a1acc405a194eaf5898c42eee0
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.set_aside(p_subject text, p_tenant text, p_sqlstate text, p_error text, p_actor text, p_at timestamp with time zone) returns boolean
--   plpgsql, volatile; owner writ_owner; body a67e65d7e5b9cde3771f5c09f1b6e33f

-- function writ_data.set_governance_aside(p_sort text, p_id uuid, p_tenant text, p_error text, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 7cbe5d7ddd186271d892b58ebe492683

-- function writ_data.set_run_aside(p_run uuid, p_code text, p_message text, p_actor text, p_at timestamp with time zone) returns boolean
--   plpgsql, volatile; owner writ_owner; body 44e2182cc7e7be6257aa22ee94edb642
--   set enable_seqscan=off

-- function writ_data.setting(p_key text) returns jsonb
--   sql, stable; owner writ_owner; body 3c6b41b0fe305b59d7791f95f7979f9d

-- function writ_data.settle_audits(p_jobs uuid[], p_verdict text, p_reasons text[], p_checks jsonb[], p_evidence jsonb[], p_health jsonb[], p_resolved_by text, p_actor text, p_started timestamp with time zone, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 07ad2547443b85708d31510bdf56bb63

-- function writ_data.settle_contracts(p_jobs uuid[], p_actor text, p_at timestamp with time zone) returns integer
--   plpgsql, volatile; owner writ_owner; body ba80a2dcec5a5b1b47a78a026e9ff20a
--   set enable_seqscan=off

-- function writ_data.settle_lease(p_lease writ_data.job_lease, p_may_remove boolean, p_ended uuid[], p_early integer, p_start_upto integer, p_at timestamp with time zone, OUT started_upto integer, OUT started uuid[]) returns record
--   plpgsql, volatile; owner writ_owner; body 87707067fedcfa8af0b259b201874ba3
--   set enable_seqscan=off

-- function writ_data.shaped_uuid(p_hash bytea, p_version integer) returns uuid
--   sql, immutable; owner writ_owner; body 4dfab988533d3d697d8825287ff8244f

-- function writ_data.signal_is_well_formed(p_id text, p_signal jsonb) returns boolean
--   sql, immutable; owner writ_owner; body 86647a9c5ed2ba8d03b385ac847345d3

-- function writ_data.signatures_of(p_contract uuid, p_hash bytea, p_action text) returns jsonb
--   plpgsql, stable; owner writ_owner; body 0b763272d9e2cb21d429eb59d09500e6

-- function writ_data.slots(p_steps jsonb) returns TABLE(step_no integer, step_type text, target text, slot text, key text, value jsonb)
--   sql, immutable; owner writ_owner; body ef2ce8086d6fb45b3a9c72b893224f27

-- function writ_data.soak_ms(p_steps jsonb) returns bigint
--   sql, immutable; owner writ_owner; body 58bb3a36a852293ad91d41f802711a3a

-- function writ_data.stands_ready(p_job writ_data.job) returns boolean
--   sql, stable; owner writ_owner; body 801e723271f4f9fd2c3c844a8c98cc36

-- function writ_data.start_governance_jobs(p_jobs uuid[], p_contracts uuid[], p_kind text, p_of uuid[], p_steps jsonb[], p_states bytea[], p_event text, p_reason text, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body cc7ff0de38b73bfd68dafa08cdd696e1

-- function writ_data.start_queued(p_runs uuid[], p_actor text, p_at timestamp with time zone) returns uuid[]
--   plpgsql, volatile; owner writ_owner; body 78315454f8be33639c2d4c284e474441
--   set enable_seqscan=off

-- function writ_data.started_upto(p_lease writ_data.job_lease) returns integer
--   sql, immutable; owner writ_owner; body 3c6a39a8dc646de15fa91a27e4b3503f

-- function writ_data.state_hash(p_state jsonb) returns bytea
--   sql, immutable; owner writ_owner; body 6ba465ab4ad2757cd2c5057ebfe199e2

-- function writ_data.state_of(p_tenant text, p_steps jsonb, p_read jsonb DEFAULT '{}'::jsonb) returns jsonb
--   sql, stable; owner writ_owner; body 122479cf709920d5bf9c9284ef6fd744

-- function writ_data.step_begun(p_run uuid, p_step writ_data.plan_step) returns boolean
--   sql, stable; owner writ_owner; body 6214dc7a647a550d7d9c2d0a3fda16a4

-- function writ_data.step_effect(p_run uuid, p_step_id text) returns text
--   plpgsql, stable; owner writ_owner; body c1f2ee0af5d81bf3e9a3d1ddeb70d487
--   set enable_seqscan=off

-- function writ_data.step_failed(p_run uuid, p_step smallint, p_code text, p_message text, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body f1b2d94c8b2208f78d4fa6f1e69f3eea
--   set enable_seqscan=off

-- function writ_data.step_input(p_template jsonb, p_run uuid, p_plan integer, p_input jsonb, p_item jsonb) returns text
--   sql, stable; owner writ_owner; body 04a8c1879b842cd70ab7c37588065126

-- function writ_data.step_name(p_run uuid, p_step_id text, p_step smallint, p_place integer, p_attempt smallint, p_undo boolean) returns text
--   sql, stable; owner writ_owner; body d0bbddbfba2f7b576a339f7694d32abb

-- function writ_data.step_stands(p_run uuid, p_step_id text) returns text
--   sql, stable; owner writ_owner; body 998862ad775b43ef091986686d0c2298

-- function writ_data.steps_allowed(g writ_data.governance_job, c writ_data.contract, p_first integer, p_last integer) returns void
--   plpgsql, volatile; owner writ_owner; body b17ae483400257c0efc4332081fb3f27

-- function writ_data.steps_ended(p_jobs uuid[], p_results text[], p_attempts smallint[], p_command text, p_actor text, p_at timestamp with time zone, p_taker text DEFAULT NULL::text, p_take boolean[] DEFAULT NULL::boolean[], p_kinds text[] DEFAULT NULL::text[], p_artifacts jsonb DEFAULT NULL::jsonb, OUT ended uuid[], OUT followed boolean, OUT due timestamp with time zone, OUT taken uuid[], OUT answers text[]) returns record
--   plpgsql, volatile; owner writ_owner; body 8ee813dda69d8b7a746c7a56758e1ec6
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.steps_failed(p_jobs uuid[], p_codes text[], p_messages text[], p_attempts integer[], p_command text, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 0a6ace3f39ef9eb06b1905c160babde9
--   set enable_seqscan=off

-- function writ_data.steps_of(p_step_id text, OUT first integer, OUT last integer) returns record
--   sql, immutable; owner writ_owner; body 0c703169295fcbe1fa8f6bfdc76a7dc4

-- function writ_data.steps_straight(p_tokens uuid[], p_positions integer[], p_jobs uuid[], p_runs uuid[], p_results text[], p_take boolean[], p_kinds text[], p_lo uuid, p_hi uuid, p_leases integer, p_max_bytes integer, p_max_attempts smallint, p_token uuid, p_ttl double precision, p_timeout double precision, p_holder text, p_only text, p_at timestamp with time zone, OUT usual boolean, OUT ended uuid[], OUT answers text, OUT going integer) returns record
--   plpgsql, volatile; owner writ_owner; body cae6a430d5722311ee1899c11eb06d1a

-- function writ_data.steps_to_undo(p_job uuid) returns jsonb
--   sql, stable; owner writ_owner; body 2596d1a0a9119b44e2374ef43aa820c3

-- function writ_data.storable_signal(p_item json) returns json
--   plpgsql, immutable; owner writ_owner; body 62cb382a620fa5a92223f81452d94c3d

-- function writ_data.store_snapshots(p_snapshots json, p_at timestamp with time zone) returns uuid[]
--   plpgsql, volatile; owner writ_owner; body 8c57d6688c02077471399f5ed11c2e38
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.store_verdicts(p_items jsonb, p_actor text) returns jsonb
--   plpgsql, volatile; owner writ_owner; body ebbe9d8ef7f81674a1e1bc08c191d134
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.streams_go_on(p_destination text, p_streams uuid[], p_at timestamp with time zone) returns void
--   sql, volatile; owner writ_owner; body 96e4354a40becf80afdd17b32ec1728b

-- function writ_data.submit_contract(p_contract uuid, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body df982916e5fef00796887ac016f14c73

-- function writ_data.subscribed_kinds(p_holder text, p_lease_name text, p_kinds text[]) returns TABLE(job_kind text, priority_floor smallint)
--   plpgsql, stable; owner writ_owner; body 8009692cf320e6cfd35f46f97151568b

-- function writ_data.system_health(p_tenant text) returns text
--   sql, stable; owner writ_owner; body d92fb475ba44230a816ac43b7088d00d

-- function writ_data.system_receipt(p_reason text, p_stream text, p_context jsonb, p_at timestamp with time zone) returns bigint
--   plpgsql, volatile; owner writ_owner; body 0ee396db05b7acfc8e3103fbb582a8f6

-- function writ_data.take(p_lane bigint, p_head bigint, p_jobs integer, p_at timestamp with time zone, p_kind text, p_tenant text, p_priority smallint, OUT ids uuid[], OUT attempts smallint[], OUT nos integer[], OUT answers text[], OUT rows_taken integer, OUT stepped boolean, OUT late_ids uuid[], OUT late_attempts smallint[], OUT late_nos integer[]) returns record
--   plpgsql, volatile; owner writ_owner; body 7be3d8c9f27b2396a66203df98765256

-- function writ_data.take_delivery(p_run uuid, s writ_data.plan_step, p_attempt smallint, p_job uuid, d writ_data.run_delivery, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body b174a92ea0ecf7f6bd7d261d6049c187

-- function writ_data.take_turn(p_name text) returns boolean
--   plpgsql, volatile; owner writ_owner; body 4a9d69371172b55105d9a66ab5999fea

-- function writ_data.tell_flags() returns void
--   sql, volatile; owner writ_owner; body 2d2bfd7cd4bf87c3f06d05a826200cf9

-- function writ_data.tree_grow(p_size bigint, p_frontier bytea, p_leaves bytea, OUT frontier bytea, OUT nodes bytea[]) returns record
--   plpgsql, immutable; owner writ_owner; body 40568d9e1987b120793022a7f68a1975

-- function writ_data.tree_root(p_frontier bytea) returns bytea
--   plpgsql, immutable; owner writ_owner; body f802f0da74eb128735ab8537462f3dc5

-- function writ_data.trim_requests(p_principal_id text) returns void
--   plpgsql, volatile; owner writ_owner; body 374faa26c5d680278ac2e59108d35b00

-- function writ_data.trust_in(p_item jsonb) returns text
--   sql, immutable; owner writ_owner; body 1f248658bdcf9f47cd36045af71ee089

-- function writ_data.turn_away(p_ids uuid[], p_attempts smallint[], p_nos integer[], p_held integer[], p_over integer[], p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body fcbd5997e6bfb54e83680b005a399582

-- function writ_data.unread_slots(c writ_data.contract, p_state jsonb) returns text
--   sql, stable; owner writ_owner; body fea8362baefa877c0c59c13004367ebd

-- function writ_data.upkeep(p_at timestamp with time zone, p_actor text) returns void
--   plpgsql, volatile; owner writ_owner; body bb0f89633bf5e3487ee005b5f68b2874

-- function writ_data.uuid_floor(p_at timestamp with time zone) returns uuid
--   sql, stable; owner writ_owner; body afa7114d50b46e1a1477eefb9b508687

-- function writ_data.uuid_in(p_item jsonb, p_key text) returns uuid
--   sql, immutable; owner writ_owner; body bc38f60016c908edb404bc8fb369a296

-- function writ_data.uuidv7() returns uuid
--   sql, volatile; owner writ_owner; body d56d9118ed39e6c31106baf180ace93f

-- function writ_data.value_at(p_value jsonb, p_path text[]) returns jsonb
--   plpgsql, immutable; owner writ_owner; body bcf72f101de71d0cd6dba9cef67751b7

-- function writ_data.values_read(c writ_data.contract) returns jsonb
--   sql, stable; owner writ_owner; body dff491203e336cbeb777b63aa4bcc83a

-- function writ_data.visible(p_tenant_id text) returns boolean
--   plpgsql, stable; owner writ_owner; body 9b38c220fd0743aafc1401325a3800e1

-- function writ_data.void_contract(p_contract uuid, p_reason text, p_actor text, p_at timestamp with time zone) returns uuid
--   plpgsql, volatile; owner writ_owner; body 52ba4facd87385ab6d6c5ca93fa576dd

-- function writ_data.wait_aside(p_jobs uuid[], p_attempts smallint[], p_execution_nos integer[], p_until timestamp with time zone, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body a736552ebe26c822a55f0e68ca6cfa98
--   set enable_seqscan=off

-- function writ_data.wake(p_kinds text[], p_at timestamp with time zone) returns boolean
--   plpgsql, volatile; owner writ_owner; body 29057f40c1eb5d26e973ab5dddbc994b

-- function writ_data.wake_governors(p_wakes jsonb, p_tenant text, p_after timestamp with time zone, p_now timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body fa2eb6b27a92a2d87da0dec7648efc20

-- function writ_data.watch_endings(p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 8e30b95a0adb35f18efc4f42760465b1
--   set enable_seqscan=off

-- function writ_data.watch_pauses(p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 8f4e94080798ebd313fb532da493e57e
--   set enable_seqscan=off

-- function writ_data.watch_projector(p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body a12b531afc2d8ce55c8958fe8911ec88
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.watch_ready() returns void
--   plpgsql, volatile; owner writ_owner; body 05daf3e0a0f59f585edc16a13f61badf

-- function writ_data.whole_within(p_value jsonb, p_from bigint, p_to bigint) returns boolean
--   sql, immutable; owner writ_owner; body 3a6765cf83159a82323eb9b5f9468347

-- function writ_data.wind_up(p_run uuid, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body a71141d8f25911e9ca26b297952d4478
--   set enable_seqscan=off

-- function writ_data.within(p_value jsonb, p_bounds jsonb) returns boolean
--   sql, immutable; owner writ_owner; body 07f28f2fca5f4f4222672c84ad0c12cb

-- function writ_data.within_times(p_moment timestamp with time zone) returns boolean
--   sql, immutable; owner writ_owner; body 748a98c1c20b4bda1081b138448a46d6

-- function writ_data.workflow_known(p_workflow_id uuid, p_tenant_id text) returns boolean
--   plpgsql, stable; owner writ_owner; body bdc45544d74839b41edeb7698753637c

-- function writ_data.writes_ready(p_writers text[]) returns boolean
--   plpgsql, volatile; owner writ_owner; body 72962fa0a5ac2af3fcdab238be146d21

-- function writ_data.wrong_with(p_tenant text, p_scope text[], p_steps jsonb, p_template jsonb, p_constraints jsonb, OUT code text, OUT detail text) returns record
--   plpgsql, stable; owner writ_owner; body d24500d9e560588645c24e73a54d4544

-- function writ_data.wrong_with_document(p_document text, p_now jsonb) returns jsonb
--   plpgsql, immutable; owner writ_owner; body f740956477c587c978c54b90b807b9e3

-- function writ_data.wrong_with_firing(p_item jsonb, p_at timestamp with time zone) returns text
--   plpgsql, stable; owner writ_owner; body a5d7227019d49418eee7e21d63064458

-- function writ_data.wrong_with_governor(p_governor_id uuid, p_tenant text, p_sku text, p_policy jsonb, p_was jsonb, p_data jsonb, p_waiting jsonb, p_sent jsonb[], p_ms bigint) returns text
--   plpgsql, stable; owner writ_owner; body c10a4b7f932a4ce33ed82f2704de6aa7
--   set enable_seqscan=off

-- function writ_data.wrong_with_kind(p_kind writ_data.job_kind) returns text
--   sql, immutable; owner writ_owner; body 55d231671f383a945df7a6bc79a302f9

-- function writ_data.wrong_with_params(p_steps jsonb, p_bounds jsonb) returns text
--   sql, immutable; owner writ_owner; body 9255426ba894abbba4730978525f8ca1

-- function writ_data.wrong_with_plan(p_plan jsonb, p_own boolean) returns text
--   plpgsql, stable; owner writ_owner; body fb2e754a5970b744202f731e4c65c981

-- function writ_data.wrong_with_signature(p_document text, p_signature text, p_scheme text) returns jsonb
--   sql, immutable; owner writ_owner; body 19ac6e3bc050b188f69ab2d0c96c70f4

-- function writ_data.wrong_with_start(p_run jsonb) returns text
--   plpgsql, immutable; owner writ_owner; body 2be86b4af1277f6c4c9c440e5f7101d8

-- function writ_data.wrong_with_state(c writ_data.contract, p_state jsonb) returns jsonb
--   plpgsql, stable; owner writ_owner; body 84b2a324ad53ddbd3a9d4a866528e00a

-- function writ_data.wrong_with_step(p_step jsonb) returns text
--   plpgsql, immutable; owner writ_owner; body 14a11db2009b872e4b32ce1561395260

-- function writ_data.wrong_with_template(p_content jsonb) returns text
--   sql, immutable; owner writ_owner; body 036729e5f7623284c75767db96d6592b

-- settings
--   governance.agent.open_contracts = 50
--   governance.agent.proposals_per_hour = 60
--   governance.alert.audit_sec = 30
--   governance.alert.job_sec = 60
--   governance.alert.pending = 100
--   governance.audit.timeout_sec = 300
--   governance.denials_per_minute = 10
--   governance.evidence_max_age_ms = 5000
--   governance.read.interval_ms = 1000
--   governance.rollback.health_gate = "observe"
--   governor.action_ms = 500
--   governor.attempts = 3
--   governor.backoff_ms = [10000, 30000, 60000, 300000]
--   governor.boot_ms = 30000
--   governor.capacity = 1000
--   governor.crashes = 10
--   governor.entitlement_ms = 200
--   governor.ping_every_ms = 60000
--   governor.ping_ms = 1000
--   governor.policy_ms = 300
--   governor.receipt_slo_ms = 50
--   governor.recheck_ms = 30000
--   governor.recovery_max_ms = 3600000
--   governor.recovery_ms = 120000
--   governor.retention.events_days = 365
--   governor.rollback_ms = 30000
--   governor.storm_every_ms = 10000
--   governor.storm_limit = 100
--   governor.storm_retry_ms = 30000
--   governor.storm_window_ms = 60000
--   governor.transition_ms = 50
--   ledger.retention.receipts_days = 365
--   ledger.seal.rows = 10000
--   ledger.sealing.enabled = true
--   outbox.delivery.attempts = 10
--   outbox.delivery.backoff_max_ms = 300000
--   outbox.delivery.backoff_ms = 1000
--   outbox.lag_alert_sec = 60
--   outbox.pause_after = 20
--   outbox.retention_sec = 604800
--   outbox.turn_sec = 60
--   queue.dlq.replay_enabled = true
--   queue.heartbeat.stale_threshold_seconds = 300
--   queue.job_substrate.enabled = false
--   queue.lease.duration_sec = 300
--   queue.lease.reaper_batch = 100
--   queue.lease.reaper_enabled = true
--   queue.lease.timeout_sec = 900
--   queue.notify.enabled = true
--   queue.partition.days_ahead = 14
--   queue.payload.max_bytes = 1048576
--   queue.poison.crashes = 3
--   queue.retention.dead_letter_sec = 31536000
--   queue.retention.finished_sec = 2592000
--   queue.retention.record_sec = 7776000
--   queue.retry.backoff_base_sec = 10
--   queue.retry.backoff_cap_sec = 3600
--   queue.retry.max_attempts_default = 5
--   queue.safe_payload.max_bytes = 8192
--   queue.worker.enabled = true
--   requests.most = 100000
--   requests.retention_hours = 24
--   runs.admission.retry_after_sec = 5
--   runs.pause.drain_sec = 300
--   runs.projector.lag_alert_sec = 5
--   runs.retention_sec = 7776000
--   runs.signal.max_bytes = 65536
--   runs.signal.per_minute = 60
