-- The outbox: places outside that are told of what happened, how far each is, and what could not be delivered yet; and how many runs of a tenant go on at once.

create table writ_data.destination (
  name          text primary key check (name ~ '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$'),
  bus           text not null check (bus in ('webhook', 'nats')),
  tenant_id     text check (tenant_id <> ''),
  types         text[] not null check (cardinality(types) between 1 and 100),
  config        jsonb not null default '{}' check (octet_length(config::text) <= 16384),
  state         text not null default 'active' check (state in ('active', 'paused')),
  note          text,
  xid           xid8 not null,
  batch_id      uuid not null,
  failures      integer not null default 0,
  failing_since timestamptz,
  retry_at      timestamptz not null default '-infinity',
  holder        text,
  held_until    timestamptz not null default '-infinity',
  put_by        text not null check (btrim(put_by) <> ''),
  put_at        timestamptz not null,
  moved_at      timestamptz not null
) with (fillfactor = 50);
comment on table writ_data.destination is 'A place outside that is told of events: everything up to (xid, batch_id) has been given to it, or is in undelivered.';
comment on column writ_data.destination.types is 'Types of events; one that ends with * is the beginning of types.';
comment on column writ_data.destination.config is 'Where it is, and names of secrets; never a secret.';
comment on column writ_data.destination.failures is 'Calls in a row in which nothing was accepted.';
comment on column writ_data.destination.holder is 'The relay whose turn it is, until held_until.';

create table writ_data.undelivered (
  destination text not null references writ_data.destination on delete cascade,
  event_id    uuid not null,
  stream      uuid not null,
  place       bigint generated always as identity,
  run_seq     integer,
  attempts    smallint not null default 0,
  due_at      timestamptz,
  dead_at     timestamptz,
  status      integer,
  reason      text,
  primary key (destination, event_id)
);
comment on table writ_data.undelivered is 'Events that a destination has not accepted yet, those of the same stream that wait behind them (due_at is null), and dead letters (dead_at).';
comment on column writ_data.undelivered.stream is 'What the event is about, for a run its id: its events are delivered in order.';
create index undelivered_due on writ_data.undelivered (destination, due_at) where due_at is not null and dead_at is null;
create index undelivered_stream on writ_data.undelivered (destination, stream, place) where dead_at is null;
create index undelivered_dead on writ_data.undelivered (destination, dead_at) where dead_at is not null;

create table writ_data.delivery (
  delivery_id uuid not null,
  destination text not null,
  event_id    uuid not null,
  attempt     smallint not null,
  at          timestamptz not null,
  ms          integer,
  ok          boolean not null,
  status      integer,
  reason      text,
  primary key (delivery_id)
) partition by range (delivery_id);
comment on table writ_data.delivery is 'What was sent where, and what was answered.';
create index delivery_by_destination on writ_data.delivery (destination, delivery_id);

create table writ_data.outbox_clockwork (
  one        boolean primary key default true check (one),
  idle_until timestamptz not null default '-infinity'
) with (fillfactor = 50);
comment on table writ_data.outbox_clockwork is 'Until when a relay wants to be woken by whoever records something.';
insert into writ_data.outbox_clockwork default values;

do $$
declare
  v_today date := (clock_timestamp() at time zone 'UTC')::date;
begin
  for v_day in -1 .. 14 loop
    perform writ_data.make_partition('delivery', v_today + v_day);
  end loop;
end $$;

insert into writ_data.dot_config (key, value, minimum, maximum, whole, description) values
  ('outbox.delivery.attempts',      '10',     1,   100,       true,  'How often a destination is given an event that it refuses before it becomes a dead letter.'),
  ('outbox.delivery.backoff_ms',    '1000',   1,   3600000,   false, 'How long the second try waits; each one after it twice as long, up to outbox.delivery.backoff_max_ms, and a random part less.'),
  ('outbox.delivery.backoff_max_ms','300000', 1,   86400000,  false, 'The longest wait between two tries.'),
  ('outbox.pause_after',            '20',     1,   10000,     true,  'Calls in a row in which a webhook accepts nothing before it is paused.'),
  ('outbox.turn_sec',               '60',     1,   3600,      false, 'How long a relay has the turn of a destination without saying anything.'),
  ('outbox.lag_alert_sec',          '60',     1,   86400,     false, 'How far a destination may be behind before OUTBOX_LAG_HIGH is raised.'),
  ('runs.admission.retry_after_sec', '5',     1,   86400,     false, 'What a tenant whose run is refused because too many go on is told to wait.'),
  ('outbox.retention_sec',          '604800', 0,   315360000, false, 'Age at which a day of the log of deliveries is dropped.');

create table writ_data.admission (
  tenant_id   text primary key check (tenant_id <> ''),
  policy      text not null check (policy in ('REJECT', 'QUEUE', 'DELAY')),
  max_running integer not null check (max_running > 0),
  max_pending integer not null default 10000 check (max_pending >= 0),
  delay_ms    integer not null default 1000 check (delay_ms between 1 and 86400000),
  put_by      text not null check (btrim(put_by) <> ''),
  put_at      timestamptz not null
);
comment on table writ_data.admission is 'How many runs of a tenant go on at once, and what becomes of more: refused, started when there is room, or started later. The tenant * is every one that has no row of its own.';

alter table writ_data.run add column start_after timestamptz;
comment on column writ_data.run.start_after is 'Set: a run that waits is started at this time, whether there is room or not.';
create index run_pending on writ_data.run (tenant_id, priority desc, run_id) where status = 'PENDING' and engine = 'native';
create index run_open on writ_data.run (tenant_id) where status in ('RUNNING', 'PAUSED');

-- Their signatures have changed; the objects that take their places are made after this.
drop function if exists writ.fn_run_step_commit(uuid, uuid, json, text);
drop function if exists writ.fn_run_steps_succeed(uuid[], integer[], text[], boolean[], text[], uuid, double precision, text);
drop function if exists writ_data.steps_straight(uuid[], integer[], text[], boolean[], uuid[], uuid[], text[], uuid, double precision, double precision, text, timestamptz);
drop function if exists writ_data.steps_ended(uuid[], text[], smallint[], text, text, timestamptz, text, boolean[], text[]);
drop function if exists writ_data.run_event_document(uuid, integer, text, text, text, integer, jsonb, uuid, timestamptz);
