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
comment on table writ_data.delivery is 'What was sent where, and what was answered.';

create table writ_data.event_batch ( -- owner writ_owner
  batch_id uuid not null,
  xid xid8 not null default pg_current_xact_id(),
  at timestamp with time zone not null,
  command text not null,
  actor text not null,
  login text not null default SESSION_USER,
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
comment on table writ_data.governor_event is 'What governors have handled, in order. added: the event without what stands in the mailbox; null for what came from there and needed nothing else. By month.';

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
  constraint abort_kind_is_known CHECK ((abort_kind = ANY (ARRAY['transient'::text, 'permanent'::text, 'lease_expired'::text, 'released'::text, 'cancelled'::text]))),
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
CREATE INDEX run_by_tenant ON ONLY writ_data.run USING btree (tenant_id, run_id);
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
  emitted_at timestamp with time zone,
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
CREATE UNIQUE INDEX an_alert_stands_once ON writ_data.alert USING btree (code, subject) WHERE (cleared_at IS NULL);

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
  constraint lifecycle_is_known CHECK ((lifecycle = ANY (ARRAY['DISABLED'::text, 'PREVIEW'::text, 'LAUNCHED'::text, 'DEPRECATED'::text])))
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
  xid xid8 not null,
  event_id uuid not null,
  moved_at timestamp with time zone not null,
  refused text,
  constraint consumer_position_consumer_fkey FOREIGN KEY (consumer) REFERENCES writ_data.consumer_registry(consumer) ON DELETE CASCADE,
  constraint consumer_position_pkey PRIMARY KEY (consumer)
) with (fillfactor=50);
comment on table writ_data.consumer_position is 'How far each consumer has followed the log: every fact up to (xid, event_id) is behind it. Moves once per call, whatever the number of facts.';
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
CREATE INDEX contract_by_template ON writ_data.contract USING btree (template_id, contract_id) WHERE (template_id IS NOT NULL);
CREATE INDEX contract_by_tenant ON writ_data.contract USING btree (tenant_id, contract_id);
CREATE INDEX contract_due ON writ_data.contract USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX contract_open ON writ_data.contract USING btree (tenant_id, status) WHERE (status <> ALL (ARRAY['COMPLETED'::text, 'FAILED'::text, 'REJECTED'::text, 'EXPIRED'::text]));
CREATE INDEX contract_open_by_agent ON writ_data.contract USING btree (created_by) WHERE ((on_behalf_of IS NOT NULL) AND (status <> ALL (ARRAY['COMPLETED'::text, 'FAILED'::text, 'REJECTED'::text, 'EXPIRED'::text])));
CREATE TRIGGER contract_moves_legally BEFORE UPDATE ON writ_data.contract FOR EACH ROW WHEN ((((old.status || '>'::text) || new.status) <> ALL (ARRAY['DRAFT>VALIDATED'::text, 'DRAFT>REJECTED'::text, 'DRAFT>EXPIRED'::text, 'VALIDATED>ELIGIBLE'::text, 'VALIDATED>REJECTED'::text, 'VALIDATED>EXPIRED'::text, 'ELIGIBLE>APPROVED'::text, 'ELIGIBLE>REJECTED'::text, 'ELIGIBLE>EXPIRED'::text, 'APPROVED>ACTIVE'::text, 'APPROVED>FAILED'::text, 'ACTIVE>COMPLETED'::text, 'ACTIVE>FAILED'::text, 'DRAFT>DRAFT'::text, 'VALIDATED>VALIDATED'::text, 'ELIGIBLE>ELIGIBLE'::text, 'APPROVED>APPROVED'::text, 'ACTIVE>ACTIVE'::text]))) EXECUTE FUNCTION writ_data.refuse_change();
comment on table writ_data.contract is 'What somebody wants to have changed, and how far that has come. content is the canonical JSON of scope and steps: what is approved, byte by byte.';
comment on column writ_data.contract.pre_state is 'The values of its targets when it was approved, as the JSON text that is hashed.';
comment on column writ_data.contract.approval_hash is 'What an approval signs: contract, content, policy version and pre-state. Null again as soon as one of them is another.';
comment on column writ_data.contract.template is 'Set: it is not executed itself; its instances are, within these bounds. template_id and template_params: it is such an instance.';
comment on column writ_data.contract.due_at is 'When something has to be looked at, though nobody asks: expiry, the times of a review, the end of the window.';

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

create table writ_data.contract_review ( -- owner writ_owner
  contract_id uuid not null,
  review_no integer not null,
  action text not null,
  by text not null,
  reason text,
  hash bytea,
  signature bytea,
  public_key bytea,
  at timestamp with time zone not null,
  constraint action_is_known CHECK ((action = ANY (ARRAY['APPROVE'::text, 'REJECT'::text, 'REQUEST_CLARIFICATION'::text, 'CLARIFY'::text, 'MODIFY_SCOPE'::text, 'ESCALATE'::text, 'BREAK_GLASS'::text]))),
  constraint an_approval_is_signed CHECK (((action <> 'APPROVE'::text) OR ((octet_length(hash) = 32) AND (octet_length(signature) = 64) AND (octet_length(public_key) = 32)))),
  constraint contract_review_contract_id_fkey FOREIGN KEY (contract_id) REFERENCES writ_data.contract(contract_id),
  constraint contract_review_pkey PRIMARY KEY (contract_id, review_no)
);
CREATE UNIQUE INDEX a_person_approves_a_hash_once ON writ_data.contract_review USING btree (contract_id, by, hash) WHERE (action = 'APPROVE'::text);
CREATE TRIGGER contract_review_is_written_once BEFORE DELETE OR UPDATE ON writ_data.contract_review FOR EACH ROW EXECUTE FUNCTION writ_data.refuse_change();

create table writ_data.denial ( -- owner writ_owner
  tenant_id text not null,
  principal_id text not null,
  minute timestamp with time zone not null,
  denials integer not null,
  receipts integer not null,
  constraint denial_pkey PRIMARY KEY (tenant_id, principal_id, minute),
  constraint denial_principal_id_fkey FOREIGN KEY (principal_id) REFERENCES writ_data.principal(principal_id)
);
CREATE INDEX denial_by_minute ON writ_data.denial USING btree (minute);
comment on table writ_data.denial is 'How often a principal was denied in a minute, and how many of these denials have a receipt of their own. The clockwork counts the others in one receipt when the minute is over.';

create table writ_data.destination ( -- owner writ_owner
  name text not null,
  bus text not null,
  tenant_id text,
  types text[] not null,
  config jsonb not null default '{}'::jsonb,
  state text not null default 'active'::text,
  note text,
  xid xid8 not null,
  batch_id uuid not null,
  failures integer not null default 0,
  failing_since timestamp with time zone,
  retry_at timestamp with time zone not null default '-infinity'::timestamp with time zone,
  holder text,
  held_until timestamp with time zone not null default '-infinity'::timestamp with time zone,
  turn uuid,
  to_xid xid8,
  to_batch uuid,
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
comment on table writ_data.destination is 'A place outside that is told of events: everything up to (xid, batch_id) has been given to it, or is in undelivered.';
comment on column writ_data.destination.types is 'Types of events; one that ends with * is the beginning of types.';
comment on column writ_data.destination.config is 'Where it is, and names of secrets; never a secret.';
comment on column writ_data.destination.failures is 'Calls in a row in which nothing was accepted.';
comment on column writ_data.destination.holder is 'The relay whose turn it is, until held_until.';
comment on column writ_data.destination.turn is 'The turn that was given last. It ends at (to_xid, to_batch); oldest is the time of its first row.';

create table writ_data.door ( -- owner writ_owner

);
comment on table writ_data.door is 'Holds no row. An upgrade locks it against the gates, each call of a doorkeeper shares it.';

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
  constraint an_end_is_on_the_calendar CHECK (((expires_at >= '1970-01-01 00:00:00+00'::timestamp with time zone) AND (expires_at < '9999-01-01 00:00:00+00'::timestamp with time zone))),
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
comment on table writ_data.event_seal is 'Segments of the record whose hash is in a receipt: the rows behind (from_xid, from_id) up to (to_xid, to_id), with ids after since and not after upto. leaves: their hashes, which stay when the rows are past their retention.';

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
  constraint freeze_pkey PRIMARY KEY (freeze_id)
);
CREATE INDEX freeze_by_tenant ON writ_data."freeze" USING btree (tenant_id) WHERE (lifted_at IS NULL);

create table writ_data.governance_audit ( -- owner writ_owner
  audit_id uuid not null,
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
CREATE INDEX governance_audit_by_job ON writ_data.governance_audit USING btree (job_id, audit_id);

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
CREATE INDEX governance_job_by_tenant ON writ_data.governance_job USING btree (tenant_id, job_id);
CREATE INDEX governance_job_due ON writ_data.governance_job USING btree (due_at) WHERE (due_at IS NOT NULL);
CREATE INDEX governance_job_of ON writ_data.governance_job USING btree (of_job_id) WHERE (of_job_id IS NOT NULL);
CREATE INDEX governance_job_undone ON writ_data.governance_job USING btree (tenant_id, created_at) WHERE (kind = 'rollback'::text);
CREATE UNIQUE INDEX governance_job_by_run ON writ_data.governance_job USING btree (run_id);
CREATE UNIQUE INDEX one_forward_job_per_contract ON writ_data.governance_job USING btree (contract_id) WHERE (kind = 'forward'::text);
CREATE TRIGGER governance_job_moves_legally BEFORE UPDATE ON writ_data.governance_job FOR EACH ROW WHEN ((((old.status || '>'::text) || new.status) <> ALL (ARRAY['PENDING>RUNNING'::text, 'PENDING>CANCELLED'::text, 'PENDING>FAILED'::text, 'RUNNING>RUNNING'::text, 'RUNNING>AUDIT_PENDING'::text, 'RUNNING>FAILED'::text, 'AUDIT_PENDING>COMPLETED'::text, 'AUDIT_PENDING>AUDIT_PENDING'::text, 'AUDIT_PENDING>FAILED'::text, 'FAILED>ROLLBACK_PENDING'::text, 'FAILED>ROLLED_BACK'::text, 'FAILED>ROLLBACK_FAILED'::text, 'ROLLBACK_PENDING>ROLLED_BACK'::text, 'ROLLBACK_PENDING>ROLLBACK_FAILED'::text, 'PENDING>PENDING'::text, 'FAILED>FAILED'::text, 'ROLLBACK_PENDING>ROLLBACK_PENDING'::text]))) EXECUTE FUNCTION writ_data.refuse_change();

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
  constraint governance_signal_pkey PRIMARY KEY (signal_id)
);
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
  constraint governance_step_job_id_fkey FOREIGN KEY (job_id) REFERENCES writ_data.governance_job(job_id),
  constraint governance_step_pkey PRIMARY KEY (job_id, step_no)
);
comment on table writ_data.governance_step is 'A step of a governance job that has begun: what was found, how it is undone, and, when it is done, what was written. found and applied are slot → value; a value that is not there is JSON null.';

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
  constraint tenant_and_product_are_names CHECK (((tenant_id ~ '^[A-Za-z0-9][A-Za-z0-9_.:@-]{0,99}$'::text) AND (sku_id ~ '^[A-Za-z0-9][A-Za-z0-9_.:@-]{0,99}$'::text)))
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
  governor_id uuid not null
) with (autovacuum_vacuum_scale_factor=0.02, autovacuum_vacuum_threshold=1000);
CREATE INDEX governor_due_by_time ON writ_data.governor_due USING btree (due_at);
comment on table writ_data.governor_due is 'Governors that have to be looked at, now or later: something is in the mailbox, or a timer is due. One too many does no harm.';

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
  constraint backoff_is_bounded CHECK ((((backoff_base_s >= (0)::double precision) AND (backoff_base_s <= (2592000)::double precision)) AND ((backoff_cap_s >= (0)::double precision) AND (backoff_cap_s <= (2592000)::double precision)))),
  constraint event_domain_is_known CHECK ((event_domain = ANY (ARRAY['iu'::text, 'birth_registry'::text, 'governance'::text, 'tac'::text, 'kg'::text, 'system'::text, 'dot'::text, 'health'::text, 'piece'::text]))),
  constraint executor_is_whitelisted CHECK ((executor = ANY (ARRAY['DOT'::text, 'Agent'::text, 'Hermes'::text, 'Codex'::text, 'PG_worker'::text, 'external_worker'::text, 'future_Kestra_adapter'::text]))),
  constraint job_kind_is_a_name CHECK ((job_kind ~ '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$'::text)),
  constraint job_kind_pkey PRIMARY KEY (job_kind),
  constraint limit_is_bounded CHECK ((((limit_concurrency >= 1) AND (limit_concurrency <= 1000000)) AND ((limit_rate >= (0.000001)::double precision) AND (limit_rate <= ('1000000'::numeric)::double precision)) AND ((limit_burst >= (1)::double precision) AND (limit_burst <= ('1000000'::numeric)::double precision)))),
  constraint max_attempts_is_positive CHECK ((max_attempts > 0)),
  constraint rate_has_a_burst CHECK (((limit_rate IS NULL) = (limit_burst IS NULL))),
  constraint source_system_is_not_blank CHECK (((btrim(source_system) <> ''::text) AND (length(source_system) <= 200))),
  constraint timeout_is_bounded CHECK (((timeout_s >= (0.001)::double precision) AND (timeout_s <= (2592000)::double precision)))
);
comment on column writ_data.job_kind.limit_concurrency is 'Jobs of one limit key that may be leased at a time.';
comment on column writ_data.job_kind.limit_rate is 'Jobs of one limit key that may start per second, after a burst of limit_burst.';

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
  part integer not null,
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
comment on column writ_data.job_ready.moved is 'Came here after a delay, a retry or a release, and so not where its ready_seq says.';
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
CREATE TRIGGER ledger_checkpoint_is_not_truncated BEFORE TRUNCATE ON writ_data.ledger_checkpoint FOR EACH STATEMENT EXECUTE FUNCTION writ_data.refuse_change();
CREATE TRIGGER ledger_checkpoint_is_written_once BEFORE DELETE OR UPDATE ON writ_data.ledger_checkpoint FOR EACH ROW EXECUTE FUNCTION writ_data.refuse_change();
comment on table writ_data.ledger_checkpoint is 'Signed checkpoints that have been published. The copies that count are the ones outside.';

create table writ_data.ledger_clockwork ( -- owner writ_owner
  single boolean not null default true,
  last_no bigint not null default 0,
  missing int8multirange not null default '{}'::int8multirange,
  missing_before int8multirange not null default '{}'::int8multirange,
  missing_xid xid8 not null default '0'::xid8,
  seal_xid xid8 not null default '0'::xid8,
  seal_id uuid not null default '00000000-0000-0000-0000-000000000000'::uuid,
  seal_since uuid not null default '00000000-0000-0000-0000-000000000000'::uuid,
  segment bigint not null default 0,
  sealed_at timestamp with time zone not null default '-infinity'::timestamp with time zone,
  kept_at timestamp with time zone not null default '-infinity'::timestamp with time zone,
  constraint ledger_clockwork_pkey PRIMARY KEY (single),
  constraint ledger_clockwork_single_check CHECK (single)
) with (fillfactor=10);
comment on table writ_data.ledger_clockwork is 'How far sequencer and sealer are. Receipts up to last_no are in their logs, but for the missing: numbers that were not seen when they were passed, because a transaction was open or had been rolled back. missing_before were missing already when transaction missing_xid began: when everything older has ended, they will not come.';

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
  constraint agents_only_propose CHECK (((kind <> 'agent'::text) OR (rights <@ '{propose}'::text[]))),
  constraint an_agent_acts_for_somebody CHECK (((kind = 'agent'::text) = (on_behalf_of IS NOT NULL))),
  constraint keys_have_their_size CHECK (((octet_length(auth_sha256) = 32) AND (octet_length(public_key) = 32))),
  constraint kind_is_known CHECK ((kind = ANY (ARRAY['person'::text, 'service'::text, 'agent'::text]))),
  constraint only_persons_approve CHECK (((kind = 'person'::text) OR (NOT (rights && '{approve,break_glass}'::text[])))),
  constraint permissions_are_names CHECK (((array_to_string(permissions, ''::text) !~ '[^A-Za-z0-9_.:/@-]'::text) AND (array_to_string(permissions, ' '::text) ~ '^([A-Za-z0-9][A-Za-z0-9_.:/@-]{0,99}( |$))*$'::text) AND (cardinality(permissions) <= 100))),
  constraint principal_is_a_name CHECK ((principal_id ~ '^[A-Za-z0-9][A-Za-z0-9_.@-]{0,99}$'::text)),
  constraint principal_on_behalf_of_fkey FOREIGN KEY (on_behalf_of) REFERENCES writ_data.principal(principal_id),
  constraint principal_pkey PRIMARY KEY (principal_id),
  constraint rights_are_known CHECK ((rights <@ '{propose,approve,activate,operate,report,break_glass}'::text[]))
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
  constraint a_generator_never_beats CHECK ((executor_id !~~ 'MOT:%'::text)),
  constraint executor_is_whitelisted CHECK ((executor_kind = ANY (ARRAY['DOT'::text, 'Agent'::text, 'Hermes'::text, 'Codex'::text, 'PG_worker'::text, 'external_worker'::text, 'future_Kestra_adapter'::text]))),
  constraint queue_worker_pkey PRIMARY KEY (executor_id)
) with (fillfactor=50);
comment on table writ_data.queue_worker is 'Heartbeats of workers, and which of them wait for a wake-up.';

create table writ_data.receipt_archive ( -- owner writ_owner
  month date not null,
  place text not null,
  archived_by text not null,
  archived_at timestamp with time zone not null,
  constraint month_is_its_first_day CHECK ((EXTRACT(day FROM month) = (1)::numeric)),
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

create table writ_data.run_projector ( -- owner writ_owner
  one boolean not null default true,
  xid xid8 not null default '0'::xid8,
  batch_id uuid not null default '00000000-0000-0000-0000-000000000000'::uuid,
  holder text,
  held_until timestamp with time zone not null default '-infinity'::timestamp with time zone,
  turn uuid,
  to_xid xid8,
  to_batch uuid,
  oldest timestamp with time zone,
  moved_at timestamp with time zone not null default '-infinity'::timestamp with time zone,
  constraint run_projector_one_check CHECK (one),
  constraint run_projector_pkey PRIMARY KEY (one)
) with (fillfactor=10);
comment on table writ_data.run_projector is 'How far the projector has followed the record. It moves once per turn, whatever the number of events.';
comment on column writ_data.run_projector.turn is 'The turn that was given last. It ends at (to_xid, to_batch); oldest is the time of its first row.';

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

-- view writ.admission; owner writ_owner; source 8ee033dab0289964c2b06966dfe7c01bc0830b2debd9bddd3bb47a5fc9af4680
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

-- view writ.alert; owner writ_owner; source 62c15c60dd8c45b9e332532d496abf670fdbf328b1b99e27dea80e9436b87851
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

-- view writ.capability; owner writ_owner; source 10a67b48ca74f0c50041f0d856af3fd05b8864caa149d8094aa0a2c29e98adfe
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

-- view writ.change_freeze; owner writ_owner; source d8545edecbd8224d01cb2eac72bbaeae0f8d06c5dcb5099e0c019cc4d48a6a8b
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

-- view writ.command_run; owner writ_owner; source df8cf07e430f4a8e9d331fc455381006ece8bd203bbc732c23a840dbf5babd79
--   run_id uuid
--   at timestamp with time zone
--   command text
--   actor text
--   jobs integer
--   note text
--   login text
grant select on writ.command_run to dot_executor;
grant select on writ.command_run to workflow_admin;
grant select on writ.command_run to writ_admin;
grant select on writ.command_run to writ_applier;
grant select on writ.command_run to writ_auditor;
grant select on writ.command_run to writ_engine;
grant select on writ.command_run to writ_producer;
grant select on writ.command_run to writ_server;
grant select on writ.command_run to writ_worker;

-- view writ.configuration; owner writ_owner; source 8b53a9b8b758f6c2139d0466f3dc8d5bca41c9f89d6a34b35a5615f2d29a61db
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

-- view writ.configuration_scope; owner writ_owner; source 339f580f727f3abdc0a43893b0a3562fd756d9da2ec1053c44a33dc48d74bf50
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

-- view writ.consumer_registry; owner writ_owner; source b2f04257c34e05fe1eb98f54678f573275ed808edaaa97fc6a71151a65fb40a1
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

-- view writ.contract_review; owner writ_owner; source 12d7dd5f8fbe190cb0c0c260388d2b208ebc9c23eaa98aa8a4256bced98ece32
--   contract_id uuid
--   tenant_id text
--   review_no integer
--   action text
--   by text
--   reason text
--   hash text
--   signature text
--   public_key text
--   at timestamp with time zone
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

-- view writ.delivery; owner writ_owner; source 9ff0d3bb275260179d12c3a306305fd40d70dff3e1159cc761cdf1b526864f5a
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

-- view writ.destination; owner writ_owner; source 3fc7d6ec5ca346956bcb9a7dd190b32955f3742bda5a325a4de51fd280604af2
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

-- view writ.entitlement; owner writ_owner; source 26ac3db8f7f678e728fde21d2d626cf4289d4379c450b39d5e21a6204fb6c142
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

-- view writ.event_outbox; owner writ_owner; source b255a0387f056ad6954e7c05407cde5cc0643c1c0bff2948a2d9554da7e900c6
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

-- view writ.event_seal; owner writ_owner; source b296fdb0a5877afe7794ab2260f63743c60a10c00e45d4249543cf75f06575a9
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

-- view writ.governance_audits; owner writ_owner; source 3764b0623d002c502411971c8b1351f1b57760ca04ba999d35707e5e9b3a2ccb
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

-- view writ.governance_job_steps; owner writ_owner; source 33aabc0e03817e97760f2e364922476c8c39af0a5a747f0f30dc6312f599a924
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

-- view writ.governance_jobs; owner writ_owner; source 2ff393a731df76cc1f373e69749fa50eb4fd457904848bdfa2c033dafe26f59f
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

-- view writ.governance_signals; owner writ_owner; source 54add30998d6e98ceae72b32f2d9989b0153d4d4ce7ff31f66d2f947b7f74f4b
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

-- view writ.governor; owner writ_owner; source 3c2a149de88fded2c89405c1116894c16aa44a109c2ea81aa196327e1326a9fc
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

-- view writ.governor_event; owner writ_owner; source 0ca62a741c59aac43d77a74f92d963dc9b1bc77e5ff4aa12d7b3270040f48135
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

-- view writ.governor_outage; owner writ_owner; source 6107696eab6e67c8ad59436b10c26f55c82f27acc4dc401657e738f266e94456
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

-- view writ.governor_policy; owner writ_owner; source f2ec0560ae173d0671b6514d85198022c1c599fbdbd75c3818cb3bfaf8058022
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

-- view writ.incident; owner writ_owner; source 6215a62b711c8d353470f4d64c8624d2cc9e961799960407fa6cc21f75ff6ed4
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

-- view writ.job_execution; owner writ_owner; source 1e7ce09575c4dc80bd731645eb6d064a1db6fa1e8797643b389c7f2db5da4f96
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
grant select on writ.job_execution to dot_executor;
grant select on writ.job_execution to workflow_admin;
grant select on writ.job_execution to writ_admin;
grant select on writ.job_execution to writ_applier;
grant select on writ.job_execution to writ_auditor;
grant select on writ.job_execution to writ_engine;
grant select on writ.job_execution to writ_producer;
grant select on writ.job_execution to writ_server;
grant select on writ.job_execution to writ_worker;

-- view writ.job_kind; owner writ_owner; source dbac1f6aa056731ae0a7c2ebe9e8a522002482ab8e5259d64a8f8fddaa7859a1
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
grant select on writ.job_kind to dot_executor;
grant select on writ.job_kind to workflow_admin;
grant select on writ.job_kind to writ_admin;
grant select on writ.job_kind to writ_applier;
grant select on writ.job_kind to writ_auditor;
grant select on writ.job_kind to writ_engine;
grant select on writ.job_kind to writ_producer;
grant select on writ.job_kind to writ_server;
grant select on writ.job_kind to writ_worker;

-- view writ.job_queue; owner writ_owner; source cf4df80c81bdec3c3d7bdc8bc4038d8afb08877785b87cc252979da8f5e46e54
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

-- view writ.job_subscription; owner writ_owner; source ac1567feeafade0bae9a79512a25d6a06b3148f53beb2022d8d334c69a0d9f19
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

-- view writ.job_workflow; owner writ_owner; source c84d4832c3f344775c2f3d9be39d997674cd594919dfe14f4a53b2347388ee27
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

-- view writ.ledger_checkpoint; owner writ_owner; source 8d8fc05baf963d8317caf3b1f5ff384ea669e4b5b49ab4d7d89942b32bddb5f4
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

-- view writ.ledger_entry; owner writ_owner; source a9c3602c79cf595dc92e5ce7bfe6bcd18afe23159393f1f77bd82bb391192c33
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

-- view writ.ledger_entry_hash; owner writ_owner; source 6c787c619a58e778dfb713cc20ea60172adc1313519443060489a2277d923c48
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

-- view writ.ledger_log; owner writ_owner; source b4b367518c05618e3fb3aafe858cbdf5c32d5e66e3fa4a02799cf77a148496cc
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

-- view writ.ledger_node; owner writ_owner; source 7476fec9ffcb1540e9d8984bf326c95dcb6aa4a541095d1507cb3cbc653785a5
--   log_id text
--   level smallint
--   node_index bigint
--   hash bytea
grant select on writ.ledger_node to workflow_admin;
grant select on writ.ledger_node to writ_admin;
grant select on writ.ledger_node to writ_auditor;
grant select on writ.ledger_node to writ_server;
grant select on writ.ledger_node to writ_signer;

-- view writ.login; owner writ_owner; source f4ccc9127edd179165b49d00ac51fb18d61936a722676fbc98a44a902b691eea
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

-- view writ.plan; owner writ_owner; source acfb2473a626b8e3537c4dee4eecf0679a5a22ed4d7b51533a7b6cab435026ba
--   plan_id text
--   plan_version text
--   sha256 text
--   size_bytes integer
--   document text
--   registered_by text
--   registered_at timestamp with time zone
--   registered_for text
grant select on writ.plan to dot_executor;
grant select on writ.plan to workflow_admin;
grant select on writ.plan to writ_admin;
grant select on writ.plan to writ_applier;
grant select on writ.plan to writ_auditor;
grant select on writ.plan to writ_engine;
grant select on writ.plan to writ_producer;
grant select on writ.plan to writ_server;
grant select on writ.plan to writ_worker;

-- view writ.principal; owner writ_owner; source feda05f613ea4fe7d8277a6cab1dfcac9176ae29c80a8284fe0ca4cfdf136528
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

-- view writ.probe; owner writ_owner; source cea9164c8b3e9fdf2d2045cc77b7b2eaffd8d924ffa47cd9e21052d9ed1510fb
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

-- view writ.receipt; owner writ_owner; source 41a0febb5710659e22189e30146b5296a438c5a102377b6ac4f4e8fcac928d57
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

-- view writ.run; owner writ_owner; source 5085bec9504506c03d949f77f52fcf4963020e69125cbdec09beac43d4c1c2a2
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
grant select on writ.run to dot_executor;
grant select on writ.run to workflow_admin;
grant select on writ.run to writ_admin;
grant select on writ.run to writ_applier;
grant select on writ.run to writ_auditor;
grant select on writ.run to writ_engine;
grant select on writ.run to writ_producer;
grant select on writ.run to writ_server;
grant select on writ.run to writ_worker;

-- view writ.run_events; owner writ_owner; source 8f3e551167b7e7baa340499a8668fb42ed464f64916b588ef285db5e7dbab242
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

-- view writ.run_snapshots; owner writ_owner; source 439224394bb7cc485bb7cd926ae28a772fca180014166702c2255353a91a8448
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

-- view writ.schedule; owner writ_owner; source d18a5a02d99e4dcafa0ec51734a30608f25844c694ed1b45f3a2aeb38df8693e
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
grant select on writ.schedule to dot_executor;
grant select on writ.schedule to workflow_admin;
grant select on writ.schedule to writ_admin;
grant select on writ.schedule to writ_applier;
grant select on writ.schedule to writ_auditor;
grant select on writ.schedule to writ_engine;
grant select on writ.schedule to writ_producer;
grant select on writ.schedule to writ_server;
grant select on writ.schedule to writ_worker;

-- view writ.schedule_tick; owner writ_owner; source 96c4419587f6e5b9255e845aa8a907c303d3a695524c550dd6640eaf162964ed
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

-- view writ.system_contracts; owner writ_owner; source 7a70be929bd6cadae00fbb8661e9673dedf51eefc9782a20a6e68050e9470437
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

-- view writ.tenant_weight; owner writ_owner; source dd71d0e710c848509aeedfafcc6564f7815c17bca0a891485d2eee1a312c787d
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

-- view writ.undelivered; owner writ_owner; source f49566442b31fdc3e5745d807c605b2707fb1eac88196604aae2f91bf5cbc097
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

-- view writ.v_job_queue_backlog; owner writ_owner; source 3dc2949e7f25ea9993c302df7d7b09d3592e0626f0b79aefe8eb568c1ccdbdc4
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

-- view writ.v_job_queue_dead_letter_open; owner writ_owner; source 96e7d61532157f7e7c9fd768cc0852300910e1db3c79c41a4ba8cb1363a713ce
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

-- view writ.v_job_queue_in_progress; owner writ_owner; source c536c6cbb15d62eb25653cc4904a355da96e5c7db6885fb6e3c1aceb7f1a5e09
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

-- view writ.v_job_state; owner writ_owner; source 581d7f2dd3b73686c4fb4312de009e82e9cff7710a1fb5dc79f8b089cf1a4a7a
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

-- view writ.v_queue_flow; owner writ_owner; source b81a6180a3dc93aa12a711779af7b4f348d4e8c1e7f0560bae640a1bff14d42e
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

-- view writ.v_queue_heartbeat; owner writ_owner; source cfb26c4cfd0a3b9552bf6b2f29ef04025864581ae81adcaa8524615003a4ee55
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
grant select on writ.v_queue_heartbeat to writ_admin;
grant select on writ.v_queue_heartbeat to writ_applier;
grant select on writ.v_queue_heartbeat to writ_auditor;
grant select on writ.v_queue_heartbeat to writ_engine;
grant select on writ.v_queue_heartbeat to writ_producer;
grant select on writ.v_queue_heartbeat to writ_server;
grant select on writ.v_queue_heartbeat to writ_worker;

-- view writ.v_queue_lease; owner writ_owner; source 7d64dd57bb386beeda490b5332ef4cf71a8fe5c4a091875fcff102593e42660f
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
--   plpgsql, volatile, security definer; owner writ_owner; body d72738f8ce511b2e1d3c08f8dcf3fb81
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_admission_put(text,text,integer,integer,integer,text) to workflow_admin;
grant execute on function writ.fn_admission_put(text,text,integer,integer,integer,text) to writ_admin;

-- function writ.fn_alert_clear(p_alert_id uuid, p_reason text, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 8a0de1f954c19f40a004ee8f3d3dce03
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_alert_clear(uuid,text,text) to workflow_admin;
grant execute on function writ.fn_alert_clear(uuid,text,text) to writ_admin;
grant execute on function writ.fn_alert_clear(uuid,text,text) to writ_server;

-- function writ.fn_audit_resolve(p_key text, p_job_id uuid, p_verdict text, p_reason text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 5b6cf72146d6fcc7d0afa99cadbdfbe5
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_audit_resolve(text,uuid,text,text) to dot_executor;
grant execute on function writ.fn_audit_resolve(text,uuid,text,text) to workflow_admin;
grant execute on function writ.fn_audit_resolve(text,uuid,text,text) to writ_principal;
grant execute on function writ.fn_audit_resolve(text,uuid,text,text) to writ_server;

-- function writ.fn_capability_put(p_key text, p_items jsonb, p_tenant_id text DEFAULT 'default'::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body ddae25b8402725090c03bf2e46e259f4
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_capability_put(text,jsonb,text) to dot_executor;
grant execute on function writ.fn_capability_put(text,jsonb,text) to workflow_admin;
grant execute on function writ.fn_capability_put(text,jsonb,text) to writ_principal;
grant execute on function writ.fn_capability_put(text,jsonb,text) to writ_server;

-- function writ.fn_change_begin(p_job_id uuid, p_lease_token uuid, p_found jsonb, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 89978437aa9f14f31ba3835590737c68
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_change_begin(uuid,uuid,jsonb,text) to dot_executor;
grant execute on function writ.fn_change_begin(uuid,uuid,jsonb,text) to workflow_admin;
grant execute on function writ.fn_change_begin(uuid,uuid,jsonb,text) to writ_applier;

-- function writ.fn_changes_apply(p_items jsonb, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body ce1586edf959019eba324f126c222868
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
--   set plan_cache_mode=force_generic_plan
grant execute on function writ.fn_changes_apply(jsonb,text) to dot_executor;
grant execute on function writ.fn_changes_apply(jsonb,text) to workflow_admin;
grant execute on function writ.fn_changes_apply(jsonb,text) to writ_applier;

-- function writ.fn_consumer_dispatch(p_event_id uuid, p_actor text DEFAULT 'dispatch'::text, p_tenant_id text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 00f06b6541bc08a72ce619b158ae005b
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_consumer_dispatch(uuid,text,text) to dot_executor;
grant execute on function writ.fn_consumer_dispatch(uuid,text,text) to workflow_admin;
grant execute on function writ.fn_consumer_dispatch(uuid,text,text) to writ_admin;
grant execute on function writ.fn_consumer_dispatch(uuid,text,text) to writ_engine;

-- function writ.fn_consumer_dispatch_many(p_limit integer DEFAULT 1000) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body c7787ab73bbb37255b8ac4088be2b167
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_consumer_dispatch_many(integer) to dot_executor;
grant execute on function writ.fn_consumer_dispatch_many(integer) to workflow_admin;
grant execute on function writ.fn_consumer_dispatch_many(integer) to writ_engine;

-- function writ.fn_consumer_register(p_consumer text, p_event_type text, p_job_kind text, p_options jsonb, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 9427bea735bffc9b548215a248a2f820
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_consumer_register(text,text,text,jsonb,text) to workflow_admin;
grant execute on function writ.fn_consumer_register(text,text,text,jsonb,text) to writ_admin;

-- function writ.fn_consumer_remove(p_consumer text, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 1ad3d752f028c533fc66e59cea6f5005
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_consumer_remove(text,text) to workflow_admin;
grant execute on function writ.fn_consumer_remove(text,text) to writ_admin;

-- function writ.fn_contract_preview(p_key text, p_contract_id uuid, p_read jsonb DEFAULT '{}'::jsonb) returns jsonb
--   plpgsql, stable, security definer; owner writ_owner; body 790140def1c19acece7fc8c1ee42a23c
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_contract_preview(text,uuid,jsonb) to dot_executor;
grant execute on function writ.fn_contract_preview(text,uuid,jsonb) to workflow_admin;
grant execute on function writ.fn_contract_preview(text,uuid,jsonb) to writ_principal;
grant execute on function writ.fn_contract_preview(text,uuid,jsonb) to writ_server;

-- function writ.fn_contract_propose(p_key text, p_content text, p_about jsonb, p_tenant_id text DEFAULT 'default'::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 2f35b174ec04b231d77722e3d0e6a714
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan
grant execute on function writ.fn_contract_propose(text,text,jsonb,text) to dot_executor;
grant execute on function writ.fn_contract_propose(text,text,jsonb,text) to workflow_admin;
grant execute on function writ.fn_contract_propose(text,text,jsonb,text) to writ_principal;
grant execute on function writ.fn_contract_propose(text,text,jsonb,text) to writ_server;

-- function writ.fn_contract_review(p_key text, p_contract_id uuid, p_action text, p_reason text DEFAULT NULL::text, p_hash text DEFAULT NULL::text, p_signature text DEFAULT NULL::text, p_read jsonb DEFAULT '{}'::jsonb) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 0d9134d27bc7eaae607d8ccb5c6bce89
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_contract_review(text,uuid,text,text,text,text,jsonb) to dot_executor;
grant execute on function writ.fn_contract_review(text,uuid,text,text,text,text,jsonb) to workflow_admin;
grant execute on function writ.fn_contract_review(text,uuid,text,text,text,text,jsonb) to writ_principal;
grant execute on function writ.fn_contract_review(text,uuid,text,text,text,text,jsonb) to writ_server;

-- function writ.fn_contracts_activate(p_key text, p_items jsonb) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 39318e35fecd02bd622daefa8e73c5e0
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan
grant execute on function writ.fn_contracts_activate(text,jsonb) to dot_executor;
grant execute on function writ.fn_contracts_activate(text,jsonb) to workflow_admin;
grant execute on function writ.fn_contracts_activate(text,jsonb) to writ_applier;
grant execute on function writ.fn_contracts_activate(text,jsonb) to writ_principal;
grant execute on function writ.fn_contracts_activate(text,jsonb) to writ_server;

-- function writ.fn_destination_put(p_name text, p_bus text, p_types text[], p_tenant_id text, p_config jsonb, p_since timestamp with time zone, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body aeecf2811d53c5ee7cbe2fd72c53f8a9
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_destination_put(text,text,text[],text,jsonb,timestamp with time zone,text) to workflow_admin;
grant execute on function writ.fn_destination_put(text,text,text[],text,jsonb,timestamp with time zone,text) to writ_admin;
grant execute on function writ.fn_destination_put(text,text,text[],text,jsonb,timestamp with time zone,text) to writ_server;

-- function writ.fn_destination_set(p_name text, p_state text, p_note text, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 3e9a66394f6e2d636eb57a7f15321836
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_destination_set(text,text,text,text) to workflow_admin;
grant execute on function writ.fn_destination_set(text,text,text,text) to writ_admin;
grant execute on function writ.fn_destination_set(text,text,text,text) to writ_server;

-- function writ.fn_entitlement_put(p_key text, p_entitlement jsonb, p_tenant text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 512bc2cf13d3c285d68a57b26eb1d570
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
--   plpgsql, volatile, security definer; owner writ_owner; body d1b2715a7250d43b490fc069704684df
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_freeze_put(text,jsonb,text) to dot_executor;
grant execute on function writ.fn_freeze_put(text,jsonb,text) to workflow_admin;
grant execute on function writ.fn_freeze_put(text,jsonb,text) to writ_principal;
grant execute on function writ.fn_freeze_put(text,jsonb,text) to writ_server;

-- function writ.fn_governance_audits(p_items jsonb, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 1e8dc591700a592a62e58251695fcdd6
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan
grant execute on function writ.fn_governance_audits(jsonb,text) to dot_executor;
grant execute on function writ.fn_governance_audits(jsonb,text) to workflow_admin;
grant execute on function writ.fn_governance_audits(jsonb,text) to writ_applier;

-- function writ.fn_governance_cancel(p_key text, p_job_id uuid, p_reason text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 10eb9e6f0657f510d7160c0cd339ac20
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

-- function writ.fn_governance_policy_publish(p_key text, p_document jsonb, p_tenant_id text DEFAULT 'default'::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 42a42a986534a2525df1ed58cb870306
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_governance_policy_publish(text,jsonb,text) to dot_executor;
grant execute on function writ.fn_governance_policy_publish(text,jsonb,text) to workflow_admin;
grant execute on function writ.fn_governance_policy_publish(text,jsonb,text) to writ_principal;
grant execute on function writ.fn_governance_policy_publish(text,jsonb,text) to writ_server;

-- function writ.fn_governance_stop(p_key text, p_contract_ids uuid[], p_reason text, p_signal_id uuid, p_tenant_id text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 6e7ccff9fea0136b2bf4f78b88291be6
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_governance_stop(text,uuid[],text,uuid,text) to dot_executor;
grant execute on function writ.fn_governance_stop(text,uuid[],text,uuid,text) to workflow_admin;
grant execute on function writ.fn_governance_stop(text,uuid[],text,uuid,text) to writ_applier;
grant execute on function writ.fn_governance_stop(text,uuid[],text,uuid,text) to writ_principal;
grant execute on function writ.fn_governance_stop(text,uuid[],text,uuid,text) to writ_server;

-- function writ.fn_governance_tick(p_actor text, p_limit integer DEFAULT 100) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 34ec5cab722c986d54321f7fad9b7bce
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_governance_tick(text,integer) to dot_executor;
grant execute on function writ.fn_governance_tick(text,integer) to workflow_admin;
grant execute on function writ.fn_governance_tick(text,integer) to writ_engine;

-- function writ.fn_governed_approvals(p_runs uuid[]) returns jsonb
--   plpgsql, stable, security definer; owner writ_owner; body 3fc4d23024aaea9916ca0458d65ae887
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan
grant execute on function writ.fn_governed_approvals(uuid[]) to dot_executor;
grant execute on function writ.fn_governed_approvals(uuid[]) to workflow_admin;
grant execute on function writ.fn_governed_approvals(uuid[]) to writ_applier;

-- function writ.fn_governed_read(p_jobs uuid[]) returns jsonb
--   plpgsql, stable, security definer; owner writ_owner; body 7d274408fbfe2f2f4583e86ace11f5ca
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan
grant execute on function writ.fn_governed_read(uuid[]) to dot_executor;
grant execute on function writ.fn_governed_read(uuid[]) to workflow_admin;
grant execute on function writ.fn_governed_read(uuid[]) to writ_applier;

-- function writ.fn_governor_ack(p_key text, p_tenant text, p_sku text, p_cause text, p_reason text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body a26f2cf84a767444ce077897897b3012
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_governor_ack(text,text,text,text,text) to dot_executor;
grant execute on function writ.fn_governor_ack(text,text,text,text,text) to workflow_admin;
grant execute on function writ.fn_governor_ack(text,text,text,text,text) to writ_principal;
grant execute on function writ.fn_governor_ack(text,text,text,text,text) to writ_server;

-- function writ.fn_governor_act(p_key text, p_tenant text, p_sku text, p_id uuid, p_action_type text, p_parameters jsonb) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 0fd6a278fd5f509a52c605f8ba91e8c1
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_governor_act(text,text,text,uuid,text,jsonb) to dot_executor;
grant execute on function writ.fn_governor_act(text,text,text,uuid,text,jsonb) to workflow_admin;
grant execute on function writ.fn_governor_act(text,text,text,uuid,text,jsonb) to writ_principal;
grant execute on function writ.fn_governor_act(text,text,text,uuid,text,jsonb) to writ_server;

-- function writ.fn_governor_check(p_tenants text[], p_recent boolean DEFAULT false) returns jsonb
--   plpgsql, stable, security definer; owner writ_owner; body fe99f8ff9fe0d5ac473f200fca4f03d9
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_governor_check(text[],boolean) to dot_executor;
grant execute on function writ.fn_governor_check(text[],boolean) to workflow_admin;
grant execute on function writ.fn_governor_check(text[],boolean) to writ_engine;

-- function writ.fn_governor_commit(p_job_id uuid, p_lease_token uuid, p_actor text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 6ddb3e35fff77b0db8848cef64992e9f
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_governor_commit(uuid,uuid,text) to dot_executor;
grant execute on function writ.fn_governor_commit(uuid,uuid,text) to workflow_admin;
grant execute on function writ.fn_governor_commit(uuid,uuid,text) to writ_applier;

-- function writ.fn_governor_crashed(p_governor_id uuid, p_rev bigint, p_error text, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body ecc5429aeacbc03d024b9ce7831bec65
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_governor_crashed(uuid,bigint,text,text) to dot_executor;
grant execute on function writ.fn_governor_crashed(uuid,bigint,text,text) to workflow_admin;
grant execute on function writ.fn_governor_crashed(uuid,bigint,text,text) to writ_engine;

-- function writ.fn_governor_events(p_governor_id uuid, p_after bigint, p_limit integer) returns TABLE(event_seq bigint, document text)
--   plpgsql, stable, security definer; owner writ_owner; body 638e6b55555129296dbdce997d84cc1f
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
grant execute on function writ.fn_governor_events(uuid,bigint,integer) to workflow_admin;
grant execute on function writ.fn_governor_events(uuid,bigint,integer) to writ_admin;
grant execute on function writ.fn_governor_events(uuid,bigint,integer) to writ_auditor;
grant execute on function writ.fn_governor_events(uuid,bigint,integer) to writ_server;

-- function writ.fn_governor_outage(p_host text, p_entries jsonb, p_from timestamp with time zone, p_to timestamp with time zone) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 9c8ad955f2da05447d536fd851468981
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_governor_outage(text,jsonb,timestamp with time zone,timestamp with time zone) to dot_executor;
grant execute on function writ.fn_governor_outage(text,jsonb,timestamp with time zone,timestamp with time zone) to workflow_admin;
grant execute on function writ.fn_governor_outage(text,jsonb,timestamp with time zone,timestamp with time zone) to writ_engine;

-- function writ.fn_governor_policy(p_governor_id uuid, p_version integer) returns jsonb
--   plpgsql, stable, security definer; owner writ_owner; body bb2da576ca74d5c0deb94acdcce7a7fd
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

-- function writ.fn_governor_policy_publish(p_key text, p_tenant text, p_sku text, p_policy_id text, p_document jsonb, p_hash text, p_shadow boolean) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 404756a0df3e41b395a810dcd94ebe95
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_governor_policy_publish(text,text,text,text,jsonb,text,boolean) to dot_executor;
grant execute on function writ.fn_governor_policy_publish(text,text,text,text,jsonb,text,boolean) to workflow_admin;
grant execute on function writ.fn_governor_policy_publish(text,text,text,text,jsonb,text,boolean) to writ_principal;
grant execute on function writ.fn_governor_policy_publish(text,text,text,text,jsonb,text,boolean) to writ_server;

-- function writ.fn_governor_put(p_tenant text, p_sku text, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 454b4177e995c65cb26ecdb996294cf9
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_governor_put(text,text,text) to dot_executor;
grant execute on function writ.fn_governor_put(text,text,text) to workflow_admin;
grant execute on function writ.fn_governor_put(text,text,text) to writ_admin;
grant execute on function writ.fn_governor_put(text,text,text) to writ_producer;
grant execute on function writ.fn_governor_put(text,text,text) to writ_server;

-- function writ.fn_governor_report(p_job_id uuid, p_lease_token uuid, p_report jsonb, p_governance_job uuid DEFAULT NULL::uuid) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 5066684220c22ba5460b615add1dc197
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
--   plpgsql, volatile, security definer; owner writ_owner; body 54fc8ee30cc6cf879f560d9ca45a7e9b
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_governor_tick(text) to dot_executor;
grant execute on function writ.fn_governor_tick(text) to workflow_admin;
grant execute on function writ.fn_governor_tick(text) to writ_engine;

-- function writ.fn_governors_apply(p_turn jsonb, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 2c98a86e07b8b816ab293068ace5b4db
--   set search_path=pg_catalog, pg_temp
--   set plan_cache_mode=force_generic_plan
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
grant execute on function writ.fn_governors_apply(jsonb,text) to dot_executor;
grant execute on function writ.fn_governors_apply(jsonb,text) to workflow_admin;
grant execute on function writ.fn_governors_apply(jsonb,text) to writ_engine;

-- function writ.fn_governors_take(p_limit integer, p_mails integer, p_after timestamp with time zone DEFAULT '-infinity'::timestamp with time zone, p_ids uuid[] DEFAULT NULL::uuid[]) returns TABLE(id uuid, t text, s text, events bigint, receipts bigint, done bigint, last bigint, state text, hash text, due bigint, data text, waiting text, crashes integer, crash text, mails text, held text, taken_upto timestamp with time zone)
--   plpgsql, volatile, security definer; owner writ_owner; body 594a1874724cf4932db6b619cb120f46
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
--   plpgsql, volatile, security definer; owner writ_owner; body 7efaaa7e49a7ddd2bd048cbf908071e6
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_incident_put(text,jsonb,text) to dot_executor;
grant execute on function writ.fn_incident_put(text,jsonb,text) to workflow_admin;
grant execute on function writ.fn_incident_put(text,jsonb,text) to writ_principal;
grant execute on function writ.fn_incident_put(text,jsonb,text) to writ_server;

-- function writ.fn_job_abort_many(p_lease_token uuid, p_positions integer[], p_abort_kinds text[], p_codes text[], p_messages text[], p_start_upto integer DEFAULT 0, p_actor text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body b50e9dc9edea96ccd5f32715e2a84981
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_abort_many(uuid,integer[],text[],text[],text[],integer,text) to dot_executor;
grant execute on function writ.fn_job_abort_many(uuid,integer[],text[],text[],text[],integer,text) to workflow_admin;
grant execute on function writ.fn_job_abort_many(uuid,integer[],text[],text[],text[],integer,text) to writ_applier;
grant execute on function writ.fn_job_abort_many(uuid,integer[],text[],text[],text[],integer,text) to writ_worker;

-- function writ.fn_job_cancel(p_job_id uuid, p_reason text, p_actor text, p_tenant_id text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body faf1b307b2ccdf07a99b236b30ac1c6d
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_cancel(uuid,text,text,text) to workflow_admin;
grant execute on function writ.fn_job_cancel(uuid,text,text,text) to writ_admin;
grant execute on function writ.fn_job_cancel(uuid,text,text,text) to writ_server;

-- function writ.fn_job_claim(p_kind text, p_executor text, p_lease_name text, p_lease_holder text, p_lease_ttl_seconds integer, p_limit integer DEFAULT 1) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 22f9a58520969e54aed19234f7b4ebeb
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_claim(text,text,text,text,integer,integer) to dot_executor;
grant execute on function writ.fn_job_claim(text,text,text,text,integer,integer) to workflow_admin;
grant execute on function writ.fn_job_claim(text,text,text,text,integer,integer) to writ_applier;
grant execute on function writ.fn_job_claim(text,text,text,text,integer,integer) to writ_worker;

-- function writ.fn_job_claim_many(p_kinds text[], p_executor text, p_lease_holder text, p_lease_ttl_seconds double precision DEFAULT NULL::double precision, p_limit integer DEFAULT 1, p_start integer DEFAULT 0, p_lease_name text DEFAULT NULL::text, p_durable boolean DEFAULT true, p_lease_token uuid DEFAULT NULL::uuid, p_alone boolean DEFAULT false, p_after text DEFAULT NULL::text) returns json
--   plpgsql, volatile, security definer; owner writ_owner; body 8183c13eb8d451a334ac47b275af1d14
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
--   plpgsql, volatile, security definer; owner writ_owner; body 0d069ed3ce09e1b4bc74189fe1929d41
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
grant execute on function writ.fn_job_cleanup_sweep(integer,text) to dot_executor;
grant execute on function writ.fn_job_cleanup_sweep(integer,text) to workflow_admin;
grant execute on function writ.fn_job_cleanup_sweep(integer,text) to writ_admin;
grant execute on function writ.fn_job_cleanup_sweep(integer,text) to writ_engine;

-- function writ.fn_job_commit(p_job_id uuid, p_lease_token uuid, p_actor text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 59a7abefbb121fe9eeb098d9a7ac011b
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
--   plpgsql, volatile, security definer; owner writ_owner; body c101b4de451711a4d4a7596ccfe3d7f4
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_dead_letter_replay(uuid,text,text,text) to workflow_admin;
grant execute on function writ.fn_job_dead_letter_replay(uuid,text,text,text) to writ_admin;
grant execute on function writ.fn_job_dead_letter_replay(uuid,text,text,text) to writ_server;

-- function writ.fn_job_enqueue(p_kind text, p_idempotency_key text, p_executor text, p_source_ref text, p_target_ref text, p_payload_ref text, p_safe_payload jsonb, p_priority integer, p_process_after timestamp with time zone, p_deadline_at timestamp with time zone, p_correlation_id text, p_causation_event_id uuid, p_actor text, p_tenant_id text DEFAULT 'default'::text, p_input jsonb DEFAULT NULL::jsonb, p_max_attempts integer DEFAULT NULL::integer, p_parent_job_id uuid DEFAULT NULL::uuid, p_workflow_id uuid DEFAULT NULL::uuid) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 54a75087319b0bf0bb48d0de997e3272
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_enqueue(text,text,text,text,text,text,jsonb,integer,timestamp with time zone,timestamp with time zone,text,uuid,text,text,jsonb,integer,uuid,uuid) to dot_executor;
grant execute on function writ.fn_job_enqueue(text,text,text,text,text,text,jsonb,integer,timestamp with time zone,timestamp with time zone,text,uuid,text,text,jsonb,integer,uuid,uuid) to workflow_admin;
grant execute on function writ.fn_job_enqueue(text,text,text,text,text,text,jsonb,integer,timestamp with time zone,timestamp with time zone,text,uuid,text,text,jsonb,integer,uuid,uuid) to writ_producer;
grant execute on function writ.fn_job_enqueue(text,text,text,text,text,text,jsonb,integer,timestamp with time zone,timestamp with time zone,text,uuid,text,text,jsonb,integer,uuid,uuid) to writ_server;

-- function writ.fn_job_enqueue_alike(p_kind text, p_ids uuid[], p_inputs json, p_actor text, p_tenant_id text DEFAULT 'default'::text, p_priority smallint DEFAULT 0, p_atomic boolean DEFAULT false, p_traces text[] DEFAULT NULL::text[]) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 2f96778f31afefd3a255c439adfeb630
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_enqueue_alike(text,uuid[],json,text,text,smallint,boolean,text[]) to dot_executor;
grant execute on function writ.fn_job_enqueue_alike(text,uuid[],json,text,text,smallint,boolean,text[]) to workflow_admin;
grant execute on function writ.fn_job_enqueue_alike(text,uuid[],json,text,text,smallint,boolean,text[]) to writ_producer;
grant execute on function writ.fn_job_enqueue_alike(text,uuid[],json,text,text,smallint,boolean,text[]) to writ_server;

-- function writ.fn_job_enqueue_many(p_jobs jsonb, p_actor text, p_tenant_id text DEFAULT 'default'::text, p_atomic boolean DEFAULT false) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body f242e3dedd6a152e234a87cd1763ba3d
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_enqueue_many(jsonb,text,text,boolean) to dot_executor;
grant execute on function writ.fn_job_enqueue_many(jsonb,text,text,boolean) to workflow_admin;
grant execute on function writ.fn_job_enqueue_many(jsonb,text,text,boolean) to writ_producer;
grant execute on function writ.fn_job_enqueue_many(jsonb,text,text,boolean) to writ_server;

-- function writ.fn_job_events(p_job_id uuid, p_tenant_id text DEFAULT NULL::text) returns jsonb
--   sql, volatile, security definer; owner writ_owner; body 55f13106afa8a40d5d681440ff18c19d
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
--   sql, volatile, security definer; owner writ_owner; body 8897e1792e755bbaf0b30702f88f0886
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_fail_permanent(uuid,uuid,text,text,text) to dot_executor;
grant execute on function writ.fn_job_fail_permanent(uuid,uuid,text,text,text) to workflow_admin;
grant execute on function writ.fn_job_fail_permanent(uuid,uuid,text,text,text) to writ_applier;
grant execute on function writ.fn_job_fail_permanent(uuid,uuid,text,text,text) to writ_worker;

-- function writ.fn_job_fail_transient(p_job_id uuid, p_lease_token uuid, p_error_code text, p_error_message text, p_actor text) returns jsonb
--   sql, volatile, security definer; owner writ_owner; body c2492ac85e8ce49a6201b081ceda5c8e
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_fail_transient(uuid,uuid,text,text,text) to dot_executor;
grant execute on function writ.fn_job_fail_transient(uuid,uuid,text,text,text) to workflow_admin;
grant execute on function writ.fn_job_fail_transient(uuid,uuid,text,text,text) to writ_applier;
grant execute on function writ.fn_job_fail_transient(uuid,uuid,text,text,text) to writ_worker;

-- function writ.fn_job_kind_register(p_kind text, p_definition jsonb, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body ffe0bbed68636a5984c79567682bade5
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

-- function writ.fn_job_payload(p_job_id uuid, p_tenant_id text DEFAULT NULL::text) returns jsonb
--   sql, volatile, security definer; owner writ_owner; body 926069cea7c589ec8ad3a5f11318a7c0
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_payload(uuid,text) to dot_executor;
grant execute on function writ.fn_job_payload(uuid,text) to workflow_admin;
grant execute on function writ.fn_job_payload(uuid,text) to writ_admin;
grant execute on function writ.fn_job_payload(uuid,text) to writ_applier;
grant execute on function writ.fn_job_payload(uuid,text) to writ_producer;
grant execute on function writ.fn_job_payload(uuid,text) to writ_server;
grant execute on function writ.fn_job_payload(uuid,text) to writ_worker;

-- function writ.fn_job_progress(p_job_id uuid, p_status_signal_only text, p_lease_token uuid, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 1637753109e0032bb17b60d05c25114e
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_progress(uuid,text,uuid,text) to dot_executor;
grant execute on function writ.fn_job_progress(uuid,text,uuid,text) to workflow_admin;
grant execute on function writ.fn_job_progress(uuid,text,uuid,text) to writ_applier;
grant execute on function writ.fn_job_progress(uuid,text,uuid,text) to writ_worker;

-- function writ.fn_job_queue_health(p_kinds text[] DEFAULT NULL::text[]) returns jsonb
--   sql, volatile, security definer; owner writ_owner; body f02009d76be9807f41f6fa028654f91c
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
--   sql, volatile, security definer; owner writ_owner; body f3a07505232f0f13da893558e841e502
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

-- function writ.fn_job_start_many(p_lease_token uuid, p_upto integer, p_actor text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body d6eab73f2fcc63e3ae5e79ab1a48928b
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_start_many(uuid,integer,text) to dot_executor;
grant execute on function writ.fn_job_start_many(uuid,integer,text) to workflow_admin;
grant execute on function writ.fn_job_start_many(uuid,integer,text) to writ_applier;
grant execute on function writ.fn_job_start_many(uuid,integer,text) to writ_worker;

-- function writ.fn_job_subscription_put(p_executor_id text, p_job_kind text, p_event_domain text, p_priority_floor integer, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 43d7ba0f59c1df8778aacfa43dd26a93
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_subscription_put(text,text,text,integer,text) to workflow_admin;
grant execute on function writ.fn_job_subscription_put(text,text,text,integer,text) to writ_admin;

-- function writ.fn_job_subscription_remove(p_executor_id text, p_job_kind text, p_event_domain text, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 16e4d30cfd098a324a3d0faf2dd59442
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_subscription_remove(text,text,text,text) to workflow_admin;
grant execute on function writ.fn_job_subscription_remove(text,text,text,text) to writ_admin;

-- function writ.fn_job_succeed(p_job_id uuid, p_lease_token uuid, p_result_ref text, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 154d81ba340305cc6c7d721a861ffa0d
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_job_succeed(uuid,uuid,text,text) to dot_executor;
grant execute on function writ.fn_job_succeed(uuid,uuid,text,text) to workflow_admin;
grant execute on function writ.fn_job_succeed(uuid,uuid,text,text) to writ_applier;
grant execute on function writ.fn_job_succeed(uuid,uuid,text,text) to writ_worker;

-- function writ.fn_job_succeed_many(p_lease_token uuid, p_positions integer[], p_results text[] DEFAULT NULL::text[], p_start_upto integer DEFAULT 0, p_actor text DEFAULT NULL::text, p_result_refs text[] DEFAULT NULL::text[]) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 1f06565070516ec24e1d10c89959bff4
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
--   plpgsql, volatile, security definer; owner writ_owner; body 0c83e2735d1e9d5b0f1461cc9c771295
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_job_tick(text) to dot_executor;
grant execute on function writ.fn_job_tick(text) to workflow_admin;
grant execute on function writ.fn_job_tick(text) to writ_applier;
grant execute on function writ.fn_job_tick(text) to writ_engine;
grant execute on function writ.fn_job_tick(text) to writ_producer;
grant execute on function writ.fn_job_tick(text) to writ_worker;

-- function writ.fn_lease_release(p_lease_token uuid, p_actor text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 7d65a1d0b194edef4ff02322bc563907
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_lease_release(uuid,text) to dot_executor;
grant execute on function writ.fn_lease_release(uuid,text) to workflow_admin;
grant execute on function writ.fn_lease_release(uuid,text) to writ_applier;
grant execute on function writ.fn_lease_release(uuid,text) to writ_worker;

-- function writ.fn_ledger_accept_restore(p_known_checkpoint text, p_known_epoch integer, p_known_size bigint, p_reason text, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body b66956d691550876381935f521653660
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_ledger_accept_restore(text,integer,bigint,text,text) to workflow_admin;
grant execute on function writ.fn_ledger_accept_restore(text,integer,bigint,text,text) to writ_admin;

-- function writ.fn_ledger_archived(p_month date, p_place text, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 13f6324ea315e28039c29e4f50f2319d
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_ledger_archived(date,text,text) to workflow_admin;
grant execute on function writ.fn_ledger_archived(date,text,text) to writ_signer;

-- function writ.fn_ledger_checkpoint_record(p_checkpoints jsonb, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body b96a5f8316faeaf5358a39fd387fabda
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
--   plpgsql, volatile, security definer; owner writ_owner; body faee0618c084ea41251e3de836788ac6
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_ledger_heads(text) to workflow_admin;
grant execute on function writ.fn_ledger_heads(text) to writ_signer;

-- function writ.fn_ledger_health() returns jsonb
--   plpgsql, stable, security definer; owner writ_owner; body aca80eb0a75c25ece73fa5f13999dd18
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
--   plpgsql, volatile, security definer; owner writ_owner; body 66554c33a7b97fac520f4fe592d08797
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
--   plpgsql, stable, security definer; owner writ_owner; body 5a6c50c584c3782539d084530036afa1
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
--   plpgsql, stable, security definer; owner writ_owner; body 7f85a2f4684bc31bbc14034204273c10
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_ledger_segment_runs(bigint) to workflow_admin;
grant execute on function writ.fn_ledger_segment_runs(bigint) to writ_admin;
grant execute on function writ.fn_ledger_segment_runs(bigint) to writ_auditor;
grant execute on function writ.fn_ledger_segment_runs(bigint) to writ_server;
grant execute on function writ.fn_ledger_segment_runs(bigint) to writ_signer;

-- function writ.fn_ledger_tick(p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 1fbd6f8e20cb65fdbf41b9bbcfd0870d
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_ledger_tick(text) to dot_executor;
grant execute on function writ.fn_ledger_tick(text) to workflow_admin;
grant execute on function writ.fn_ledger_tick(text) to writ_engine;

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
--   plpgsql, volatile, security definer; owner writ_owner; body dd82b0016447329e8e7618a04085fb79
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_login_put(text,jsonb,text) to workflow_admin;
grant execute on function writ.fn_login_put(text,jsonb,text) to writ_admin;

-- function writ.fn_login_remove(p_login text, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 138c9d3b3699b1c7bbc5079d21dc5dc5
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_login_remove(text,text) to workflow_admin;
grant execute on function writ.fn_login_remove(text,text) to writ_admin;

-- function writ.fn_metrics() returns jsonb
--   plpgsql, stable, security definer; owner writ_owner; body 2589d925a5603de7fe13a5b648074aa1
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
--   plpgsql, volatile, security definer; owner writ_owner; body 2b0b0195c12a2893e4737543964b4838
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_mot_graph_emit(jsonb,jsonb,text,text) to dot_executor;
grant execute on function writ.fn_mot_graph_emit(jsonb,jsonb,text,text) to workflow_admin;
grant execute on function writ.fn_mot_graph_emit(jsonb,jsonb,text,text) to writ_producer;
grant execute on function writ.fn_mot_graph_emit(jsonb,jsonb,text,text) to writ_server;

-- function writ.fn_outbox_done(p_destination text, p_turn uuid, p_moves boolean, p_outcomes json, p_trouble text DEFAULT NULL::text, p_reason text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 5f8eae7c2e2bad258b0ff920950e3616
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan
grant execute on function writ.fn_outbox_done(text,uuid,boolean,json,text,text) to dot_executor;
grant execute on function writ.fn_outbox_done(text,uuid,boolean,json,text,text) to workflow_admin;
grant execute on function writ.fn_outbox_done(text,uuid,boolean,json,text,text) to writ_engine;

-- function writ.fn_outbox_read(p_xid xid8, p_batch_id uuid, p_types text[], p_tenant_id text DEFAULT NULL::text, p_limit integer DEFAULT 500, p_idle boolean DEFAULT false) returns json
--   plpgsql, volatile, security definer; owner writ_owner; body 66602f9db894211edbf147ea509301e6
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_outbox_read(xid8,uuid,text[],text,integer,boolean) to dot_executor;
grant execute on function writ.fn_outbox_read(xid8,uuid,text[],text,integer,boolean) to workflow_admin;
grant execute on function writ.fn_outbox_read(xid8,uuid,text[],text,integer,boolean) to writ_admin;
grant execute on function writ.fn_outbox_read(xid8,uuid,text[],text,integer,boolean) to writ_applier;
grant execute on function writ.fn_outbox_read(xid8,uuid,text[],text,integer,boolean) to writ_auditor;
grant execute on function writ.fn_outbox_read(xid8,uuid,text[],text,integer,boolean) to writ_engine;
grant execute on function writ.fn_outbox_read(xid8,uuid,text[],text,integer,boolean) to writ_producer;
grant execute on function writ.fn_outbox_read(xid8,uuid,text[],text,integer,boolean) to writ_server;
grant execute on function writ.fn_outbox_read(xid8,uuid,text[],text,integer,boolean) to writ_worker;

-- function writ.fn_outbox_replay(p_name text, p_events uuid[], p_since timestamp with time zone, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 0a9db7643c477fa6a4b907a26572a1d7
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_outbox_replay(text,uuid[],timestamp with time zone,text) to workflow_admin;
grant execute on function writ.fn_outbox_replay(text,uuid[],timestamp with time zone,text) to writ_admin;
grant execute on function writ.fn_outbox_replay(text,uuid[],timestamp with time zone,text) to writ_server;

-- function writ.fn_outbox_take(p_relay text, p_buses text[], p_limit integer DEFAULT 200) returns json
--   plpgsql, volatile, security definer; owner writ_owner; body 2bf51af60740027b98c0d24f3fc0acb7
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_outbox_take(text,text[],integer) to dot_executor;
grant execute on function writ.fn_outbox_take(text,text[],integer) to workflow_admin;
grant execute on function writ.fn_outbox_take(text,text[],integer) to writ_engine;

-- function writ.fn_permissions(p_tenant text, p_principals text[]) returns jsonb
--   plpgsql, stable, security definer; owner writ_owner; body 46612c0ad11496db3485497ae0478f2e
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
--   plpgsql, volatile, security definer; owner writ_owner; body a7e53ded679c55b62de13fc708ccdf90
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_principal_put(jsonb,text) to workflow_admin;
grant execute on function writ.fn_principal_put(jsonb,text) to writ_admin;

-- function writ.fn_probe_put(p_key text, p_probe jsonb, p_tenant_id text DEFAULT 'default'::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 4a825185b3820b1ce3698aa341d89aae
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_probe_put(text,jsonb,text) to dot_executor;
grant execute on function writ.fn_probe_put(text,jsonb,text) to workflow_admin;
grant execute on function writ.fn_probe_put(text,jsonb,text) to writ_principal;
grant execute on function writ.fn_probe_put(text,jsonb,text) to writ_server;

-- function writ.fn_probe_report(p_key text, p_report jsonb, p_tenant_id text DEFAULT 'default'::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 9be8641cc1af105f1e973a862947a5e5
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_probe_report(text,jsonb,text) to dot_executor;
grant execute on function writ.fn_probe_report(text,jsonb,text) to workflow_admin;
grant execute on function writ.fn_probe_report(text,jsonb,text) to writ_principal;
grant execute on function writ.fn_probe_report(text,jsonb,text) to writ_server;

-- function writ.fn_probes_report(p_reports jsonb, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body ab24138a5a51d56963831b3faf48b161
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_probes_report(jsonb,text) to dot_executor;
grant execute on function writ.fn_probes_report(jsonb,text) to workflow_admin;
grant execute on function writ.fn_probes_report(jsonb,text) to writ_applier;
grant execute on function writ.fn_probes_report(jsonb,text) to writ_engine;

-- function writ.fn_probes_take(p_limit integer, p_tenant_id text DEFAULT NULL::text, p_targets text[] DEFAULT NULL::text[], p_without text[] DEFAULT '{}'::text[]) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body c525fbeacc664ad9324b5cb09e4b76fa
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_probes_take(integer,text,text[],text[]) to dot_executor;
grant execute on function writ.fn_probes_take(integer,text,text[],text[]) to workflow_admin;
grant execute on function writ.fn_probes_take(integer,text,text[],text[]) to writ_applier;
grant execute on function writ.fn_probes_take(integer,text,text[],text[]) to writ_engine;

-- function writ.fn_queue_heartbeat(p_executor_id text, p_executor_kind text, p_domain_scope text[], p_cadence_seconds integer, p_kinds text[] DEFAULT '{}'::text[], p_idle_seconds double precision DEFAULT NULL::double precision, p_details jsonb DEFAULT '{}'::jsonb) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body bbc3b672fba2eaf526630e25e5e7d864
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_queue_heartbeat(text,text,text[],integer,text[],double precision,jsonb) to dot_executor;
grant execute on function writ.fn_queue_heartbeat(text,text,text[],integer,text[],double precision,jsonb) to workflow_admin;
grant execute on function writ.fn_queue_heartbeat(text,text,text[],integer,text[],double precision,jsonb) to writ_applier;
grant execute on function writ.fn_queue_heartbeat(text,text,text[],integer,text[],double precision,jsonb) to writ_engine;
grant execute on function writ.fn_queue_heartbeat(text,text,text[],integer,text[],double precision,jsonb) to writ_worker;

-- function writ.fn_queue_worker_leave(p_executor_id text) returns jsonb
--   sql, volatile, security definer; owner writ_owner; body d520dc1aa48cca6c85368fd04d096e60
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_queue_worker_leave(text) to dot_executor;
grant execute on function writ.fn_queue_worker_leave(text) to workflow_admin;
grant execute on function writ.fn_queue_worker_leave(text) to writ_applier;
grant execute on function writ.fn_queue_worker_leave(text) to writ_engine;
grant execute on function writ.fn_queue_worker_leave(text) to writ_worker;

-- function writ.fn_receipt_erase(p_receipt_id uuid, p_reason text, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 1efd85624854f170bea024ad19e05e1d
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_receipt_erase(uuid,text,text) to workflow_admin;
grant execute on function writ.fn_receipt_erase(uuid,text,text) to writ_admin;

-- function writ.fn_requests_rejected(p_host text, p_codes jsonb, p_from timestamp with time zone, p_to timestamp with time zone) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 87aee42de6489a30c795c76d423b8c09
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_requests_rejected(text,jsonb,timestamp with time zone,timestamp with time zone) to dot_executor;
grant execute on function writ.fn_requests_rejected(text,jsonb,timestamp with time zone,timestamp with time zone) to workflow_admin;
grant execute on function writ.fn_requests_rejected(text,jsonb,timestamp with time zone,timestamp with time zone) to writ_engine;

-- function writ.fn_rollback_retry(p_key text, p_job_id uuid) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 4603941803f0a6e46e3de4eb63c31608
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_rollback_retry(text,uuid) to dot_executor;
grant execute on function writ.fn_rollback_retry(text,uuid) to workflow_admin;
grant execute on function writ.fn_rollback_retry(text,uuid) to writ_principal;
grant execute on function writ.fn_rollback_retry(text,uuid) to writ_server;

-- function writ.fn_run_append(p_run_id uuid, p_event jsonb, p_actor text, p_tenant_id text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 56a5cfc2de937eae76cc5f51ff5ef149
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_run_append(uuid,jsonb,text,text) to dot_executor;
grant execute on function writ.fn_run_append(uuid,jsonb,text,text) to workflow_admin;
grant execute on function writ.fn_run_append(uuid,jsonb,text,text) to writ_engine;
grant execute on function writ.fn_run_append(uuid,jsonb,text,text) to writ_producer;

-- function writ.fn_run_changes(p_projector text, p_limit integer DEFAULT 500) returns json
--   plpgsql, volatile, security definer; owner writ_owner; body 9968fb5db475c3e5df67b6cb2aa7c907
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan
grant execute on function writ.fn_run_changes(text,integer) to dot_executor;
grant execute on function writ.fn_run_changes(text,integer) to workflow_admin;
grant execute on function writ.fn_run_changes(text,integer) to writ_engine;

-- function writ.fn_run_deliver(p_run_id uuid, p_event text, p_payload json, p_delivery_id text, p_actor text, p_tenant_id text DEFAULT NULL::text, p_denied text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 06647198656775faefb2962b9d8ebbf1
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_run_deliver(uuid,text,json,text,text,text,text) to dot_executor;
grant execute on function writ.fn_run_deliver(uuid,text,json,text,text,text,text) to workflow_admin;
grant execute on function writ.fn_run_deliver(uuid,text,json,text,text,text,text) to writ_producer;
grant execute on function writ.fn_run_deliver(uuid,text,json,text,text,text,text) to writ_server;

-- function writ.fn_run_dequeue_many(p_actor text, p_limit integer DEFAULT 100) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 4486ea368d540c0f7ea71eb12362aa4e
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan
grant execute on function writ.fn_run_dequeue_many(text,integer) to dot_executor;
grant execute on function writ.fn_run_dequeue_many(text,integer) to workflow_admin;
grant execute on function writ.fn_run_dequeue_many(text,integer) to writ_engine;

-- function writ.fn_run_project(p_turn uuid, p_snapshots json) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 52d461353bcd08bc9a0290f7d9b16354
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan
grant execute on function writ.fn_run_project(uuid,json) to dot_executor;
grant execute on function writ.fn_run_project(uuid,json) to workflow_admin;
grant execute on function writ.fn_run_project(uuid,json) to writ_engine;

-- function writ.fn_run_read_many(p_runs uuid[]) returns json
--   plpgsql, stable, security definer; owner writ_owner; body 89a832f3b27b49e9b1921f4911818d1f
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
--   plpgsql, volatile, security definer; owner writ_owner; body f080f0f8c8595af642ce0bb056cf8178
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_run_rebuild(uuid[],text) to workflow_admin;
grant execute on function writ.fn_run_rebuild(uuid[],text) to writ_admin;
grant execute on function writ.fn_run_rebuild(uuid[],text) to writ_server;

-- function writ.fn_run_signal(p_run_id uuid, p_signal jsonb, p_actor text, p_tenant_id text DEFAULT NULL::text, p_denied text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body d500721b3e037f88512f8de9d1aeb18d
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_run_signal(uuid,jsonb,text,text,text) to workflow_admin;
grant execute on function writ.fn_run_signal(uuid,jsonb,text,text,text) to writ_admin;
grant execute on function writ.fn_run_signal(uuid,jsonb,text,text,text) to writ_server;

-- function writ.fn_run_start_many(p_runs jsonb, p_actor text, p_tenant_id text DEFAULT 'default'::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 6a6123da5d720af57a7dfaf81ce6b8da
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
--   plpgsql, volatile, security definer; owner writ_owner; body 3798ffc1ba6a15fcb731f927d2968e5a
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_run_step_commit(uuid,uuid,json,text,jsonb) to dot_executor;
grant execute on function writ.fn_run_step_commit(uuid,uuid,json,text,jsonb) to workflow_admin;
grant execute on function writ.fn_run_step_commit(uuid,uuid,json,text,jsonb) to writ_applier;
grant execute on function writ.fn_run_step_commit(uuid,uuid,json,text,jsonb) to writ_worker;

-- function writ.fn_run_steps_succeed(p_tokens uuid[], p_positions integer[], p_jobs uuid[], p_runs uuid[], p_results text[], p_take boolean[], p_kinds text[], p_token uuid, p_lease_ttl_seconds double precision, p_holder text) returns json
--   plpgsql, volatile, security definer; owner writ_owner; body 4f982c403cdb71a289588aac8e98d728
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
--   plpgsql, volatile, security definer; owner writ_owner; body ccd7233ca80ddb12926839c38b730d10
--   set search_path=pg_catalog, pg_temp
--   set enable_seqscan=off
grant execute on function writ.fn_schedule_due(integer,timestamp with time zone,text,text) to dot_executor;
grant execute on function writ.fn_schedule_due(integer,timestamp with time zone,text,text) to workflow_admin;
grant execute on function writ.fn_schedule_due(integer,timestamp with time zone,text,text) to writ_engine;

-- function writ.fn_schedule_fire(p_due jsonb, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 7b8ea2a0fee032a253a48124b32e275b
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_schedule_fire(jsonb,text) to dot_executor;
grant execute on function writ.fn_schedule_fire(jsonb,text) to workflow_admin;
grant execute on function writ.fn_schedule_fire(jsonb,text) to writ_engine;

-- function writ.fn_schedule_pause(p_schedule text, p_actor text, p_tenant_id text DEFAULT 'default'::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body cb50306687d43a2a668c953af22b1417
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_schedule_pause(text,text,text) to workflow_admin;
grant execute on function writ.fn_schedule_pause(text,text,text) to writ_admin;
grant execute on function writ.fn_schedule_pause(text,text,text) to writ_server;

-- function writ.fn_schedule_put(p_schedule text, p_definition jsonb, p_next_tick timestamp with time zone, p_actor text, p_tenant_id text DEFAULT 'default'::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 8950a6b9befbcf2eb4b6d7f013343b12
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_schedule_put(text,jsonb,timestamp with time zone,text,text) to dot_executor;
grant execute on function writ.fn_schedule_put(text,jsonb,timestamp with time zone,text,text) to workflow_admin;
grant execute on function writ.fn_schedule_put(text,jsonb,timestamp with time zone,text,text) to writ_admin;
grant execute on function writ.fn_schedule_put(text,jsonb,timestamp with time zone,text,text) to writ_producer;
grant execute on function writ.fn_schedule_put(text,jsonb,timestamp with time zone,text,text) to writ_server;

-- function writ.fn_schedule_remove(p_schedule text, p_actor text, p_tenant_id text DEFAULT 'default'::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 93220f678392d71c2309b923befc076f
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_schedule_remove(text,text,text) to workflow_admin;
grant execute on function writ.fn_schedule_remove(text,text,text) to writ_admin;
grant execute on function writ.fn_schedule_remove(text,text,text) to writ_server;

-- function writ.fn_schedule_resume(p_schedule text, p_actor text, p_tenant_id text DEFAULT 'default'::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body afb72a293292465cb50ef95896e41929
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_schedule_resume(text,text,text) to workflow_admin;
grant execute on function writ.fn_schedule_resume(text,text,text) to writ_admin;
grant execute on function writ.fn_schedule_resume(text,text,text) to writ_server;

-- function writ.fn_schedule_run_now(p_schedule text, p_actor text, p_tenant_id text DEFAULT 'default'::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 584200d42f4d72e05e5c79150e01f552
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_schedule_run_now(text,text,text) to workflow_admin;
grant execute on function writ.fn_schedule_run_now(text,text,text) to writ_admin;
grant execute on function writ.fn_schedule_run_now(text,text,text) to writ_server;

-- function writ.fn_setting_set(p_key text, p_value jsonb, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 8a177dec1c7f2b49c587a1f189f8d66c
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_setting_set(text,jsonb,text) to workflow_admin;
grant execute on function writ.fn_setting_set(text,jsonb,text) to writ_admin;

-- function writ.fn_signal_record(p_key text, p_signal jsonb, p_tenant_id text DEFAULT 'default'::text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body f0f2b16f5988f15060e240b573fdbf20
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_signal_record(text,jsonb,text) to dot_executor;
grant execute on function writ.fn_signal_record(text,jsonb,text) to workflow_admin;
grant execute on function writ.fn_signal_record(text,jsonb,text) to writ_principal;
grant execute on function writ.fn_signal_record(text,jsonb,text) to writ_server;

-- function writ.fn_signals_settled(p_items jsonb) returns jsonb
--   plpgsql, stable, security definer; owner writ_owner; body abb53240c172ba68f1272ec27ce4878b
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
--   plpgsql, volatile, security definer; owner writ_owner; body 7319a51e7a5ba14843d1f4398d5fd444
--   set search_path=pg_catalog, pg_temp
--   set plan_cache_mode=force_generic_plan
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
grant execute on function writ.fn_signals_take(json,text,boolean) to dot_executor;
grant execute on function writ.fn_signals_take(json,text,boolean) to workflow_admin;
grant execute on function writ.fn_signals_take(json,text,boolean) to writ_producer;
grant execute on function writ.fn_signals_take(json,text,boolean) to writ_server;

-- function writ.fn_template_activate(p_key text, p_template_id uuid, p_params jsonb, p_content text, p_read jsonb DEFAULT '{}'::jsonb, p_id uuid DEFAULT NULL::uuid) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body 8478e08cd3580cf0789d75e6d2dbecea
--   set search_path=pg_catalog, pg_temp
grant execute on function writ.fn_template_activate(text,uuid,jsonb,text,jsonb,uuid) to dot_executor;
grant execute on function writ.fn_template_activate(text,uuid,jsonb,text,jsonb,uuid) to workflow_admin;
grant execute on function writ.fn_template_activate(text,uuid,jsonb,text,jsonb,uuid) to writ_applier;
grant execute on function writ.fn_template_activate(text,uuid,jsonb,text,jsonb,uuid) to writ_principal;
grant execute on function writ.fn_template_activate(text,uuid,jsonb,text,jsonb,uuid) to writ_server;

-- function writ.fn_tenant_weight_set(p_tenant_id text, p_weight double precision, p_actor text) returns jsonb
--   plpgsql, volatile, security definer; owner writ_owner; body d81612e8b92a288a4f4cb4d7a197bb91
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

-- function writ_data.abort(p_lease writ_data.job_lease, p_positions integer[], p_abort_kinds text[], p_codes text[], p_messages text[], p_at timestamp with time zone, OUT jobs uuid[], OUT counts integer[], OUT early integer) returns record
--   plpgsql, volatile; owner writ_owner; body 708e73ebb5e8250751f12fb7d3fc0b34
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.abort_jobs(p_lease_token uuid, p_positions integer[], p_abort_kinds text[], p_codes text[], p_messages text[], p_start_upto integer DEFAULT 0, p_actor text DEFAULT NULL::text) returns jsonb
--   plpgsql, volatile; owner writ_owner; body 47a1808a04ce9e0f9ff18c24e985b404

-- function writ_data.abort_one(p_job_id uuid, p_lease_token uuid, p_abort_kind text, p_error_code text, p_error_message text, p_actor text, p_by_gate boolean DEFAULT false) returns jsonb
--   plpgsql, volatile; owner writ_owner; body 0bb06e78c1e31de85663a76cd58e8478

-- function writ_data.activate_contracts(p_contracts uuid[], p_jobs uuid[], p_reads jsonb[], p_actor text, p_at timestamp with time zone) returns jsonb[]
--   plpgsql, volatile; owner writ_owner; body 56a15ea771f4afd85dc0f0d41025a793

-- function writ_data.activate_items(p_key text, p_items jsonb) returns jsonb[]
--   plpgsql, volatile; owner writ_owner; body c855823a89880df36177ed8f324d4c77

-- function writ_data.all_roles() returns text[]
--   sql, immutable; owner writ_owner; body d14a1d19cf884c1540041771bda520d1

-- function writ_data.allowance(p_kind text, p_key text, p_want integer, p_begin integer, p_taken integer, OUT jobs integer, OUT at timestamp with time zone, OUT again_ms double precision, OUT starts boolean) returns record
--   plpgsql, volatile; owner writ_owner; body 50aa50fd2ac05f2aa277887ee22479e7

-- function writ_data.append_events(p_runs uuid[], p_types text[], p_steps text[], p_attempts text[], p_engine_attempts integer[], p_data jsonb[], p_each smallint[], p_signal uuid, p_command text, p_actor text, p_at timestamp with time zone, p_jobs uuid[] DEFAULT NULL::uuid[], p_once boolean DEFAULT true) returns uuid
--   plpgsql, volatile; owner writ_owner; body dda2f3f6fe59294866fcda767a31a923
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.append_items(p_runs uuid[], p_seqs integer[], p_types text[], p_steps text[], p_attempts text[], p_engine_attempts integer[], p_data jsonb[], p_each smallint[], p_signal uuid, p_at timestamp with time zone, p_batch uuid) returns void
--   plpgsql, volatile; owner writ_owner; body 6be37461dfc3bc36fd1641cb6c8cbc58
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.append_receipts(p_entries text[], p_at timestamp with time zone, p_erasables jsonb DEFAULT NULL::jsonb) returns bigint[]
--   plpgsql, volatile; owner writ_owner; body f7e508fc3d97ed33ad7f65e200e2feb3
--   set plan_cache_mode=force_generic_plan

-- function writ_data.applied_by(p_job uuid) returns jsonb
--   sql, stable; owner writ_owner; body cbdf618e13925297cab6cbd9a9ea4cea

-- function writ_data.apply_changes(p_run uuid, p_first integer, p_last integer, p_read jsonb, p_actor text, p_at timestamp with time zone) returns jsonb[]
--   plpgsql, volatile; owner writ_owner; body 48818decba06dec4033de6b92ebaac93

-- function writ_data.apply_items(p_items jsonb, p_actor text) returns jsonb
--   plpgsql, volatile; owner writ_owner; body 35f7b6de0c9c6f78adf3d09567d052f5

-- function writ_data.approval_hash(p_contract uuid, p_content text, p_policy integer, p_pre_state text) returns bytea
--   sql, immutable; owner writ_owner; body f27bb262d422741d8338894ed470d6dd

-- function writ_data.approved_still(c writ_data.contract) returns text
--   plpgsql, stable; owner writ_owner; body 31bcf03c7cbc41dd716d5942ce3e8df7

-- function writ_data.as_jsonb(p_json json) returns jsonb
--   plpgsql, immutable; owner writ_owner; body 215d580b068ca2b5eac7dc7484b582a7

-- function writ_data.as_moment(p_text text) returns timestamp with time zone
--   plpgsql, stable; owner writ_owner; body 8c87b94646aabbe9d5f72cf9bf06f187

-- function writ_data.audit_checks(g writ_data.governance_job, c writ_data.contract, p_health jsonb, p_read jsonb, p_at timestamp with time zone) returns jsonb
--   plpgsql, stable; owner writ_owner; body 96e2feb884aef7b0402f44bc86773b7d

-- function writ_data.audit_items(p_items jsonb, p_actor text) returns jsonb
--   plpgsql, volatile; owner writ_owner; body e823843969181134f9a2efa346b94462

-- function writ_data.audit_of(g writ_data.governance_job, c writ_data.contract, p_read jsonb, p_at timestamp with time zone) returns jsonb
--   plpgsql, stable; owner writ_owner; body 83186b544f328fd40b7930caafb5ed59

-- function writ_data.await_audits(p_jobs uuid[], p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 31fbed7e160ff008119effe5258d9ead

-- function writ_data.batch_of(p_event_id uuid) returns uuid
--   sql, immutable; owner writ_owner; body 1b3f631d52568c593594defe59be90a2

-- function writ_data.begin_ending(p_run uuid, p_ending text, p_with jsonb, p_signal uuid, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body c897e444cf68258af6c25afca7f4d61f
--   set enable_seqscan=off

-- function writ_data.begin_runs(p_runs uuid[], p_command text, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 23f3d61da3da5fd433d732119c340105
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.begin_step(r writ_data.run, s writ_data.plan_step, p_attempt smallint, p_actor text, p_at timestamp with time zone) returns boolean
--   plpgsql, volatile; owner writ_owner; body dada62116dd4fdc5ccfef8695319c612
--   set enable_seqscan=off

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
--   plpgsql, volatile; owner writ_owner; body 7bb3e430c7af9369275bce4275d4cc54
--   set enable_seqscan=off

-- function writ_data.cancel_unleased(p_ready tid[], p_waiting uuid[], p_at timestamp with time zone) returns uuid[]
--   plpgsql, volatile; owner writ_owner; body 7fc51f4dfd6561333d36b12efc60ec8c
--   set enable_seqscan=off

-- function writ_data.canonical(p_value jsonb) returns text
--   plpgsql, immutable; owner writ_owner; body 60e0d5ad8c5dcd3d518def267c30ef93

-- function writ_data.change_target(p_tenant text, p_type text, p_target text, p_key text, p_expected jsonb, p_expected_version bigint, p_value jsonb, p_actor text, p_at timestamp with time zone, OUT as_expected boolean, OUT was jsonb, OUT found_version bigint, OUT written_version bigint) returns record
--   plpgsql, volatile; owner writ_owner; body 2737aaa2ee3b848199330e21a2506781

-- function writ_data.changes_made(p_made jsonb[], p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body cff40f81f4a367ec80c0059f10d6fbec

-- function writ_data.checked_snapshots(p_snapshots json) returns TABLE(run_id uuid, tenant_id text, last_seq integer, status text, snapshot json, stored_seq integer, missing integer)
--   plpgsql, stable; owner writ_owner; body 53ee44f53114fba215d7d78d91e20451
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.choose_lanes(p_kinds text[], p_floors smallint[], p_alone boolean, p_after text, p_limit integer, p_keyed boolean, p_tenant text, OUT lanes bigint[], OUT heads bigint[], OUT firsts bigint[], OUT tenants text[], OUT kinds text[], OUT keys text[], OUT quotas integer[], OUT limited boolean[], OUT priorities smallint[], OUT after text) returns record
--   plpgsql, stable; owner writ_owner; body 068950170389d6daa84cf6f808506dfc

-- function writ_data.clamped(p_number text, p_most bigint) returns numeric
--   sql, immutable; owner writ_owner; body 10cefa06b12e77bc4875efb3586b636a

-- function writ_data.clear_alert(p_code text, p_subject text, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body bbdb22b5dac785474ed046d52dfbaf7c

-- function writ_data.close_contracts(p_contracts uuid[], p_to text, p_reasons text[], p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body a33ea34b54a0543165422d677347b018

-- function writ_data.close_ended_steps(p_run uuid, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 58dd95442f4f1ccd191bb56fbca0e9e6
--   set enable_seqscan=off

-- function writ_data.close_lanes() returns void
--   plpgsql, volatile; owner writ_owner; body 4d402c6d67efd2137ba0856d0236c43e

-- function writ_data.commit_job(p_job_id uuid, p_lease_token uuid, p_actor text DEFAULT NULL::text, p_by_gate boolean DEFAULT false) returns jsonb
--   plpgsql, volatile; owner writ_owner; body b946cfa96854889b3ff8a1b9ac0e9e7b
--   set enable_seqscan=off

-- function writ_data.commit_leased(p_jobs uuid[], p_tokens uuid[], p_results text[], p_at timestamp with time zone) returns smallint[]
--   plpgsql, volatile; owner writ_owner; body 6d09fc944c0b5e2d00479baac819f2f8

-- function writ_data.consumer_jobs(p_consumers text[], p_since uuid[], p_event_ids uuid[], p_event_types text[], p_subjects text[]) returns TABLE(consumer text, jobs jsonb)
--   plpgsql, volatile; owner writ_owner; body 6d869e56ac50be7bad1775ea13365983
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.contract_due(p_contract uuid, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 61b30f84ba7f8bd6941d4e4805e6cf42

-- function writ_data.contract_receipt(p_contract uuid, p_status text, p_reason text, p_context jsonb, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 5bdf182ef694c4ce369d3bca8ee762b4

-- function writ_data.control_receipt(p_tenant text, p_control text, p_name text, p_was jsonb, p_now jsonb, p_by text, p_at timestamp with time zone) returns bigint
--   plpgsql, volatile; owner writ_owner; body 7cc34efca0f18b3973f9d7766e46b4f5

-- function writ_data.count_denials(p_tenant text, p_limit integer, p_at timestamp with time zone) returns integer
--   plpgsql, volatile; owner writ_owner; body 875d0f52eb63b5344b72415349c483e1

-- function writ_data.crash_count(p_crashes timestamp with time zone[], p_at timestamp with time zone) returns integer
--   sql, immutable; owner writ_owner; body 750d3278a9b441cd19cb89aa67fe723d

-- function writ_data.day_floor(p_day date) returns uuid
--   sql, immutable; owner writ_owner; body b5553ed13441a22432edb4f61e6d047d

-- function writ_data.defined_kind(p_standing writ_data.job_kind, p_kind text, p_definition jsonb) returns writ_data.job_kind
--   plpgsql, volatile; owner writ_owner; body 6d1c0fd3b8912fe10967006a74972333

-- function writ_data.deny(p_who writ_data.principal, p_right text, p_tenant text, p_code text, p_detail text, p_at timestamp with time zone) returns jsonb
--   plpgsql, volatile; owner writ_owner; body d3205758ceeb7117f7061def3abeb04f

-- function writ_data.eligibility(c writ_data.contract, p_policy jsonb, p_at timestamp with time zone) returns jsonb
--   plpgsql, stable; owner writ_owner; body 860938d413ff7694dfa10647b462da3f

-- function writ_data.end_governance_job(p_job uuid, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 95dacb1619197396b786038047a71d88

-- function writ_data.end_steps(p_jobs uuid[], p_results text[], p_attempts smallint[], p_command text, p_actor text, p_at timestamp with time zone, p_taker text DEFAULT NULL::text, p_take boolean[] DEFAULT NULL::boolean[], p_kinds text[] DEFAULT NULL::text[], OUT ended uuid[], OUT followed boolean, OUT due timestamp with time zone, OUT taken uuid[], OUT answers text[]) returns record
--   plpgsql, volatile; owner writ_owner; body 56a8bdfced77f20465d82bffa75c386f
--   set enable_seqscan=off

-- function writ_data.end_timers(p_jobs uuid[], p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body c451075f65496ad9c30fbe84b38cb1ed
--   set enable_seqscan=off

-- function writ_data.end_unleased(p_job_ids uuid[], p_attempts smallint[], p_execution_nos integer[], p_error_code text, p_error_message text, p_at timestamp with time zone) returns uuid[]
--   plpgsql, volatile; owner writ_owner; body f74bdeb1a4cab24749caf8521e051883

-- function writ_data.enqueue_alike(p_kind text, p_ids uuid[], p_inputs json, p_actor text, p_tenant_id text DEFAULT 'default'::text, p_priority smallint DEFAULT 0, p_atomic boolean DEFAULT false, p_traces text[] DEFAULT NULL::text[]) returns jsonb
--   plpgsql, volatile; owner writ_owner; body 1f8f77ab64f876d82d66491c691b6642
--   set plan_cache_mode=force_generic_plan

-- function writ_data.enqueue_each(p_jobs jsonb, p_actor text, p_tenant_id text, p_atomic boolean, p_by_gate boolean) returns jsonb
--   plpgsql, volatile; owner writ_owner; body fa41fd8e9a9d7e19bd756b2ece5f45a9

-- function writ_data.enqueue_governance(p_kind text, p_jobs uuid[], p_tenant text, p_actor text) returns void
--   plpgsql, volatile; owner writ_owner; body 86b30c7eec9c349648d546b35f562d20

-- function writ_data.enqueue_items(r writ_data.run, s writ_data.plan_step, p_attempt smallint, p_from integer, p_n integer, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 5996c818d2a33a63c7cc03d895566509
--   set enable_seqscan=off

-- function writ_data.enqueue_jobs(p_jobs jsonb, p_actor text, p_tenant_id text DEFAULT 'default'::text, p_atomic boolean DEFAULT false, p_by_gate boolean DEFAULT false) returns jsonb
--   plpgsql, volatile; owner writ_owner; body 41da064bc1063986308554679cc139a8
--   set enable_nestloop=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.enqueue_steps(p_runs uuid[], p_steps smallint[], p_places integer[], p_attempts smallint[], p_undo boolean[], p_inputs text[], p_actor text, p_at timestamp with time zone, p_taken boolean[] DEFAULT NULL::boolean[], OUT ids uuid[], OUT answers text[]) returns record
--   plpgsql, volatile; owner writ_owner; body 6851808e599c5d8cc00f114627431bbe
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.enqueue_unlike(p_kind text, p_ids uuid[], p_inputs json, p_actor text, p_tenant_id text, p_priority smallint, p_atomic boolean, p_traces text[], p_by_gate boolean DEFAULT false) returns jsonb
--   plpgsql, volatile; owner writ_owner; body ce98df76df0305e6076e0d604f42ae1e

-- function writ_data.entitlement_of(p_tenant text) returns jsonb
--   sql, stable; owner writ_owner; body 4bd70fadb292d8c932220c47b3b30db3

-- function writ_data.event_document(b writ_data.event_batch) returns text
--   sql, stable; owner writ_owner; body 8f10221bc8f6b7d667af853a2f4edfb8

-- function writ_data.evidence_of(p_tenant text, p_targets text[]) returns jsonb
--   plpgsql, stable; owner writ_owner; body e3734e3f6ddaacb4f36f6ba01b529602

-- function writ_data.evidence_text(p_evidence jsonb) returns text
--   sql, immutable; owner writ_owner; body 239b90184fcbaf81589ee4b3a197367a

-- function writ_data.fact_id(p_batch_id uuid, p_ordinal bigint) returns uuid
--   sql, immutable; owner writ_owner; body a468bfd41a56de8b0b3d2710aeb19bd2

-- function writ_data.fail_governance_job(p_job uuid, p_event text, p_reason text, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 81be2eea477e873aadea88444adfd569

-- function writ_data.failed_step(p_run uuid) returns text
--   plpgsql, stable; owner writ_owner; body 180e1ef231f3bea4d4ea67e35f7e5aa8
--   set enable_seqscan=off

-- function writ_data.fence_job(p_job_id uuid, p_actor text, p_at timestamp with time zone) returns boolean
--   plpgsql, volatile; owner writ_owner; body 41d477cd9465e72fec5ceacca08eb192

-- function writ_data.fill(p_template jsonb, p_run uuid, p_plan integer, p_input jsonb, p_item jsonb) returns jsonb
--   plpgsql, stable; owner writ_owner; body a445ba64d67512cc2b9971ba74e08cb8

-- function writ_data.filled(p_steps jsonb, p_params jsonb) returns jsonb
--   sql, immutable; owner writ_owner; body d11f7c0b560516b9cb0c805c81b873c1

-- function writ_data.filled_input(p_template jsonb, p_run uuid, p_plan integer, p_input jsonb, p_item jsonb) returns jsonb
--   plpgsql, stable; owner writ_owner; body a953b61659c494c05a88dae7a3933ee9

-- function writ_data.first_due(p_waiting jsonb) returns timestamp with time zone
--   sql, immutable; owner writ_owner; body 754a4278cd936ed5f15ea9d13aa91232

-- function writ_data.fix_approval(c writ_data.contract, p_policy integer, p_hash text, p_signature text, p_read jsonb) returns jsonb
--   plpgsql, volatile; owner writ_owner; body b9ed2ed41b5ca70138e7050b991e95e1

-- function writ_data.follow_review(c writ_data.contract, p_action text, p_reason text, p_policy jsonb, p_who text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 0d106f23fc2b695f609c46cd1f5892a6

-- function writ_data.forbidden_key(p_document jsonb) returns text
--   sql, immutable; owner writ_owner; body 4e8733d2462024bfbe36c38ccafdb97f

-- function writ_data.foreign_jobs(p_jobs uuid[], p_tenant text) returns boolean
--   sql, stable; owner writ_owner; body 0850cd3b303e0dc33569f390a9167162

-- function writ_data.glass_hash(p_contract uuid, p_content text, p_reason text) returns bytea
--   sql, immutable; owner writ_owner; body 0480fda9de5fcf1be6bf332a2e7bdcdb

-- function writ_data.governance_entry(p_tenant text, p_stream text, p_seq bigint, p_status text, p_reason text, p_context jsonb, p_at timestamp with time zone) returns text
--   plpgsql, volatile; owner writ_owner; body c057fc01424f9b442d92652f802a567a

-- function writ_data.governance_job_due(p_job uuid, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body b40fca66a72f3973006a8c3dbd5fbd0f

-- function writ_data.governance_policy_of(p_tenant text, OUT version integer, OUT document jsonb) returns record
--   sql, stable; owner writ_owner; body 6767ab01a90b4ff057189e0ddd0fd5b3

-- function writ_data.governance_receipt(p_tenant text, p_stream text, p_seq bigint, p_status text, p_reason text, p_context jsonb, p_at timestamp with time zone) returns bigint
--   plpgsql, volatile; owner writ_owner; body 649ec410addff205b406dd1ad95e59ab

-- function writ_data.governed_plan(p_steps jsonb, p_timeout_ms bigint, p_actor text) returns integer
--   plpgsql, volatile; owner writ_owner; body 72ab21e6a22b0f3c52c69553773a5823

-- function writ_data.governed_run_ended(p_job uuid, p_tenant text, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 8f42a133e381e393cc9b3761973446c2

-- function writ_data.governed_tenant(p_type text, p_subject uuid) returns text
--   sql, stable; owner writ_owner; body 34c23ec9f71a11c30a89bda748da55b2

-- function writ_data.governor_attempt(p_about jsonb, p_was jsonb, p_undoing jsonb, p_actor text, p_at timestamp with time zone) returns text
--   plpgsql, volatile; owner writ_owner; body bc6fb1cbc336cd0420d09ee449f62dbe

-- function writ_data.governor_bounds() returns jsonb
--   sql, stable; owner writ_owner; body 87ad9c7fb153b9716a301339ee1ccdc1

-- function writ_data.governor_effects(p_effects jsonb[], p_actor text, p_at timestamp with time zone) returns text
--   plpgsql, volatile; owner writ_owner; body b4efe98ba0f6760d358efb48d1c95e7c

-- function writ_data.governor_moves(p_from text, p_event text, p_to text) returns boolean
--   sql, immutable; owner writ_owner; body bcf3acb53e70f3b7753edb3881a3d68f

-- function writ_data.governor_of(p_tenant text, p_sku text) returns writ_data.governor
--   plpgsql, stable; owner writ_owner; body c2033d4d68512653a190dcf9ae481c5b

-- function writ_data.governor_writes(p_reason text, p_status text, p_terminal boolean) returns boolean
--   sql, immutable; owner writ_owner; body 65b1444e641d6e80cfb71f476daff335

-- function writ_data.has_role(p_login oid, p_role text) returns boolean
--   sql, stable; owner writ_owner; body 66b3378438657624a35226c990947512

-- function writ_data.health_block(p_tenant text, p_target text, p_max_age interval) returns text
--   plpgsql, stable; owner writ_owner; body 5025805be6fbb005e58aa3d63044875d

-- function writ_data.health_of(p_tenant text, p_only text DEFAULT NULL::text, p_max_age interval DEFAULT NULL::interval, p_since timestamp with time zone DEFAULT NULL::timestamp with time zone) returns TABLE(capability text, domain text, status text, why text, monitored boolean)
--   sql, stable; owner writ_owner; body 688aaa680d35ab6935d992cea09a039a

-- function writ_data.held_signals(p_data jsonb, p_waiting jsonb) returns TABLE(mail_seq bigint, arrival_seq bigint, n bigint)
--   sql, immutable; owner writ_owner; body 705b65039e496ca4554ef06203596010

-- function writ_data.holds(p_condition jsonb, p_run uuid, p_plan integer, p_input jsonb) returns boolean
--   plpgsql, stable; owner writ_owner; body d6bad584c4a992aa7d685608a4f06ab7

-- function writ_data.holds_signals(p_data jsonb, p_waiting jsonb) returns boolean
--   sql, immutable; owner writ_owner; body 6b2f91501235a69a0423b92c5784ca97

-- function writ_data.house(p_calls jsonb) returns void
--   plpgsql, volatile; owner writ_owner; body dadbee4587adacb0162deafffce2507d

-- function writ_data.is_condition(p_value jsonb, p_depth bigint) returns boolean
--   plpgsql, immutable; owner writ_owner; body 9986150ce843e846e45424e02b344d4c

-- function writ_data.is_instance(p_contract_id uuid, p_action_id text, p_first integer, p_last integer) returns boolean
--   sql, immutable; owner writ_owner; body c62bd5d62bd736432dc2a32b5b8bfc0b

-- function writ_data.is_reference(p_value jsonb) returns boolean
--   plpgsql, immutable; owner writ_owner; body 702b82fa4565a9cbafc9274affdad4fb

-- function writ_data.is_retry(p_value jsonb, p_most bigint) returns boolean
--   plpgsql, immutable; owner writ_owner; body 7521c0101db1a06d49476aa79930fae6

-- function writ_data.is_transient(p_sqlstate text) returns boolean
--   sql, immutable; owner writ_owner; body 41de1225e640eae2c8447dc1e988fbee

-- function writ_data.keep_governors(p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 2972648042d063a870c71511b92137cd

-- function writ_data.keep_partitions(p_actor text, p_at timestamp with time zone) returns integer
--   plpgsql, volatile; owner writ_owner; body 05065576e892683ca9fb2503e7ca78f0
--   set lock_timeout=200ms

-- function writ_data.keep_receipts(p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 75a55a0905977c3c02398258b5d969db

-- function writ_data.lanes_by_key(p_kinds text[], p_floors smallint[], p_alone boolean, p_after text, p_upto text, p_tenants integer, p_tenant text DEFAULT NULL::text, OUT lanes bigint[], OUT heads bigint[], OUT firsts bigint[], OUT tenants text[], OUT kinds text[], OUT keys text[], OUT limited boolean[], OUT priorities smallint[], OUT tenants_found integer, OUT last text) returns record
--   plpgsql, stable; owner writ_owner; body 0e97fcc64d2465638af131721281a12a

-- function writ_data.lease_fault(p_job uuid, p_token uuid) returns text
--   plpgsql, stable; owner writ_owner; body 29c824af76739f89b2c7a353f8c5b298

-- function writ_data.lease_position(p_lease_token uuid, p_job_id uuid) returns integer
--   sql, stable; owner writ_owner; body 3fdbe83fab1709f9ad8c0a5a0316aa7c

-- function writ_data.leases_told(p_tokens uuid[], p_leases integer) returns void
--   plpgsql, volatile; owner writ_owner; body d9a5e249f2db9dfe33d22b1d1d63cc42

-- function writ_data.leave_ready(p_job writ_data.job, OUT attempts smallint, OUT execution_no integer) returns record
--   plpgsql, volatile; owner writ_owner; body 704a86837e8b69f263e404a4969804ef
--   set enable_seqscan=off

-- function writ_data.lock_lease(p_lease_token uuid, p_to_remove boolean) returns writ_data.job_lease
--   plpgsql, volatile; owner writ_owner; body b4cd43c76aa1896c9aee4ebd661535be

-- function writ_data.lock_runs(p_runs uuid[]) returns void
--   plpgsql, volatile; owner writ_owner; body 7294c52ccce511beda29dc40254eac3a
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.log_after(p_xid xid8, p_event_id uuid, p_horizon xid8, p_since uuid, p_types text[], p_facts integer, OUT event_ids uuid[], OUT event_types text[], OUT subjects text[], OUT xid xid8, OUT event_id uuid, OUT more boolean) returns record
--   plpgsql, stable; owner writ_owner; body 48216c5bb7fc314050bdc32a12358dfb
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.login_document(p_login writ_data.login) returns jsonb
--   sql, immutable; owner writ_owner; body 88e3c71d4437ba0878cb159b825d0979

-- function writ_data.look_up(p_ids uuid[], p_attempts smallint[], p_nos integer[], p_answers text[]) returns text[]
--   plpgsql, stable; owner writ_owner; body d3b7a43a96e71b003555cb531a241bcc

-- function writ_data.make_governor_partition(p_month date) returns boolean
--   plpgsql, volatile; owner writ_owner; body e4ea630d971a9d040f2b419abb6d342e

-- function writ_data.make_partition(p_table text, p_day date) returns boolean
--   plpgsql, volatile; owner writ_owner; body 5501e08c3c2ed5686888c44129b5cca6

-- function writ_data.make_ready(p_jobs uuid[], p_kinds text[], p_tenants text[], p_limit_keys text[], p_priorities smallint[], p_alone boolean[], p_attempts smallint[], p_execution_nos integer[], p_deadlines timestamp with time zone[]) returns text[]
--   plpgsql, volatile; owner writ_owner; body 5c696b0e6e17d46362b89e7daad7eedc

-- function writ_data.make_receipt_partition(p_month date) returns boolean
--   plpgsql, volatile; owner writ_owner; body 39023e35c22b651f48132b117893f9dd

-- function writ_data.may(p_key text, p_right text, p_tenant text, OUT who writ_data.principal, OUT refusal jsonb) returns record
--   plpgsql, volatile; owner writ_owner; body 84dce7b340a8e34fe80b6bc6dad28e76

-- function writ_data.may_go_on(g writ_data.governance_job, c writ_data.contract, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 171d3ac8009ed88e1e5bca81ad89b10c

-- function writ_data.meter(p_kind text, p_key text, p_jobs integer, p_at timestamp with time zone) returns void
--   sql, volatile; owner writ_owner; body 46e6308e546fd795fb033865b6127527

-- function writ_data.move_contract(p_contract uuid, p_to text, p_reason text, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 1464f8fc65b9b594860df2a8d3c642de

-- function writ_data.move_contracts(p_contracts uuid[], p_to text, p_reasons text[], p_actor text, p_at timestamp with time zone, p_jobs uuid[] DEFAULT NULL::uuid[]) returns void
--   plpgsql, volatile; owner writ_owner; body a9e724a98a31250ee01eb1fc2a8d0ef0

-- function writ_data.move_governance_job(p_job uuid, p_path text[], p_event text, p_reason text, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 24005a6c5a0d09b93298db2293aec9b8

-- function writ_data.move_governance_jobs(p_jobs uuid[], p_path text[], p_event text, p_reason text, p_actor text, p_at timestamp with time zone, p_states bytea[] DEFAULT NULL::bytea[]) returns void
--   plpgsql, volatile; owner writ_owner; body 4bd9fc32e618a1cf459f5de45836166e

-- function writ_data.move_head(p_lane bigint, p_first bigint, p_safe bigint) returns void
--   sql, volatile; owner writ_owner; body efa24a38518743b025bfd46ccc077fb6

-- function writ_data.move_lists(p_run uuid, p_steps smallint[], p_actor text, p_at timestamp with time zone) returns smallint[]
--   plpgsql, volatile; owner writ_owner; body a68dd5da7f756fd4daba0363cc543ca3
--   set enable_seqscan=off

-- function writ_data.move_run(p_run uuid, p_steps smallint[], p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 246304637a03e5a9e2e0f31b560ca9e8
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.next_due_ms(p_at timestamp with time zone) returns numeric
--   sql, stable; owner writ_owner; body 3fc3e492b381b2b197a00c1096b06a78

-- function writ_data.next_seq(p_log text, p_stream text, p_n integer) returns bigint
--   sql, volatile; owner writ_owner; body fd9122957f99ed6efd84a4abf49f52fb

-- function writ_data.not_committable(p_job_id uuid, p_detail text) returns void
--   plpgsql, volatile; owner writ_owner; body fe4ea92b82b75b408904102ff2525fa0

-- function writ_data.old_value_conflict(p_tenant text, p_steps jsonb) returns text
--   plpgsql, stable; owner writ_owner; body a595cb2d71aaf063dbde37f38442b301

-- function writ_data.open_incident(p_tenant text, p_capability text, p_severity text, p_subject text, p_summary text, p_actor text, p_at timestamp with time zone) returns uuid
--   plpgsql, volatile; owner writ_owner; body 392c5aeeb15ec9355a774a914258b20d

-- function writ_data.open_lane(p_kind text, p_tenant text, p_limit_key text, p_priority smallint, p_alone boolean) returns bigint
--   plpgsql, volatile; owner writ_owner; body db78f171ecd9ed49268064b8fab6f6a3

-- function writ_data.open_steps(p_run uuid) returns TABLE(step_id text, attempt smallint, step_no smallint, type text, job_id uuid)
--   sql, stable; owner writ_owner; body fa9117d083b94ec6fc0c10fc423b171e

-- function writ_data.outbox_event(p_id uuid, p_type text, p_subject uuid, p_tenant text, p_at timestamp with time zone, p_actor text, p_seq integer, p_step text, p_attempt text, p_engine_attempt integer, p_data jsonb, p_details jsonb, p_trace text) returns text
--   sql, stable; owner writ_owner; body 8ecb23e14bbf3d097299b4355846eff6

-- function writ_data.outbox_fact(p_event uuid) returns TABLE(type text, subject uuid, run_seq integer, tenant text)
--   plpgsql, stable; owner writ_owner; body 83dad6fe0a0f72d07f1e623f3c143f2b
--   set enable_seqscan=off

-- function writ_data.outbox_patterns(p_types text[]) returns text[]
--   sql, immutable; owner writ_owner; body 674fd0f27275392eea64074d626b7c9a

-- function writ_data.outbox_retries(p_destination text, p_limit integer, p_at timestamp with time zone) returns text
--   plpgsql, volatile; owner writ_owner; body 1084032555299f1b2982981356174c66
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.outbox_since(p_since timestamp with time zone) returns xid8
--   sql, stable; owner writ_owner; body dbd5a905fb33950238915f084e04d4dc

-- function writ_data.outbox_window(p_xid xid8, p_batch uuid, p_types text[], p_tenant text, p_limit integer, p_events integer, OUT events text, OUT xid xid8, OUT batch_id uuid, OUT more boolean, OUT oldest timestamp with time zone, OUT subjects uuid[]) returns record
--   plpgsql, stable; owner writ_owner; body b622cac4aa6338822249dd202d4f5975
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.over_limit(p_runs jsonb, p_tenant text, p_bound text, p_at timestamp with time zone, OUT places integer[], OUT policies text[], OUT times timestamp with time zone[]) returns record
--   plpgsql, volatile; owner writ_owner; body ca56d52911c4747e72349fdda5ff7ba5
--   set enable_seqscan=off

-- function writ_data.pause_run(p_run uuid, p_reason text, p_signal uuid, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body fb43a453a97ae52b02bb0702ddf9c203

-- function writ_data.permitted_kinds(p_kinds text[], p_executor text, OUT kinds text[], OUT skipped jsonb, OUT timeout_s double precision) returns record
--   plpgsql, stable; owner writ_owner; body c34ad8bc75658cb6d86571290a5de0c6

-- function writ_data.plan_limit(p_name text) returns bigint
--   sql, immutable; owner writ_owner; body f5f132459b5273bd0d45d53a8fdc25ae

-- function writ_data.principal_of(p_key text) returns SETOF writ_data.principal
--   plpgsql, stable; owner writ_owner; body 7897110354df5e9bbbe7e08a761abf88

-- function writ_data.probes_of(p_tenant text, p_targets text[]) returns jsonb
--   sql, stable; owner writ_owner; body b9b8a386fb5b6b04b315135f7119ad7e

-- function writ_data.promote(p_jobs uuid[], p_at timestamp with time zone) returns integer
--   plpgsql, volatile; owner writ_owner; body b1af4e754837b9889b23f9916b4a2751
--   set enable_seqscan=off

-- function writ_data.promote_due(p_actor text, p_at timestamp with time zone) returns integer
--   plpgsql, volatile; owner writ_owner; body 53eb26576c05d057f9f699ddc2f70a4e
--   set enable_seqscan=off

-- function writ_data.proposals_limited(p_who writ_data.principal, p_at timestamp with time zone) returns jsonb
--   plpgsql, volatile; owner writ_owner; body b3bef6212e96c5dada2a722eccdf9628

-- function writ_data.put_mail(p_governors uuid[], p_contents jsonb[], p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 95eaa81228f43cd1f51f7109cadeded1

-- function writ_data.put_scope(p_tenant text, p_item jsonb, p_new boolean, p_who text, p_at timestamp with time zone) returns jsonb
--   plpgsql, volatile; owner writ_owner; body b21065d3081df226a915a0a2101b6031

-- function writ_data.put_signal(p_tenant text, p_type text, p_scope text, p_decision text, p_reason text, p_expires_at timestamp with time zone, p_actor text, p_at timestamp with time zone, p_constraints jsonb DEFAULT NULL::jsonb) returns uuid
--   plpgsql, volatile; owner writ_owner; body 58208838095c93eb083ef8e779268c67

-- function writ_data.quota_of(p_tenant text, p_at timestamp with time zone) returns jsonb
--   sql, stable; owner writ_owner; body 7c9188f608a3f533d4ac758db102ed95

-- function writ_data.raise_alert(p_code text, p_severity text, p_tenant text, p_subject text, p_detail jsonb, p_actor text, p_at timestamp with time zone) returns boolean
--   plpgsql, volatile; owner writ_owner; body b03f6910bd5df8f96f05f0ca2dc67495

-- function writ_data.ready_to_activate(p_key text, p_contract uuid, p_job uuid, p_read jsonb, p_break_glass text, p_signature text, p_at timestamp with time zone, OUT actor text, OUT answer jsonb) returns record
--   plpgsql, volatile; owner writ_owner; body ec5a5a0aaaa89032853650976960020f

-- function writ_data.reap(p_lease writ_data.job_lease, p_positions integer[], p_actor text, p_at timestamp with time zone) returns integer[]
--   plpgsql, volatile; owner writ_owner; body e092ada932f4e07fdfca6434cb995ed8

-- function writ_data.reap_leases(p_actor text) returns jsonb
--   plpgsql, volatile; owner writ_owner; body fe1f6a5ce60a30f0939319f23dc43855

-- function writ_data.record(p_command text, p_actor text, p_at timestamp with time zone, p_subjects uuid[], p_types text[], p_first integer[], p_last integer[], p_details jsonb DEFAULT NULL::jsonb, p_note text DEFAULT NULL::text) returns uuid
--   plpgsql, volatile; owner writ_owner; body c6e4a8ae1a17087f79e518c8a3b519e4

-- function writ_data.record_abort(p_command text, p_actor text, p_at timestamp with time zone, p_jobs uuid[], p_counts integer[], p_started uuid[] DEFAULT '{}'::uuid[], p_details jsonb DEFAULT NULL::jsonb) returns void
--   plpgsql, volatile; owner writ_owner; body 04bf9a55e727f219f10cc8162bb4e9aa

-- function writ_data.record_jobs(p_jobs uuid[], p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 8e432976d72d966e5e8d025470be54ec

-- function writ_data.record_step_signal(g writ_data.governance_job, c writ_data.contract, p_parameters jsonb, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body b1f1e230981ebfe7bc92a5afce880541

-- function writ_data.references_only(p_data jsonb) returns boolean
--   sql, immutable; owner writ_owner; body d9b0131546f027de843a0d8e2a731aff

-- function writ_data.refusal(p_reason text, p_detail text DEFAULT NULL::text) returns jsonb
--   sql, immutable; owner writ_owner; body 58b4b7c68bc7725ad8502a197dc40c80

-- function writ_data.refuse_change() returns trigger
--   plpgsql, volatile; owner writ_owner; body f91c4f881f0636fc9b02b2ec3318fced
--   set search_path=pg_catalog, pg_temp

-- function writ_data.register_plan(p_document text, p_sha256 text, p_tenant text, p_actor text, p_own boolean) returns jsonb
--   plpgsql, volatile; owner writ_owner; body 0cc8604184be63bb4cc90c712ef72d5e

-- function writ_data.relay_idle(p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body e7af019fa1ccfc8b2ba298136d7d1a6e

-- function writ_data.release_limits(p_lease_token uuid, p_jobs uuid[]) returns void
--   sql, volatile; owner writ_owner; body 865195284b1a2498eab5e4d13b8425b2

-- function writ_data.report_silent(p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body eb8ae1f85a04855facb39316bfbd6fe7
--   set enable_seqscan=off

-- function writ_data.reported(p_report jsonb) returns jsonb
--   plpgsql, immutable; owner writ_owner; body e2913f8e0815245ea38951939a8e7472

-- function writ_data.reserved_kind(p_kind text) returns boolean
--   sql, immutable; owner writ_owner; body b594ab016c204ba66da4eb27063aa5fe

-- function writ_data.resume_if_settled(p_run uuid, p_signal uuid, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body f36bf4e45711c2258fed50b32beac221
--   set enable_seqscan=off

-- function writ_data.resume_run(p_run uuid, p_signal uuid, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 47add47f41e904fffb0dc5dfad483c3d
--   set enable_seqscan=off

-- function writ_data.retire_day(p_day date) returns bigint
--   plpgsql, volatile; owner writ_owner; body 36fc625ecd95e0ad653453b39114ceea

-- function writ_data.retire_days(p_actor text, p_at timestamp with time zone) returns integer
--   plpgsql, volatile; owner writ_owner; body b9728fccb2056cfe0d0f1d2b15dec713
--   set lock_timeout=100ms

-- function writ_data.retire_runs(p_at timestamp with time zone) returns text
--   plpgsql, volatile; owner writ_owner; body 54bc71082cd8f78e4f45f335675a7297

-- function writ_data.revert_changes(g writ_data.governance_job, c writ_data.contract, p_first integer, p_last integer, p_read jsonb, p_actor text, p_at timestamp with time zone) returns jsonb[]
--   plpgsql, volatile; owner writ_owner; body 807091ebb21092a8dde9f399ab70cb84

-- function writ_data.role_holders(p_role text) returns text[]
--   sql, immutable; owner writ_owner; body 6bbef57ab2dc175caf0538cca943bced

-- function writ_data.roles_of(p_login name) returns text[]
--   sql, stable; owner writ_owner; body 3104d2796c38651d0300f0047df18228

-- function writ_data.rollback_failed(p_job uuid, p_reason text, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body d4ed7f01b3440dc1404a901925cf1eb7

-- function writ_data.root_at(p_log text, p_size bigint) returns bytea
--   plpgsql, stable; owner writ_owner; body e739be25bd809a6fe65694a97e8c589f

-- function writ_data.run_event_document(p_run uuid, p_seq integer, p_type text, p_step text, p_attempt text, p_engine_attempt integer, p_data text, p_signal uuid, p_at timestamp with time zone) returns text
--   sql, stable; owner writ_owner; body af74c0f8ff724d5d84d75ddc9a42494d

-- function writ_data.run_event_leaf(p_run uuid, p_seq integer, p_type text, p_step text, p_attempt text, p_engine_attempt integer, p_data text, p_signal uuid, p_at timestamp with time zone) returns bytea
--   sql, stable; owner writ_owner; body 57a420cf65d3d3075f87f8d412cbbdea

-- function writ_data.run_value(p_run uuid, p_plan integer, p_input jsonb, p_item jsonb, p_ref text) returns jsonb
--   plpgsql, stable; owner writ_owner; body 00c6ed3a8f125bb2c93a0120d7640575
--   set enable_seqscan=off

-- function writ_data.schedule_job(p_schedule writ_data.schedule, p_tick timestamp with time zone) returns jsonb
--   plpgsql, volatile; owner writ_owner; body 91daaf141dce1d59703dba0d22b9cb3a

-- function writ_data.schedule_job_refusal(p_schedule writ_data.schedule, p_actor text) returns jsonb
--   plpgsql, volatile; owner writ_owner; body ab63732de4a2d439c287a0d4622f74ff

-- function writ_data.seal_events(p_rows integer, p_at timestamp with time zone) returns integer
--   plpgsql, volatile; owner writ_owner; body 2e1e4d5d3a5e1df24d8476e87e8b28e8
--   set enable_seqscan=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.sequence_receipts(p_limit integer, p_at timestamp with time zone, p_fresh boolean) returns integer
--   plpgsql, volatile; owner writ_owner; body 310a4e63ae6d2867bad78361bb08a9ea
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.set_aside(p_subject text, p_tenant text, p_sqlstate text, p_error text, p_actor text, p_at timestamp with time zone) returns boolean
--   plpgsql, volatile; owner writ_owner; body 2a9f5935f2b5da72d5be6426a6ef0167

-- function writ_data.set_governance_aside(p_sort text, p_id uuid, p_tenant text, p_error text, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body f1cb3b83dae123f81ae9c31239b0fbb6

-- function writ_data.set_run_aside(p_run uuid, p_code text, p_message text, p_actor text, p_at timestamp with time zone) returns boolean
--   plpgsql, volatile; owner writ_owner; body 10b244386869b941f0357544eeb86d60
--   set enable_seqscan=off

-- function writ_data.setting(p_key text) returns jsonb
--   sql, stable; owner writ_owner; body 3c6b41b0fe305b59d7791f95f7979f9d

-- function writ_data.settle_audits(p_jobs uuid[], p_verdict text, p_reasons text[], p_checks jsonb[], p_evidence jsonb[], p_health jsonb[], p_resolved_by text, p_actor text, p_started timestamp with time zone, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 91620529b90be0ea1e73914dee9181d2

-- function writ_data.settle_lease(p_lease writ_data.job_lease, p_may_remove boolean, p_ended uuid[], p_early integer, p_start_upto integer, p_at timestamp with time zone, OUT started_upto integer, OUT started uuid[]) returns record
--   plpgsql, volatile; owner writ_owner; body 2787b015f3a1340032780559f44ee635
--   set enable_seqscan=off

-- function writ_data.shaped_uuid(p_hash bytea, p_version integer) returns uuid
--   sql, immutable; owner writ_owner; body 4dfab988533d3d697d8825287ff8244f

-- function writ_data.signal_is_well_formed(p_id text, p_signal jsonb) returns boolean
--   sql, immutable; owner writ_owner; body 2aa89ee65de7ee742cd17a937457aa33

-- function writ_data.slots(p_steps jsonb) returns TABLE(step_no integer, step_type text, target text, slot text, key text, value jsonb)
--   sql, immutable; owner writ_owner; body ef2ce8086d6fb45b3a9c72b893224f27

-- function writ_data.stands_ready(p_job writ_data.job) returns boolean
--   sql, stable; owner writ_owner; body 801e723271f4f9fd2c3c844a8c98cc36

-- function writ_data.start_governance_jobs(p_jobs uuid[], p_contracts uuid[], p_kind text, p_of uuid[], p_steps jsonb[], p_states bytea[], p_event text, p_reason text, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 011433a5e930b1956798560f6c719681

-- function writ_data.start_queued(p_runs uuid[], p_actor text, p_at timestamp with time zone) returns uuid[]
--   plpgsql, volatile; owner writ_owner; body 78315454f8be33639c2d4c284e474441
--   set enable_seqscan=off

-- function writ_data.start_steps(p_jobs uuid[], p_execution_nos integer[], p_worker text, p_at timestamp with time zone, OUT held integer[], OUT over integer[]) returns record
--   plpgsql, volatile; owner writ_owner; body 05c42217f718bde8d5093ea4899fd3ec
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.started_upto(p_lease writ_data.job_lease) returns integer
--   sql, immutable; owner writ_owner; body 3c6a39a8dc646de15fa91a27e4b3503f

-- function writ_data.state_hash(p_state jsonb) returns bytea
--   sql, immutable; owner writ_owner; body 6ba465ab4ad2757cd2c5057ebfe199e2

-- function writ_data.state_of(p_tenant text, p_steps jsonb, p_read jsonb DEFAULT '{}'::jsonb) returns jsonb
--   sql, stable; owner writ_owner; body 800e38c81b18c38f88b32c707296d4a5

-- function writ_data.step_begun(p_run uuid, p_step writ_data.plan_step) returns boolean
--   sql, stable; owner writ_owner; body 6214dc7a647a550d7d9c2d0a3fda16a4

-- function writ_data.step_failed(p_run uuid, p_step smallint, p_code text, p_message text, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body de314ce24a7e0b49fc382bff626f3d7e
--   set enable_seqscan=off

-- function writ_data.step_input(p_template jsonb, p_run uuid, p_plan integer, p_input jsonb, p_item jsonb) returns text
--   sql, stable; owner writ_owner; body 04a8c1879b842cd70ab7c37588065126

-- function writ_data.step_label(p_run uuid, p_step smallint, p_place integer, p_attempt smallint, p_undo boolean) returns text
--   sql, stable; owner writ_owner; body 998a2c3d24b0db2bc138287133743232

-- function writ_data.step_name(p_run uuid, p_step_id text, p_step smallint, p_place integer, p_attempt smallint, p_undo boolean) returns text
--   sql, stable; owner writ_owner; body d0bbddbfba2f7b576a339f7694d32abb

-- function writ_data.step_stands(p_run uuid, p_step_id text) returns text
--   sql, stable; owner writ_owner; body 998862ad775b43ef091986686d0c2298

-- function writ_data.steps_allowed(g writ_data.governance_job, c writ_data.contract, p_first integer, p_last integer) returns void
--   plpgsql, stable; owner writ_owner; body de7772a8b4f6b3840e2844d33f9b0752

-- function writ_data.steps_committed(p_jobs uuid[], p_command text, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 0d6aa8841cddb73cc79b07ab4e362960
--   set enable_seqscan=off

-- function writ_data.steps_ended(p_jobs uuid[], p_results text[], p_attempts smallint[], p_command text, p_actor text, p_at timestamp with time zone, p_taker text DEFAULT NULL::text, p_take boolean[] DEFAULT NULL::boolean[], p_kinds text[] DEFAULT NULL::text[], p_artifacts jsonb DEFAULT NULL::jsonb, OUT ended uuid[], OUT followed boolean, OUT due timestamp with time zone, OUT taken uuid[], OUT answers text[]) returns record
--   plpgsql, volatile; owner writ_owner; body b428b77ad98faba808f7fafac1460e49
--   set enable_seqscan=off
--   set enable_hashjoin=off
--   set enable_mergejoin=off
--   set plan_cache_mode=force_generic_plan

-- function writ_data.steps_failed(p_jobs uuid[], p_codes text[], p_messages text[], p_attempts integer[], p_command text, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body e718d4d180aa4a6a07c5304bafb9d51e
--   set enable_seqscan=off

-- function writ_data.steps_gone(p_jobs uuid[], p_command text, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body c213ca36a19343a3b4bb634569918e3b
--   set enable_seqscan=off

-- function writ_data.steps_of(p_step_id text, OUT first integer, OUT last integer) returns record
--   sql, immutable; owner writ_owner; body 0c703169295fcbe1fa8f6bfdc76a7dc4

-- function writ_data.steps_straight(p_tokens uuid[], p_positions integer[], p_jobs uuid[], p_runs uuid[], p_results text[], p_take boolean[], p_kinds text[], p_lo uuid, p_hi uuid, p_leases integer, p_max_bytes integer, p_max_attempts smallint, p_token uuid, p_ttl double precision, p_timeout double precision, p_holder text, p_only text, p_at timestamp with time zone, OUT usual boolean, OUT ended uuid[], OUT answers text, OUT going integer) returns record
--   plpgsql, volatile; owner writ_owner; body ace9c297bce5b2bb5da2a547d875ab2d

-- function writ_data.steps_to_undo(p_job uuid) returns jsonb
--   sql, stable; owner writ_owner; body 2596d1a0a9119b44e2374ef43aa820c3

-- function writ_data.streams_go_on(p_destination text, p_streams uuid[], p_at timestamp with time zone) returns void
--   sql, volatile; owner writ_owner; body f4ac00a18ed6af3d2a514db3763bd9ee

-- function writ_data.submit_contract(p_contract uuid, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 2e92b30f950a1698bb30c20abbd61d0c

-- function writ_data.subscribed_kinds(p_holder text, p_lease_name text, p_kinds text[]) returns TABLE(job_kind text, priority_floor smallint)
--   plpgsql, stable; owner writ_owner; body 574706e5016a65d2f42878ffeb31fde0

-- function writ_data.system_health(p_tenant text) returns text
--   sql, stable; owner writ_owner; body d92fb475ba44230a816ac43b7088d00d

-- function writ_data.system_receipt(p_reason text, p_stream text, p_context jsonb, p_at timestamp with time zone) returns bigint
--   plpgsql, volatile; owner writ_owner; body 0eaa0d81394f0a808485e5105978a4c3

-- function writ_data.take(p_lane bigint, p_head bigint, p_jobs integer, p_at timestamp with time zone, p_kind text, p_tenant text, p_priority smallint, OUT ids uuid[], OUT attempts smallint[], OUT nos integer[], OUT answers text[], OUT rows_taken integer, OUT stepped boolean, OUT late_ids uuid[], OUT late_attempts smallint[], OUT late_nos integer[]) returns record
--   plpgsql, volatile; owner writ_owner; body 6f9c53860a4950d759e7e94e288b2fa9

-- function writ_data.take_delivery(p_run uuid, s writ_data.plan_step, p_attempt smallint, p_job uuid, d writ_data.run_delivery, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body f7378740eba6c4e551589edde38205d0

-- function writ_data.take_turn(p_name text) returns boolean
--   plpgsql, volatile; owner writ_owner; body 4a9d69371172b55105d9a66ab5999fea

-- function writ_data.tell_flags() returns void
--   sql, volatile; owner writ_owner; body 2d2bfd7cd4bf87c3f06d05a826200cf9

-- function writ_data.timers_due(p_actor text, p_at timestamp with time zone) returns integer
--   plpgsql, volatile; owner writ_owner; body 65b0b9c806f51ce06ba206c8e0f09c2d
--   set enable_seqscan=off

-- function writ_data.tree_grow(p_size bigint, p_frontier bytea, p_leaves bytea, OUT frontier bytea, OUT nodes bytea[]) returns record
--   plpgsql, immutable; owner writ_owner; body 088904ce947a5b3ef7f0a129d755a1fb

-- function writ_data.tree_root(p_frontier bytea) returns bytea
--   plpgsql, immutable; owner writ_owner; body 32f1167572ce93ba886f60fbfee151d0

-- function writ_data.turn_away(p_ids uuid[], p_attempts smallint[], p_nos integer[], p_answers text[], p_held integer[], p_over integer[], p_actor text, p_at timestamp with time zone, OUT ids uuid[], OUT attempts smallint[], OUT nos integer[], OUT answers text[]) returns record
--   plpgsql, volatile; owner writ_owner; body 44b8f6cf6fb9f3c7fa679d91ea0cd7ad

-- function writ_data.upkeep(p_at timestamp with time zone, p_actor text) returns void
--   plpgsql, volatile; owner writ_owner; body c1e42f7e1c1d63cf8e232f0738c02ac3

-- function writ_data.uuid_floor(p_at timestamp with time zone) returns uuid
--   sql, stable; owner writ_owner; body afa7114d50b46e1a1477eefb9b508687

-- function writ_data.uuid_in(p_item jsonb, p_key text) returns uuid
--   sql, immutable; owner writ_owner; body bc38f60016c908edb404bc8fb369a296

-- function writ_data.uuidv7() returns uuid
--   sql, volatile; owner writ_owner; body d56d9118ed39e6c31106baf180ace93f

-- function writ_data.visible(p_tenant_id text) returns boolean
--   plpgsql, stable; owner writ_owner; body 9b38c220fd0743aafc1401325a3800e1

-- function writ_data.void_contract(p_contract uuid, p_reason text, p_actor text, p_at timestamp with time zone) returns uuid
--   plpgsql, volatile; owner writ_owner; body 6e5f42e6622e59455909c629b0ea8de5

-- function writ_data.wake(p_kinds text[], p_at timestamp with time zone) returns boolean
--   plpgsql, volatile; owner writ_owner; body 89d65d037fd07240f8cb714c29caeb8b

-- function writ_data.wake_relays(p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body fe1f63ac6495aa15f948818e33f826ef

-- function writ_data.watch_pauses(p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 8f4e94080798ebd313fb532da493e57e
--   set enable_seqscan=off

-- function writ_data.watch_ready() returns void
--   plpgsql, volatile; owner writ_owner; body 12dc5fa2de7bd8e5d039833ed5d2f524

-- function writ_data.whole_within(p_value jsonb, p_from bigint, p_to bigint) returns boolean
--   sql, immutable; owner writ_owner; body 3a6765cf83159a82323eb9b5f9468347

-- function writ_data.wind_up(p_run uuid, p_actor text, p_at timestamp with time zone) returns void
--   plpgsql, volatile; owner writ_owner; body 3ba08ec78ec3b926ab3824ac701307b5
--   set enable_seqscan=off

-- function writ_data.within(p_value jsonb, p_bounds jsonb) returns boolean
--   sql, immutable; owner writ_owner; body 07f28f2fca5f4f4222672c84ad0c12cb

-- function writ_data.workflow_known(p_workflow_id uuid, p_tenant_id text) returns boolean
--   plpgsql, stable; owner writ_owner; body 395f80d7be631d826271b611a5a89d83

-- function writ_data.writes_ready(p_writers text[]) returns boolean
--   plpgsql, volatile; owner writ_owner; body 5aa6f43d05f930593b3331ab8e5ea053

-- function writ_data.wrong_with(p_tenant text, p_scope text[], p_steps jsonb, OUT code text, OUT detail text) returns record
--   plpgsql, stable; owner writ_owner; body 376be14f83620bc55b8a1d3ea1d00200

-- function writ_data.wrong_with_governor(p_governor_id uuid, p_tenant text, p_sku text, p_policy jsonb, p_was jsonb, p_data jsonb, p_waiting jsonb, p_ms bigint) returns text
--   plpgsql, stable; owner writ_owner; body 6f83f1a61707c5ec2fedc6e7db0d5436
--   set enable_seqscan=off

-- function writ_data.wrong_with_kind(p_kind writ_data.job_kind) returns text
--   sql, immutable; owner writ_owner; body 55d231671f383a945df7a6bc79a302f9

-- function writ_data.wrong_with_plan(p_plan jsonb, p_own boolean) returns text
--   plpgsql, stable; owner writ_owner; body fb2e754a5970b744202f731e4c65c981

-- function writ_data.wrong_with_step(p_step jsonb) returns text
--   plpgsql, immutable; owner writ_owner; body 4de1f4e7c72deec71ff892b5987848ee

-- function writ_data.wrong_with_template(p_content jsonb) returns text
--   sql, immutable; owner writ_owner; body 84cb360ad900f12af1d55af8c1b26570

-- settings
--   governance.agent.open_contracts = 50
--   governance.agent.proposals_per_hour = 60
--   governance.audit.timeout_sec = 300
--   governance.denials_per_minute = 10
--   governance.evidence_max_age_ms = 5000
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
--   runs.admission.retry_after_sec = 5
--   runs.pause.drain_sec = 300
--   runs.projector.lag_alert_sec = 5
--   runs.retention_sec = 7776000
--   runs.signal.max_bytes = 65536
--   runs.signal.per_minute = 60
