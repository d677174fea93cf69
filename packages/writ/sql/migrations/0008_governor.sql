-- Governors: one durable state machine per tenant and product. What is sent to one is a row of its
-- mailbox; what it handled is a row of its events, with everything that the decision read, so that
-- it can be decided again. Mailbox and events are written once; the governor's own row is locked by
-- whoever drives it and written once per turn, the row of its mailbox by whoever sends and once per
-- call.

create table writ_data.governor (
  governor_id uuid primary key,
  tenant_id   text not null,
  sku_id      text not null,
  events      bigint not null default 0,
  receipts    bigint not null default 0,
  mail_done   bigint not null default 0,
  mail_at     timestamptz not null default '-infinity',
  last_at     timestamptz not null default '-infinity',
  state       text,
  inputs_hash bytea not null default
    '\x0000000000000000000000000000000000000000000000000000000000000000',
  due_at      timestamptz,
  data        jsonb not null default '{}',
  waiting     jsonb not null default '{}',
  crashes     timestamptz[] not null default '{}',
  crash       text,
  created_by  text not null,
  created_at  timestamptz not null,
  constraint one_governor_per_product_and_tenant unique (tenant_id, sku_id),
  constraint tenant_and_product_are_names
    -- Every update asks again. Lengths by themselves: a bounded repetition in a pattern costs
    -- twenty times as much.
    check (length(tenant_id) <= 100 and tenant_id ~ '^[A-Za-z0-9][A-Za-z0-9_.:@-]*$'
      and length(sku_id) <= 100 and sku_id ~ '^[A-Za-z0-9][A-Za-z0-9_.:@-]*$'),
  constraint state_is_known
    check (state in ('boot', 'stable', 'warning', 'intervening', 'refusing', 'degraded')),
  constraint hash_has_its_size check (octet_length(inputs_hash) = 32)
) with (fillfactor = 50);
comment on table writ_data.governor is
  'Where a governor is: its state, what it knows (data) and what waits (waiting: inserted and '
  'postponed events, timers). events is also its revision; mail_done says how far its mailbox has '
  'been read.';
comment on column writ_data.governor.inputs_hash is
  'SHA-256 over the hash before and the canonical JSON of the event, from 32 zero bytes on: in '
  'the receipts, so that an input that was removed shows.';
comment on column writ_data.governor.crashes is
  'When deciding about its next event has failed within a minute; crash: how, the last time.';
comment on column writ_data.governor.due_at is
  'When the first of its timers is due. Whoever drives looks at governor_due.';

create table writ_data.governor_inbox (
  governor_id uuid primary key references writ_data.governor,
  mails       bigint not null default 0,
  arrivals    bigint not null default 0,
  window_mail bigint not null default 0,
  last_at     timestamptz not null default '-infinity'
) with (fillfactor = 50);
comment on table writ_data.governor_inbox is
  'Counts what is put into a mailbox, signals (arrivals) by themselves, without a gap. '
  'window_mail: the first that can be within the last minute.';

create table writ_data.governor_mail (
  governor_id uuid not null,
  mail_seq    bigint not null,
  at          timestamptz not null,
  arrival_seq bigint,
  signal_id   text,
  content     jsonb not null,
  constraint a_signal_has_an_id check ((arrival_seq is null) = (signal_id is null)),
  constraint mail_has_a_size check (octet_length(content::text) <= 262144)
) partition by range (at);
comment on table writ_data.governor_mail is
  'What was sent to governors, in order, each once. By month.';

create table writ_data.governor_event (
  governor_id uuid not null,
  event_seq   bigint not null,
  at          timestamptz not null,
  kind        text not null,
  mail_seq    bigint,
  from_state  text,
  state       text not null,
  added       text,
  constraint it_moves_as_the_table_says
    check (from_state is not distinct from state or (coalesce(from_state, '-'), state) in (
      ('-', 'boot'),
      ('boot', 'stable'), ('boot', 'degraded'),
      ('stable', 'warning'), ('stable', 'intervening'), ('stable', 'refusing'),
      ('stable', 'degraded'),
      ('warning', 'stable'), ('warning', 'intervening'), ('warning', 'refusing'),
      ('warning', 'degraded'),
      ('intervening', 'stable'), ('intervening', 'warning'), ('intervening', 'refusing'),
      ('intervening', 'degraded'),
      ('refusing', 'stable'), ('refusing', 'degraded'),
      ('degraded', 'stable'), ('degraded', 'boot')))
) partition by range (at);
comment on table writ_data.governor_event is
  'What governors have handled, in order. added: the event without what stands in the mailbox; '
  'for what came from there and needed nothing else only the version that decided it, null for 1. '
  'By month.';

create table writ_data.governor_settled (
  governor_id uuid not null,
  arrival_seq bigint not null,
  receipt_id  uuid not null,
  at          timestamptz not null
) partition by range (at);
comment on table writ_data.governor_settled is
  'Which receipt has settled which signal: one each. By month.';

create table writ_data.governor_due (
  due_at      timestamptz not null,
  governor_id uuid not null,
  since       timestamptz
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
comment on table writ_data.governor_due is
  'Governors that have to be looked at, now or later: something is in the mailbox, or a timer is '
  'due. One too many does no harm.';
comment on column writ_data.governor_due.since is
  'Since when drivers have postponed something that is left to do; null: nobody has.';
create index governor_due_by_time on writ_data.governor_due (due_at);

create table writ_data.governor_policy (
  governor_id  uuid not null references writ_data.governor,
  version      integer not null,
  policy_id    text not null,
  document     jsonb,
  hash         bytea not null,
  shadow       boolean not null,
  published_by text not null,
  published_at timestamptz not null,
  primary key (governor_id, version),
  constraint policy_is_a_name check (policy_id ~ '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$'),
  constraint policy_has_a_size check (octet_length(document::text) <= 131072),
  constraint hash_has_its_size check (octet_length(hash) = 32)
);
comment on table writ_data.governor_policy is
  'Versions of governor policies. None changes; one without a document says that the policy was '
  'withdrawn.';

create table writ_data.entitlement (
  tenant_id      text primary key,
  entitlement_id text not null,
  status         text not null,
  tier           text not null,
  quota_limit    bigint,
  expires_at     timestamptz,
  told_at        timestamptz,
  put_by         text not null,
  put_at         timestamptz not null,
  constraint status_is_known check (status in ('ACTIVE', 'INACTIVE', 'EXPIRED', 'CANCELLED')),
  constraint tier_is_known check (tier in ('free', 'starter', 'professional', 'enterprise')),
  constraint quota_is_no_debt check (quota_limit between 0 and 9007199254740991),
  constraint an_end_is_on_the_calendar
    check (writ_data.within_times(expires_at) and writ_data.within_times(told_at))
);
comment on column writ_data.entitlement.told_at is
  'When the catalogue sent what stands here, by its own clock: what it sent before that is not '
  'taken any more.';
comment on table writ_data.entitlement is
  'What a tenant may have done for it. quota_limit: actions per month in UTC; null: without limit.';

create table writ_data.governor_quota (
  tenant_id text not null,
  month     text not null,
  used      bigint not null,
  primary key (tenant_id, month),
  constraint month_is_one check (month ~ '^[0-9]{4}-[0-9]{2}$')
);
comment on table writ_data.governor_quota is
  'Actions of a tenant in a month, in UTC. Grows with the first attempt at each, and never '
  'shrinks.';

create table writ_data.governor_contract (
  job_id      uuid primary key references writ_data.governance_job,
  governor_id uuid not null references writ_data.governor,
  action_id   text not null,
  attempt     integer not null,
  stops       boolean not null
);
comment on table writ_data.governor_contract is
  'Governance jobs that carry an action out, or undo one, while their governor waits for them. '
  'stops: what is awaited is that it is rolled back.';

create table writ_data.governor_outage (
  host        text not null,
  at          timestamptz not null,
  spool_seq   bigint not null,
  tenant_id   text not null,
  sku_id      text not null,
  signal_id   text not null,
  merged_at   timestamptz not null,
  primary key (host, at, spool_seq, tenant_id, sku_id, signal_id)
);
comment on table writ_data.governor_outage is
  'Signals that hosts could not take while the database was away, and have said so: they were '
  'never accepted. As each host has written them down.';

create function writ_data.make_governor_partition(p_month date) returns boolean
language plpgsql
-- The caller's session may name others, in which the owner may create nothing.
set default_tablespace = ''
set default_table_access_method = heap
as $$
declare
  v_first date := date_trunc('month', p_month::timestamp)::date;
  v_suffix text := to_char(p_month, '_YYYYMM');
  v_mail text := 'governor_mail' || v_suffix;
  v_table text;
  v_number text; -- the column that counts the rows of a governor
begin
  if to_regclass('writ_data.governor_event' || v_suffix) is not null then
    return false;
  end if;

  for v_table, v_number in values
    ('governor_mail', 'mail_seq'),
    ('governor_event', 'event_seq'),
    ('governor_settled', 'arrival_seq')
  loop
    execute format('create table writ_data.%I (like writ_data.%I including all)',
      v_table || v_suffix, v_table);
    execute format('create unique index %I on writ_data.%I (governor_id, %I)',
      v_table || '_by_seq' || v_suffix, v_table || v_suffix, v_number);
    execute format(
      'create trigger governor_log_is_not_truncated before truncate on writ_data.%I '
      'for each statement execute function writ_data.refuse_change()', v_table || v_suffix);
  end loop;
  execute format(
    'create unique index %I on writ_data.%I (governor_id, signal_id) where signal_id is not null',
    'governor_mail_by_signal' || v_suffix, v_mail);
  execute format(
    'create index %I on writ_data.%I (governor_id, (content ->> ''action_id'')) '
    'where content ->> ''kind'' = ''act''', 'governor_mail_by_action' || v_suffix, v_mail);
  execute format(
    'create index %I on writ_data.%I (governor_id, event_seq) '
    'where kind in (''act'', ''acknowledged'', ''result'')',
    'governor_event_by_action' || v_suffix, 'governor_event' || v_suffix);

  foreach v_table in array array['governor_mail', 'governor_event', 'governor_settled'] loop
    execute format(
      'alter table writ_data.%I attach partition writ_data.%I for values from (%L) to (%L)',
      v_table, v_table || v_suffix,
      -- See make_receipt_partition.
      to_char(v_first, 'YYYY-MM-DD"T00:00:00Z"'),
      to_char(v_first + interval '1 month', 'YYYY-MM-DD"T00:00:00Z"'));
  end loop;
  return true;
end $$;
comment on function writ_data.make_governor_partition(date) is 'A month of mailboxes and events.';
select writ_data.make_governor_partition(
  ((clock_timestamp() at time zone 'UTC')::date + m * interval '1 month')::date)
from generate_series(0, 2) m;

create trigger governor_mail_is_written_once
  before update or delete on writ_data.governor_mail
  for each row execute function writ_data.refuse_change();
create trigger governor_event_is_written_once
  before update or delete on writ_data.governor_event
  for each row execute function writ_data.refuse_change();
create trigger governor_settled_is_written_once
  before update or delete on writ_data.governor_settled
  for each row execute function writ_data.refuse_change();
create trigger governor_policy_is_written_once
  before update or delete on writ_data.governor_policy
  for each row execute function writ_data.refuse_change();
create trigger governor_outage_is_written_once
  before update or delete on writ_data.governor_outage
  for each row execute function writ_data.refuse_change();

insert into writ_data.job_kind (job_kind, max_attempts, timeout_s, registered_by) values
  ('governor.webhook', 1, 60, 'migration'),
  ('governor.contract', 1, 60, 'migration');

insert into writ_data.event_type_registry (event_type, event_domain, event_stream, event_severity,
  description) values
  ('governor.state_changed', 'governance', 'health', 'info',
    'A governor went from one state to another.');

insert into writ_data.dot_config (key, value, minimum, maximum, whole, description) values
  ('governor.boot_ms', '30000', 10, 3600000, true,
    'How long a governor may take until it is ready.'),
  ('governor.action_ms', '500', 10, 600000, true,
    'How long an attempt at an action may take, from the moment it is handed over.'),
  ('governor.rollback_ms', '30000', 10, 3600000, true,
    'How long an attempt at undoing an action may take.'),
  ('governor.attempts', '3', 1, 10, true,
    'Attempts at an action, in all.'),
  ('governor.recheck_ms', '30000', 10, 3600000, true,
    'How often a governor that refuses looks whether it still has to.'),
  ('governor.recovery_ms', '120000', 10, 3600000, true,
    'How long a governor is degraded before it begins anew.'),
  ('governor.recovery_max_ms', '3600000', 10, 86400000, true,
    'That time at most, when it doubles because a person or an entitlement is awaited.'),
  ('governor.backoff_ms', '[10000, 30000, 60000, 300000]', 10, 86400000, true,
    'How long a degraded governor waits before it looks again: the first time, the second, and so '
    'on.'),
  ('governor.storm_limit', '100', 1, 1000000, true,
    'Signals of a tenant that are taken in within the window.'),
  ('governor.storm_window_ms', '60000', 100, 3600000, true,
    'That window.'),
  ('governor.storm_every_ms', '10000', 10, 3600000, true,
    'How often buffered signals are released.'),
  ('governor.storm_retry_ms', '30000', 100, 3600000, true,
    'When a sender is asked to send again, in a storm.'),
  ('governor.capacity', '1000', 1, 10000, true,
    'Signals that wait for a governor at most, buffered or postponed.'),
  ('governor.receipt_slo_ms', '50', 1, 60000, true,
    'How long writing receipts may take; three times running over it, and governors are degraded.'),
  ('governor.transition_ms', '50', 1, 60000, true,
    'How long a turn waits for a lock before it is logged and tried again.'),
  ('governor.entitlement_ms', '200', 1, 60000, true,
    'How long looking up an entitlement or a permission may take.'),
  ('governor.policy_ms', '300', 1, 60000, true,
    'How long loading a policy may take.'),
  ('governor.ping_ms', '1000', 1, 60000, true,
    'How long the ledger may take to answer a ping.'),
  ('governor.ping_every_ms', '60000', 100, 3600000, true,
    'How often a host pings the ledger.'),
  ('governor.crashes', '10', 1, 1000, true,
    'Crashes within a minute after which an event is set aside.'),
  ('governor.retention.events_days', '365', 31, 36500, true,
    'Age at which months of mailboxes and events are dropped.');
