-- The outbox: places outside that are told of what happened, how far each is, and what could not be
-- delivered yet.

create table writ_data.destination (
  name          text primary key,
  bus           text not null,
  tenant_id     text,
  types         text[] not null,
  config        jsonb not null default '{}',
  state         text not null default 'active',
  note          text,
  position      writ_data.record_position not null,
  failures      integer not null default 0,
  failing_since timestamptz,
  retry_at      timestamptz not null default '-infinity',
  holder        text,
  held_until    timestamptz not null default '-infinity',
  turn          uuid,
  turn_end      writ_data.record_position,
  oldest        timestamptz,
  put_by        text not null,
  put_at        timestamptz not null,
  moved_at      timestamptz not null,
  constraint destination_is_a_name check (name ~ '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$'),
  constraint bus_is_known check (bus in ('webhook', 'nats')),
  constraint tenant_is_not_blank check (tenant_id <> ''),
  constraint types_are_1_to_100 check (cardinality(types) between 1 and 100),
  constraint config_has_a_size check (octet_length(config::text) <= 16384),
  constraint state_is_known check (state in ('active', 'paused')),
  constraint put_by_is_not_blank check (btrim(put_by) <> '')
) with (fillfactor = 50);
comment on table writ_data.destination is
  'A place outside that is told of events: everything up to its position has been given to it, or '
  'is in undelivered.';
comment on column writ_data.destination.types is
  'Types of events; one that ends with * is the beginning of types.';
comment on column writ_data.destination.config is
  'Where it is, and names of secrets; never a secret.';
comment on column writ_data.destination.failures is 'Calls in a row in which nothing was accepted.';
comment on column writ_data.destination.holder is 'The relay whose turn it is, until held_until.';
comment on column writ_data.destination.turn is
  'The turn that was given last. It ends at turn_end; oldest is the time of its first row.';

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
comment on table writ_data.undelivered is
  'Events that a destination has not accepted yet, those of the same stream that wait behind them '
  '(due_at is null), and dead letters (dead_at).';
comment on column writ_data.undelivered.stream is
  'What the event is about, for a run its id: its events are delivered in order.';
create index undelivered_due
  on writ_data.undelivered (destination, due_at) where due_at is not null and dead_at is null;
create index undelivered_stream
  on writ_data.undelivered (destination, stream, place) where dead_at is null;
create index undelivered_dead
  on writ_data.undelivered (destination, dead_at) where dead_at is not null;

create table writ_data.delivery (
  delivery_id uuid not null,
  destination text not null,
  tenant_id   text,
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
comment on column writ_data.delivery.tenant_id is
  'Whose the destination was. Another tenant may have one of that name later.';
create index delivery_by_destination on writ_data.delivery (destination, delivery_id);
create index delivery_refused on writ_data.delivery (destination, delivery_id) where not ok;

create table writ_data.outbox_clockwork (
  one        boolean primary key default true check (one),
  idle_until timestamptz not null default '-infinity'
) with (fillfactor = 50);
comment on table writ_data.outbox_clockwork is
  'Until when a relay wants to be woken by whoever records something.';
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
  ('outbox.delivery.attempts', '10', 1, 100, true,
    'How often a destination is given an event that it refuses before it becomes a dead letter.'),
  ('outbox.delivery.backoff_ms', '1000', 1, 3600000, false,
    'How long the second try waits; each one after it twice as long, up to '
    'outbox.delivery.backoff_max_ms, and a random part less.'),
  ('outbox.delivery.backoff_max_ms', '300000', 1, 86400000, false,
    'The longest wait between two tries.'),
  ('outbox.pause_after', '20', 1, 10000, true,
    'Calls in a row in which a webhook accepts nothing before it is paused.'),
  ('outbox.turn_sec', '60', 1, 3600, false,
    'How long a relay has the turn of a destination without saying anything.'),
  ('outbox.lag_alert_sec', '60', 1, 86400, false,
    'How far a destination may be behind before OUTBOX_LAG_HIGH is raised.'),
  ('outbox.retention_sec', '604800', 0, 315360000, false,
    'Age at which a day of the log of deliveries is dropped.');
