-- What every layer uses: the clock, settings, logins, the record and its vocabulary, alerts, turns,
-- and what makes and guards tables.

create function writ.now() returns timestamptz language sql volatile
  as 'select pg_catalog.clock_timestamp()';
comment on function writ.now() is
  'The clock of every gate. writ/testing replaces it; nothing else may.';

-- Settings ----------------------------------------------------------------------------------------

create table writ_data.dot_config (
  key         text primary key,
  value       jsonb not null,
  minimum     numeric,
  maximum     numeric,
  whole       boolean not null default false,
  choices     text[],
  description text not null,
  updated_at  timestamptz not null default clock_timestamp(),
  updated_by  text not null default 'migration',
  constraint number_is_within_bounds check (
    jsonb_typeof(value) <> 'number'
    or value::numeric between minimum and maximum and (not whole or value::numeric % 1 = 0)),
  constraint text_is_a_choice check (
    jsonb_typeof(value) <> 'string' or coalesce(value #>> '{}' = any (choices), true))
);
comment on column writ_data.dot_config.minimum is
  'The least that the value can be, or each number of a list.';
comment on column writ_data.dot_config.choices is 'The texts that it can have; null: any.';

-- Logins ------------------------------------------------------------------------------------------

create table writ_data.login (
  login        name primary key,
  principal_id text,
  tenant_id    text,
  roles        text[] not null,
  put_by       text not null,
  put_at       timestamptz not null,
  constraint tenant_is_not_blank check (tenant_id <> ''),
  constraint roles_are_of_writ check (roles <@ array[
    'writ_principal', 'writ_producer', 'writ_worker', 'writ_applier', 'writ_engine', 'writ_server',
    'writ_signer', 'writ_auditor', 'writ_admin', 'dot_executor', 'workflow_admin']),
  constraint put_by_is_a_short_text check (btrim(put_by) <> '' and length(put_by) <= 200)
);
comment on table writ_data.login is
  'What a database login is for. A login without a row is bound to nothing.';
comment on column writ_data.login.principal_id is
  'The one principal that it acts for, without a key; null: whoever gives a key.';
comment on column writ_data.login.tenant_id is 'The one tenant that it may touch; null: any.';
comment on column writ_data.login.roles is
  'The roles that its use needs. PostgreSQL grants them; `writ doctor` compares.';

-- Vocabulary --------------------------------------------------------------------------------------

create table writ_data.event_type_registry (
  event_type     text primary key,
  event_domain   text not null,
  event_stream   text not null,
  event_severity text not null default 'info',
  description    text not null,
  constraint event_domain_is_known check (event_domain in
    ('iu', 'birth_registry', 'governance', 'tac', 'kg', 'system', 'dot', 'health', 'piece')),
  constraint event_stream_is_known check (event_stream in
    ('comment', 'review', 'update', 'birth', 'task', 'alert', 'health')),
  constraint event_severity_is_known check (event_severity in ('info', 'warning', 'critical'))
);

insert into writ_data.event_type_registry (event_type, event_domain, event_stream, event_severity,
    description) values
  ('system.alert_raised', 'system', 'alert', 'critical',
    'An alert stands.'),
  ('system.alert_cleared', 'system', 'alert', 'info',
    'An alert is over.');

-- Times -------------------------------------------------------------------------------------------

-- Whether Writ keeps a time that a caller gives: in the years 2000 to 9999. Null for null.
create function writ_data.within_times(p_moment timestamptz) returns boolean language sql immutable
  return p_moment >= timestamptz '2000-01-01 00:00:00Z'
    and p_moment < timestamptz '10000-01-01 00:00:00Z';

-- Partitions --------------------------------------------------------------------------------------

-- The smallest UUIDv7 of a day, in UTC.
create function writ_data.day_floor(p_day date) returns uuid language sql immutable
  return (
    lpad(to_hex((p_day - date '1970-01-01') * 86400000::bigint), 12, '0')
    || '70008000000000000000')::uuid;

-- Used below and by writ_data.keep_partitions. A table of its own first, then attached: that needs
-- no lock which a reader or writer of the other partitions would have to wait for. Its indexes have
-- the names of its table's, and the day: they are what a violation is reported by.
create function writ_data.make_partition(p_table text, p_day date) returns boolean
language plpgsql
-- The caller's session may name others, in which the owner may create nothing.
set default_tablespace = ''
set default_table_access_method = heap
as $$
declare
  v_suffix text := to_char(p_day, '_YYYYMMDD');
  v_name text := p_table || v_suffix;
  v_index record;
begin
  if to_regclass('writ_data.' || v_name) is not null then
    return false;
  end if;
  execute format('create table writ_data.%I (like writ_data.%I including all)', v_name, p_table);
  execute format(
    'alter table writ_data.%I attach partition writ_data.%I for values from (%L) to (%L)',
    p_table, v_name, writ_data.day_floor(p_day), writ_data.day_floor(p_day + 1));
  for v_index in
    select n.relname as name, c.relname || v_suffix as called
    from pg_index x
    join pg_inherits i on i.inhrelid = x.indexrelid
    join pg_class n on n.oid = i.inhrelid
    join pg_class c on c.oid = i.inhparent
    where x.indrelid = format('writ_data.%I', v_name)::regclass
  loop
    execute format('alter index writ_data.%I rename to %I', v_index.name, v_index.called);
  end loop;
  return true;
end $$;

-- Rows that are written once stay as they were written --------------------------------------------

create function writ_data.refuse_change() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using
    errcode = 'WR002',
    message = format('illegal_transition: %s.%s does not allow this %s',
      tg_table_schema, tg_table_name, lower(tg_op)),
    hint = 'State changes go through the gates of schema writ.';
end $$;

-- The record --------------------------------------------------------------------------------------

create table writ_data.event_batch (
  batch_id   uuid primary key,
  xid        xid8 not null default pg_current_xact_id(),
  at         timestamptz not null,
  command    text not null,
  actor      text not null,
  login      text not null default session_user,
  request_id text default left(nullif(current_setting('writ.request_id', true), ''), 100),
  types      text[] not null,
  first      integer[] not null,
  last       integer[] not null,
  subjects   uuid[] not null,
  details    jsonb,
  note       text,
  run_ids    uuid[],
  run_seqs   integer[],
  run_leaves bytea,
  constraint event_ranges_are_parallel check (
    cardinality(types) = cardinality(first) and cardinality(types) = cardinality(last)),
  constraint actor_is_at_most_200_characters check (length(actor) <= 200)
) partition by range (batch_id);
comment on table writ_data.event_batch is
  'One row per gate call that changed something. Who called what, shown by writ.command_run; and '
  'its facts, types[i] happened to subjects[first[i]..last[i]], shown one by one by '
  'writ.event_outbox.';
comment on column writ_data.event_batch.actor is 'Who acts, as the caller says.';
comment on column writ_data.event_batch.login is
  'The database login of the call. PostgreSQL has authenticated it; no gate takes it from '
  'a caller.';
comment on column writ_data.event_batch.request_id is
  'The request that the call was made for, as the caller says; null: none.';
alter table writ_data.event_batch alter subjects set storage external;
create index event_batch_by_xid on writ_data.event_batch (xid, batch_id);
create index event_batch_of_runs on writ_data.event_batch (xid, batch_id) where run_ids is not null;
alter table writ_data.event_batch alter run_ids set storage external,
  alter run_leaves set storage external;
comment on column writ_data.event_batch.run_leaves is
  'The hashes of the run events that this call appended, run_seqs[i] of run_ids[i]: so they are '
  'sealed with it.';
create trigger event_batch_is_written_once before update or delete on writ_data.event_batch
  for each row execute function writ_data.refuse_change();

do $$
declare
  v_today date := (clock_timestamp() at time zone 'UTC')::date;
begin
  for v_day in -1 .. 14 loop
    perform writ_data.make_partition('event_batch', v_today + v_day);
  end loop;
end $$;

-- A position in the record: every fact up to `fact` of transaction `xid` is behind it, among the
-- batches of one era. Positions compare as the record is ordered: by era, transaction, fact.
create type writ_data.record_position as (
  era  uuid,
  xid  xid8,
  fact uuid
);
comment on type writ_data.record_position is
  'How far a reader of the record is. A reader asks writ_data.record_bounds where to go on.';

-- Transaction numbers order the record only on the server that gave them. After a dump is restored
-- into another server, a new era begins (writ_data.begin_era). An era has the batches with ids
-- greater than its own, up to the id of the next era.
create table writ_data.record_era (
  era      uuid primary key,
  begun_at timestamptz not null,
  written  xid not null,
  table_id oid not null
);
comment on table writ_data.record_era is
  'Servers that this record has been on, by the ids of their batches.';
comment on column writ_data.record_era.written is
  'The transaction that wrote this row, as its xmin says. With table_id, the oid of this table, it '
  'tells a restored row: that one was written by another transaction, into another table.';
insert into writ_data.record_era (era, begun_at, written, table_id)
values ('00000000-0000-0000-0000-000000000000', clock_timestamp(), '0', 0);
update writ_data.record_era set written = xmin, table_id = tableoid;

-- Alerts ------------------------------------------------------------------------------------------

create table writ_data.alert (
  alert_id   uuid primary key,
  code       text not null,
  severity   text not null,
  tenant_id  text,
  subject    text not null,
  detail     jsonb not null,
  raised_at  timestamptz not null,
  cleared_at timestamptz,
  cleared_by text,
  constraint severity_is_known check (severity in ('P1', 'P2', 'P3')),
  constraint cleared_by_somebody check ((cleared_at is null) = (cleared_by is null))
);
create index alert_by_subject on writ_data.alert (subject, raised_at);
create unique index an_alert_stands_once
  on writ_data.alert (code, subject) where cleared_at is null;

-- Turns -------------------------------------------------------------------------------------------

-- Whose turn it is: a gate that one caller at a time may do locks a row (writ_data.take_turn). A
-- row and not an advisory lock, because any login could take that.
create table writ_data.turn (
  name text primary key
);

-- Requests ----------------------------------------------------------------------------------------

create table writ_data.request (
  login        name not null,
  principal_id text not null,
  tenant_id    text not null,
  once         text not null,
  digest       bytea not null,
  answer       jsonb,
  at           timestamptz not null,
  primary key (login, principal_id, tenant_id, once),
  constraint once_has_its_size check (length(once) between 1 and 255),
  constraint tenant_has_its_size check (length(tenant_id) <= 200),
  constraint digest_has_its_size check (octet_length(digest) = 32),
  constraint answer_has_its_size check (octet_length(answer::text) <= 65536)
) with (fillfactor = 70);
comment on table writ_data.request is
  'Calls that their callers may repeat (`once`), each with its answer. The row and the effect of '
  'the call are one transaction. Rows go after requests.retention_hours.';
comment on column writ_data.request.principal_id is
  'The principal that the database has authenticated; empty: none.';
comment on column writ_data.request.digest is 'SHA-256 of the call as its caller meant it.';
comment on column writ_data.request.answer is
  'Null while the call is under way. A refusal is not kept.';
create index request_by_age on writ_data.request (at);

insert into writ_data.dot_config (key, value, minimum, maximum, whole, description) values
  ('requests.retention_hours', '24', 1, 720, false,
    'How long the answer of a call with `once` is kept.'),
  ('requests.most', '100000', 100, 10000000, true,
    'Answers of calls with `once` that are kept for one principal of one login. The oldest go '
    'first.');
