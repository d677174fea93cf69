-- Governance: who may act (principals), what they may change (capabilities and configuration), what
-- was approved (contracts), its execution (governance jobs, done as runs), and what is known of
-- health. A contract's row moves with its state; the steps of a governance job are rows that are
-- written with their effects. What an auditor needs is in the ledger, in one stream per contract.

-- Principals --------------------------------------------------------------------------------------

create table writ_data.principal (
  principal_id text primary key,
  tenant_id    text,
  kind         text not null,
  on_behalf_of text references writ_data.principal,
  rights       text[] not null,
  auth_sha256  bytea not null,
  public_key   bytea not null,
  added_by     text not null,
  added_at     timestamptz not null,
  disabled_at  timestamptz,
  permissions  text[] not null default '{}',
  constraint principal_is_a_name check (principal_id ~ '^[A-Za-z0-9][A-Za-z0-9_.@-]{0,99}$'),
  constraint kind_is_known check (kind in ('person', 'service', 'agent')),
  constraint an_agent_acts_for_somebody check ((kind = 'agent') = (on_behalf_of is not null)),
  constraint rights_are_known
    check (rights <@ '{view,propose,approve,activate,operate,report,break_glass,produce,audit,'
      'administer}'),
  constraint only_persons_approve check (kind = 'person' or not rights && '{approve,break_glass}'),
  constraint agents_only_propose check (kind <> 'agent' or rights <@ '{view,propose}'),
  constraint keys_have_their_size
    check (octet_length(auth_sha256) = 32 and octet_length(public_key) = 32),
  constraint permissions_are_names check (
    array_to_string(permissions, '') !~ '[^A-Za-z0-9_.:/@-]'
    and array_to_string(permissions, ' ') ~ '^([A-Za-z0-9][A-Za-z0-9_.:/@-]{0,99}( |$))*$'
    and cardinality(permissions) <= 100)
);
comment on table writ_data.principal is
  'Who acts. The database knows the hash of what authenticates a principal and the public key '
  'that its approvals are signed with; both come from one key, which it never sees.';
comment on column writ_data.principal.tenant_id is 'Null: in every tenant.';
comment on column writ_data.principal.permissions is
  'What it may have done by a governor: names that the actions of policies require.';

create table writ_data.api_key (
  key_id        text primary key,
  principal_id  text not null references writ_data.principal,
  tenant_id     text,
  rights        text[],
  label         text not null,
  secret_sha256 bytea not null,
  expires_at    timestamptz not null,
  added_by      text not null,
  added_at      timestamptz not null,
  last_used_at  timestamptz,
  revoked_at    timestamptz,
  constraint key_id_is_random check (key_id ~ '^[0-9a-f]{16}$'),
  constraint tenant_has_its_size check (length(tenant_id) between 1 and 200),
  constraint label_has_its_size check (length(label) <= 200),
  constraint secret_has_its_size check (octet_length(secret_sha256) = 32),
  constraint key_is_valid_for_a_time check (
    expires_at > added_at and expires_at <= added_at + interval '3660 days')
);
comment on table writ_data.api_key is
  'Keys by which the API server authenticates principals. No key signs anything.';
comment on column writ_data.api_key.tenant_id is 'Null: each tenant of its principal.';
comment on column writ_data.api_key.rights is
  'What it is narrowed to; its principal must have the right, too. Null: each right of that.';
create index api_key_of_principal on writ_data.api_key (principal_id, added_at);
create index api_key_by_time on writ_data.api_key (added_at, key_id);

create table writ_data.denial (
  principal_id text not null references writ_data.principal,
  minute       timestamptz not null,
  login_tenant text not null,
  tenant_id    text not null,
  denials      integer not null,
  receipts     integer not null,
  primary key (principal_id, minute, login_tenant)
);
create index denial_by_minute on writ_data.denial (minute);
comment on table writ_data.denial is
  'How often a principal was denied in a minute, in any tenant, and how many of these denials have '
  'a receipt of their own. The clockwork counts the others in one receipt when the minute is over.';
comment on column writ_data.denial.login_tenant is
  'The tenant that the login is bound to; empty for a login of all tenants.';
comment on column writ_data.denial.tenant_id is
  'Whose log the first of them is in; the receipt that counts the others goes there, too.';

-- What is changed ---------------------------------------------------------------------------------

create table writ_data.capability (
  tenant_id       text not null,
  capability_name text not null,
  domain          text not null default 'default',
  lifecycle       text not null default 'DISABLED',
  version         bigint not null default 1,
  monitored       boolean not null default false,
  frozen          text,
  disqualified    text,
  updated_by      text not null,
  updated_at      timestamptz not null,
  primary key (tenant_id, capability_name),
  constraint capability_is_a_name
    check (capability_name ~ '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$'
      and upper(capability_name) <> 'SYSTEM'),
  constraint lifecycle_is_known
    check (lifecycle in ('DISABLED', 'PREVIEW', 'LAUNCHED', 'DEPRECATED')),
  constraint texts_have_a_size
    check (length(domain) between 1 and 200 and length(frozen) <= 1000
      and length(disqualified) <= 1000)
);
comment on column writ_data.capability.monitored is
  'It has probes or reported signals, without which it is unhealthy; otherwise it is healthy by '
  'declaration.';
comment on column writ_data.capability.frozen is 'Why it may not be changed; null: it may.';

create table writ_data.configuration_scope (
  tenant_id        text not null,
  scope            text not null,
  owner_capability text not null,
  primary key (tenant_id, scope),
  foreign key (tenant_id, owner_capability) references writ_data.capability,
  constraint scope_is_a_name
    check (scope ~ '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$' and upper(scope) <> 'SYSTEM')
);

create table writ_data.configuration (
  tenant_id  text not null,
  scope      text not null,
  key        text not null,
  value      jsonb not null,
  version    bigint not null,
  updated_by text not null,
  updated_at timestamptz not null,
  primary key (tenant_id, scope, key),
  foreign key (tenant_id, scope) references writ_data.configuration_scope,
  constraint key_has_a_size check (length(key) <= 200),
  constraint value_has_a_size check (octet_length(value::text) <= 65536)
);
comment on table writ_data.configuration is
  'Values that applications read. A value that was taken away has no row.';

create sequence writ_data.target_version;
comment on sequence writ_data.target_version is
  'Versions of capabilities and values: each is written once, so a change by another hand shows, '
  'also one that was changed back.';

-- Contracts ---------------------------------------------------------------------------------------

create table writ_data.governance_policy (
  tenant_id    text not null,
  version      integer not null,
  document     jsonb not null,
  published_by text not null,
  published_at timestamptz not null,
  primary key (tenant_id, version)
);
comment on table writ_data.governance_policy is
  'How many must approve what, which sources may propose, and how long things may take. Versions '
  'do not change; an approval is of one of them.';

create table writ_data.contract (
  contract_id         uuid primary key,
  tenant_id           text not null,
  version             integer not null default 1,
  status              text not null,
  status_reason       text,
  issue_id            text,
  source              text not null,
  title               text not null,
  description         text not null default '',
  content             text not null,
  scope_hash          bytea not null,
  scope               text[] not null,
  steps               jsonb not null,
  risk_level          text not null,
  confidence          numeric(3, 2) not null,
  validator_verdict   jsonb,
  eligibility_verdict jsonb,
  policy_version      integer not null,
  pre_state           text,
  round               integer not null default 1,
  not_after           timestamptz,
  approval_hash       bytea,
  created_by          text not null,
  on_behalf_of        text,
  approved_by         text[] not null default '{}',
  approved_at         timestamptz,
  escalated_by        text,
  glass_broken        text,
  window_start        timestamptz,
  window_end          timestamptz,
  window_hours        numeric,
  constraints         jsonb not null default '{}',
  audit_verdict       text,
  audit_reason        text,
  audit_completed_at  timestamptz,
  job_id              uuid,
  parent_contract_id  uuid,
  template            jsonb,
  template_id         uuid references writ_data.contract,
  template_params     jsonb,
  review_due_at       timestamptz,
  clock_stopped_at    timestamptz,
  due_at              timestamptz,
  created_at          timestamptz not null,
  updated_at          timestamptz not null,
  expires_at          timestamptz not null,
  receipts            bigint not null default 0,
  constraint status_is_known
    check (status in ('DRAFT', 'VALIDATED', 'ELIGIBLE', 'APPROVED', 'ACTIVE', 'COMPLETED', 'FAILED',
      'REJECTED', 'EXPIRED')),
  constraint source_is_known
    check (source in ('crm_feedback', 'support_ticket', 'ops_alert', 'manual')),
  constraint title_has_a_size
    check (length(title) between 1 and 200 and length(description) <= 4000),
  constraint risk_is_known check (risk_level in ('critical', 'high', 'medium', 'low')),
  constraint confidence_is_a_share check (confidence between 0 and 1),
  constraint content_is_what_its_hash_says check (scope_hash = sha256(convert_to(content, 'UTF8'))),
  constraint approved_by_somebody
    check (status not in ('APPROVED', 'ACTIVE', 'COMPLETED') or cardinality(approved_by) > 0
      or glass_broken is not null),
  constraint active_has_a_job check (status not in ('ACTIVE', 'COMPLETED') or job_id is not null),
  constraint completed_is_audited check (status <> 'COMPLETED' or audit_verdict = 'PASS'),
  constraint verdict_is_known check (audit_verdict in ('PENDING', 'PASS', 'FAIL', 'INCONCLUSIVE')),
  constraint an_instance_has_parameters check ((template_id is null) = (template_params is null)),
  constraint window_is_legal
    check (window_end is null or template is not null
      or window_end - window_start between interval '1 hour' and interval '168 hours')
);
comment on table writ_data.contract is
  'What somebody wants to have changed, and how far that has come. content is the canonical JSON '
  'of scope and steps: what is approved, byte by byte.';
comment on column writ_data.contract.pre_state is
  'The values of its targets as the first signature of this round fixed them, as JSON text.';
comment on column writ_data.contract.round is
  'Counts what voids all signatures so far: a revocation, a clarification that moves not_after, '
  'another pre-state or policy. A signature of an earlier round never counts again.';
comment on column writ_data.contract.not_after is
  'When its last forward step may begin: the end of the review and the window after it; of a '
  'template, its expiry. Set when the contract becomes ELIGIBLE.';
comment on column writ_data.contract.approval_hash is
  'The hash of the document that approvals of this round sign (contract_document). Null: nobody '
  'has signed in this round.';
comment on column writ_data.contract.template is
  'Set: it is not executed itself; its instances are, within these bounds. template_id and '
  'template_params: it is such an instance.';
comment on column writ_data.contract.due_at is
  'When something has to be looked at, though nobody asks: expiry, the times of a review, the end '
  'of the window.';
create index contract_by_tenant on writ_data.contract (tenant_id, contract_id);
create index contract_due on writ_data.contract (due_at) where due_at is not null;
create index contract_open
  on writ_data.contract (tenant_id, status)
  where status not in ('COMPLETED', 'FAILED', 'REJECTED', 'EXPIRED');
create index contract_by_template
  on writ_data.contract (template_id, contract_id) where template_id is not null;
create index contract_by_agent
  on writ_data.contract (created_by, created_at) where on_behalf_of is not null;
create index contract_open_by_agent
  on writ_data.contract (created_by)
  where on_behalf_of is not null
    and status not in ('COMPLETED', 'FAILED', 'REJECTED', 'EXPIRED');
create index contract_by_content on writ_data.contract (tenant_id, scope_hash, created_at);
create index contract_by_status on writ_data.contract (status, contract_id);
create index contract_by_proposer on writ_data.contract (created_by, contract_id);
create index contract_templates on writ_data.contract (contract_id) where template is not null;

create table writ_data.contract_history (
  contract_id uuid not null references writ_data.contract,
  version     integer not null,
  from_status text not null,
  to_status   text not null,
  reason      text not null,
  by          text not null,
  at          timestamptz not null,
  primary key (contract_id, version)
);

create table writ_data.contract_review (
  contract_id uuid not null references writ_data.contract,
  review_no   integer not null,
  action      text not null,
  by          text not null,
  reason      text,
  hash        bytea,
  scheme      text,
  signature   bytea,
  public_key  bytea,
  at          timestamptz not null,
  primary key (contract_id, review_no),
  constraint action_is_known
    check (action in ('APPROVE', 'REVOKE', 'REJECT', 'REQUEST_CLARIFICATION', 'CLARIFY',
      'MODIFY_SCOPE', 'ESCALATE', 'BREAK_GLASS')),
  constraint an_approval_is_signed
    check (action not in ('APPROVE', 'BREAK_GLASS') or octet_length(hash) = 32
      and octet_length(signature) = 64 and octet_length(public_key) = 32 and scheme is not null),
  constraint scheme_is_known check (scheme = 'ed25519')
);
create unique index a_signature_is_kept_once
  on writ_data.contract_review (contract_id, by, hash, signature) where action = 'APPROVE';

create table writ_data.contract_document (
  contract_id uuid not null references writ_data.contract,
  hash        bytea not null,
  document    text not null,
  kept_at     timestamptz not null,
  primary key (contract_id, hash),
  constraint hash_is_of_the_document check (hash = sha256(convert_to(document, 'UTF8')))
);
comment on table writ_data.contract_document is
  'What was signed, byte by byte, as the clients of the signers have sent it. Nobody builds these '
  'bytes again.';

create table writ_data.contract_verdict (
  contract_id uuid not null,
  review_no   integer not null,
  verdict     text not null,
  login       name not null,
  trust       text not null,
  at          timestamptz not null,
  primary key (contract_id, review_no),
  foreign key (contract_id, review_no) references writ_data.contract_review,
  constraint verdict_is_known check (verdict in ('valid', 'wrong')),
  constraint trust_is_named check (trust = 'database' or trust ~ '^[0-9a-f]{64}$')
);
comment on table writ_data.contract_verdict is
  'Whether a signature is what it claims to be, as an applier has found. PostgreSQL cannot check '
  'Ed25519, so a signature without a verdict counts for nothing.';
comment on column writ_data.contract_verdict.trust is
  'Which keys it was compared with: the SHA-256 of the applier''s trust file, or: database.';

create table writ_data.contract_read (
  contract_id  uuid not null references writ_data.contract,
  step_type    text not null,
  job_id       uuid not null,
  requested_by text not null,
  requested_at timestamptz not null,
  due_at       timestamptz not null,
  primary key (contract_id, step_type)
);
create unique index contract_read_by_job on writ_data.contract_read (job_id);
comment on table writ_data.contract_read is
  'The last request to read the values outside the database that steps of one type change. job_id '
  'is the queue job, which an applier with that step type takes; while it is open, nobody requests '
  'another.';
comment on column writ_data.contract_read.due_at is
  'When the read may begin: governance.read.interval_ms after the one before it.';

create table writ_data.contract_value (
  contract_id uuid not null references writ_data.contract,
  slot        text not null,
  value       jsonb,
  code        text,
  detail      text,
  job_id      uuid not null,
  login       name not null,
  read_at     timestamptz not null,
  primary key (contract_id, slot),
  constraint a_value_or_an_error check ((value is null) = (code is not null)),
  constraint value_has_a_size check (octet_length(value::text) <= 65536),
  constraint an_error_has_a_size check (length(code) <= 100 and length(detail) <= 1000)
);
comment on table writ_data.contract_value is
  'What an applier read last at each place outside the database that a contract changes, or why it '
  'could not. A value that is not there is JSON null. A newer read replaces the row.';

create table writ_data.target_hold (
  tenant_id   text not null,
  target      text not null,
  contract_id uuid not null references writ_data.contract,
  taken_at    timestamptz not null,
  primary key (tenant_id, target)
);
create index target_hold_by_contract on writ_data.target_hold (contract_id);

create table writ_data.freeze (
  freeze_id   uuid primary key,
  tenant_id   text not null,
  reason      text not null,
  begins_at   timestamptz not null,
  ends_at     timestamptz not null default 'infinity',
  put_by      text not null,
  lifted_at   timestamptz,
  lifted_by   text,
  constraint freeze_has_a_reason check (btrim(reason) <> '' and length(reason) <= 1000),
  constraint freeze_ends_after_it_begins check (ends_at > begins_at),
  constraint freeze_is_on_the_calendar check (
    writ_data.within_times(begins_at)
    and (ends_at = 'infinity' or writ_data.within_times(ends_at)))
);
create index freeze_by_tenant on writ_data.freeze (tenant_id) where lifted_at is null;

-- Governance jobs ---------------------------------------------------------------------------------

create table writ_data.governance_job (
  job_id             uuid primary key,
  tenant_id          text not null,
  contract_id        uuid not null references writ_data.contract,
  kind               text not null,
  of_job_id          uuid references writ_data.governance_job,
  version            integer not null default 1,
  status             text not null,
  status_reason      text,
  run_id             uuid not null,
  executor_id        text,
  refused_step       integer,
  refusal            text,
  total_steps        integer not null,
  done_steps         integer not null default 0,
  max_duration_ms    bigint not null,
  scope_hash         bytea not null,
  state_before       bytea not null,
  state_after        bytea,
  health_before      jsonb,
  rollback_job_id    uuid references writ_data.governance_job,
  rollback_reason    text,
  audit_id           uuid,
  audit_verdict      text,
  audits             smallint not null default 0,
  due_at             timestamptz,
  started_at         timestamptz,
  completed_at       timestamptz,
  created_at         timestamptz not null,
  updated_at         timestamptz not null,
  receipts           bigint not null default 0,
  constraint kind_is_known check (kind in ('forward', 'rollback')),
  constraint a_rollback_is_of_a_job check ((kind = 'rollback') = (of_job_id is not null)),
  constraint status_is_known
    check (status in ('PENDING', 'RUNNING', 'COMPLETED', 'FAILED', 'CANCELLED', 'AUDIT_PENDING',
      'ROLLBACK_PENDING', 'ROLLED_BACK', 'ROLLBACK_FAILED')),
  constraint completed_means_audited check (status <> 'COMPLETED' or audit_verdict = 'PASS'),
  constraint steps_are_counted check (done_steps between 0 and total_steps),
  constraint duration_is_at_most_thirty_days check (max_duration_ms between 1 and 2592000000)
);
comment on column writ_data.governance_job.refused_step is
  'Which of several steps that are done together was refused last, and why (refusal). None of them '
  'was done.';
create unique index one_forward_job_per_contract
  on writ_data.governance_job (contract_id) where kind = 'forward';
create unique index governance_job_by_run on writ_data.governance_job (run_id);
create index governance_job_by_tenant on writ_data.governance_job (tenant_id, job_id);
create index governance_job_by_status on writ_data.governance_job (status, job_id);
create index governance_job_by_contract on writ_data.governance_job (contract_id, job_id);
create index governance_job_by_executor
  on writ_data.governance_job (executor_id, job_id) where executor_id is not null;
create index governance_job_by_time on writ_data.governance_job (created_at);
create index governance_job_of on writ_data.governance_job (of_job_id) where of_job_id is not null;
create index governance_job_open
  on writ_data.governance_job (tenant_id, status)
  where status in ('PENDING', 'RUNNING', 'AUDIT_PENDING');
create index governance_job_due on writ_data.governance_job (due_at) where due_at is not null;
create index governance_job_undone
  on writ_data.governance_job (tenant_id, created_at) where kind = 'rollback';

create table writ_data.governance_ended (
  job_id   uuid primary key references writ_data.governance_job,
  ended_at timestamptz not null,
  due_at   timestamptz not null
);
create index governance_ended_due on writ_data.governance_ended (due_at);
comment on table writ_data.governance_ended is
  'Governance jobs whose run has ended without completing, until they have failed and their '
  'rollback exists. The transaction that ends the run writes the row.';

create table writ_data.governance_job_history (
  job_id      uuid not null references writ_data.governance_job,
  version     integer not null,
  from_status text not null,
  to_status   text not null,
  event       text not null,
  reason      text,
  by          text not null,
  at          timestamptz not null,
  primary key (job_id, version)
);

create table writ_data.governance_step (
  job_id          uuid not null references writ_data.governance_job,
  step_no         integer not null,
  step_type       text not null,
  target          text not null,
  parameters      jsonb not null,
  found           jsonb,
  applied         jsonb,
  found_version   bigint,
  written_version bigint,
  rollback_action jsonb,
  evidence        jsonb not null,
  of_step_no      integer,
  receipt_no      bigint,
  began_at        timestamptz not null,
  done_at         timestamptz,
  error           text,
  watched_ms      bigint not null default 0,
  looked_at       timestamptz,
  primary key (job_id, step_no),
  constraint a_step_that_is_done_has_no_error check (done_at is null or error is null)
);
comment on table writ_data.governance_step is
  'A step of a governance job that has begun: what was found, how it is undone, and, when it is '
  'done, what was written. found and applied are slot → value; a value that is not there is JSON '
  'null.';
comment on column writ_data.governance_step.error is
  'Of a rollback: why the step did not restore its target, while the steps after it did theirs.';
comment on column writ_data.governance_step.watched_ms is
  'How long a soak has been watched, added up from look to look. looked_at is the last look by the '
  'clock of that moment; a jump of the clock adds nothing.';

create table writ_data.governance_audit (
  audit_id        uuid primary key,
  tenant_id       text not null,
  job_id          uuid not null references writ_data.governance_job,
  contract_id     uuid not null references writ_data.contract,
  verdict         text not null,
  verdict_reason  text not null,
  checks          jsonb not null,
  evidence        jsonb not null,
  health_before   jsonb,
  health_after    jsonb,
  auditor_version text not null,
  duration_ms     integer not null,
  supersedes      uuid references writ_data.governance_audit,
  resolved_by     text,
  acknowledged_by text,
  created_at      timestamptz not null,
  constraint verdict_is_known check (verdict in ('PASS', 'FAIL', 'INCONCLUSIVE'))
);
create index governance_audit_by_job on writ_data.governance_audit (job_id, audit_id);
create index governance_audit_by_contract on writ_data.governance_audit (contract_id, audit_id);
create index governance_audit_by_tenant on writ_data.governance_audit (tenant_id, audit_id);
create index governance_audit_by_verdict on writ_data.governance_audit (verdict, audit_id);

-- Health ------------------------------------------------------------------------------------------

create table writ_data.governance_signal (
  signal_id     uuid primary key,
  tenant_id     text not null,
  signal_type   text not null,
  scope         text not null,
  decision      text not null,
  reason        text not null,
  constraints   jsonb,
  recorded_by   text not null,
  recorded_at   timestamptz not null,
  expires_at    timestamptz,
  superseded_by uuid,
  superseded_at timestamptz,
  constraint decision_is_known
    check (decision in ('CLEAN', 'BLOCKED', 'WARN', 'PENDING', 'EXECUTING')),
  constraint signal_ends_on_the_calendar check (writ_data.within_times(expires_at))
);
create unique index a_signal_stands_once
  on writ_data.governance_signal (tenant_id, scope, signal_type) where superseded_at is null;
create index governance_signal_by_tenant on writ_data.governance_signal (tenant_id, signal_id);
create index governance_signal_by_scope on writ_data.governance_signal (scope, signal_id);

create table writ_data.probe (
  tenant_id   text not null,
  name        text not null,
  capability  text not null,
  type        text not null,
  config      jsonb not null,
  every_ms    integer not null,
  timeout_ms  integer not null,
  status      text,
  detail      text,
  checked_at  timestamptz,
  due_at      timestamptz not null default '-infinity',
  put_by      text not null,
  put_at      timestamptz not null,
  primary key (tenant_id, name),
  foreign key (tenant_id, capability) references writ_data.capability,
  constraint probe_is_a_name check (name ~ '^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,199}$'),
  constraint type_is_known check (type in ('http', 'sql', 'prometheus', 'heartbeat', 'reported')),
  constraint status_is_known check (status in ('HEALTHY', 'DEGRADED', 'UNHEALTHY')),
  constraint times_are_sensible
    check (every_ms between 100 and 86400000 and timeout_ms between 10 and 60000)
);
create index probe_by_capability on writ_data.probe (tenant_id, capability);
create index probe_due on writ_data.probe (due_at) where type in ('http', 'sql', 'prometheus');

create table writ_data.probe_asked (
  tenant_id text not null,
  name      text not null,
  login     name not null,
  asked_at  timestamptz not null,
  primary key (tenant_id, name, login),
  foreign key (tenant_id, name) references writ_data.probe on delete cascade
);
comment on table writ_data.probe_asked is
  'Which logins were handed a probe to ask, and when: only they may report its answer.';

create table writ_data.incident (
  incident_id uuid primary key,
  tenant_id   text not null,
  capability  text,
  severity    text not null,
  subject     text not null,
  summary     text not null,
  opened_by   text not null,
  opened_at   timestamptz not null,
  resolved_by text,
  resolved_at timestamptz,
  resolution  text,
  constraint severity_is_known check (severity in ('P1', 'P2', 'P3')),
  constraint capability_has_a_size check (length(capability) <= 200),
  constraint resolved_by_somebody check ((resolved_at is null) = (resolved_by is null))
);
create index incident_open on writ_data.incident (tenant_id, capability) where resolved_at is null;
create index incident_by_tenant on writ_data.incident (tenant_id, incident_id);

-- Guards, and what others read --------------------------------------------------------------------

create trigger contract_history_is_written_once
  before update or delete on writ_data.contract_history
  for each row execute function writ_data.refuse_change();
create trigger contract_review_is_written_once
  before update or delete on writ_data.contract_review
  for each row execute function writ_data.refuse_change();
create trigger contract_document_is_written_once
  before update or delete on writ_data.contract_document
  for each row execute function writ_data.refuse_change();
create trigger contract_verdict_is_written_once
  before update or delete on writ_data.contract_verdict
  for each row execute function writ_data.refuse_change();
create trigger governance_job_history_is_written_once
  before update or delete on writ_data.governance_job_history
  for each row execute function writ_data.refuse_change();
create trigger governance_policy_is_written_once
  before update or delete on writ_data.governance_policy
  for each row execute function writ_data.refuse_change();

insert into writ_data.job_kind (job_kind, max_attempts, backoff_base_s, backoff_cap_s, timeout_s,
  registered_by) values
  ('governance.change', 10, 0.2, 30, 300, 'migration'),
  ('governance.soak', 100, 0.2, 30, 604800, 'migration'),
  ('governance.audit', 10, 0.2, 30, 300, 'migration'),
  ('governance.verify', 100, 0.2, 30, 300, 'migration'),
  ('governance.ended', 100, 0.2, 30, 300, 'migration');

insert into writ_data.event_type_registry (event_type, event_domain, event_stream, event_severity,
  description) values
  ('governance.contract_moved', 'governance', 'review', 'info',
    'A contract has another status.'),
  ('governance.contract_reviewed', 'governance', 'review', 'info',
    'Somebody has said something about a contract.'),
  ('governance.job_moved', 'governance', 'task', 'info',
    'A governance job has another status.'),
  ('governance.change_applied', 'governance', 'update', 'info',
    'Steps of a governance job have changed their targets.'),
  ('governance.change_reverted', 'governance', 'update', 'warning',
    'Steps of a rollback have restored their targets.'),
  ('governance.audited', 'governance', 'review', 'info',
    'A governance job was audited.'),
  ('health.signal_recorded', 'health', 'health', 'info',
    'A signal about health was recorded.'),
  ('health.incident_opened', 'health', 'health', 'critical',
    'An incident is open.'),
  ('health.incident_resolved', 'health', 'health', 'info',
    'An incident is resolved.');

insert into writ_data.dot_config (key, value, minimum, maximum, whole, description) values
  ('governance.evidence_max_age_ms', '5000', 100, 60000, true,
    'How old the answer of a probe may be when a step relies on it.'),
  ('governance.audit.timeout_sec', '300', 1, 86400, false,
    'How long an audit may take before it counts as inconclusive.'),
  ('governance.agent.proposals_per_hour', '60', 1, 100000, true,
    'How many contracts an agent may propose in an hour.'),
  ('governance.agent.open_contracts', '50', 1, 100000, true,
    'How many contracts of an agent may be open at once.'),
  ('governance.alert.pending', '100', 0, 1000000, true,
    'How many contracts of a tenant may wait for a decision before CONTRACTS_PENDING.'),
  ('governance.alert.job_sec', '60', 0.1, 2592000, false,
    'How long a governance job may take, beside its soaks, before GOVERNANCE_JOB_SLOW.'),
  ('governance.alert.audit_sec', '30', 0.1, 86400, false,
    'How long an audit may take before AUDIT_SLOW.'),
  ('governance.read.interval_ms', '1000', 0, 3600000, true,
    'The least time between two reads of the same values outside the database for a contract.'),
  ('governance.denials_per_minute', '10', 1, 1000, true,
    'How many denials of a principal have a receipt each in a minute; one receipt counts the '
    'rest.'),
  ('governance.rollback.health_gate', '"observe"', null, null, false,
    'Whether rollback steps are blocked by health as forward steps are: enforce; or write it down '
    'and restore: observe.');
update writ_data.dot_config
set choices = '{observe,enforce}'
where key = 'governance.rollback.health_gate';
