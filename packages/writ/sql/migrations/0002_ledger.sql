-- The ledger: receipts, the logs that merge them, and the seals over the record of the queue. A
-- receipt is written in the transaction of what it is about and never changes; where it stands in
-- its log is a row beside it, written later by whoever turns the ledger's clockwork. So nobody who
-- writes a receipt waits for another who does.

create sequence writ_data.receipt_no;
create table writ_data.receipt (
  receipt_no bigint not null default nextval('writ_data.receipt_no'),
  at         timestamptz not null,
  log_id     text not null,
  stream     text not null,
  stream_seq bigint not null,
  receipt_id uuid not null,
  entry      text not null,
  leaf_hash  bytea not null,
  constraint log_is_a_short_name check (log_id <> '' and length(log_id) <= 200),
  constraint stream_is_a_short_name check (length(stream) <= 500),
  constraint stream_counts_from_one check (stream_seq > 0),
  constraint entry_fits_a_bundle check (octet_length(entry) <= 65535)
) partition by range (at);
comment on table writ_data.receipt is
  'What happened and why, one row each, as the bytes that are hashed: RFC 8785 JSON. By month, so '
  'that what is archived can be dropped; its leaf hash stays in ledger_leaf.';
comment on column writ_data.receipt.stream_seq is
  'Counts the receipts of one stream, a governor or a contract for instance, without a gap: its '
  'row is locked when one is written.';
create index receipt_by_no on writ_data.receipt (receipt_no);
create index receipt_by_id on writ_data.receipt (receipt_id);

create table writ_data.receipt_reason (
  reason      text primary key,
  statuses    text[] not null,
  terminal    boolean not null,
  description text not null
);
comment on table writ_data.receipt_reason is
  'The reasons that a receipt can have, from the schemas in src/ledger/reasons/.';

create table writ_data.receipt_stream (
  log_id   text not null,
  stream   text not null,
  last_seq bigint not null,
  primary key (log_id, stream)
) with (fillfactor = 50);
comment on table writ_data.receipt_stream is 'Streams that have no row of their own to count in.';

create table writ_data.receipt_erasable (
  receipt_no bigint not null,
  hash       bytea not null,
  salt       bytea not null,
  value      jsonb not null,
  primary key (receipt_no, hash)
);
comment on table writ_data.receipt_erasable is
  'What may have to be erased one day: the receipt holds SHA-256(salt, value) in its place.';

create table writ_data.deployment (
  single        boolean primary key default true check (single),
  deployment_id uuid not null,
  since         timestamptz not null
);
comment on table writ_data.deployment is
  'Which deployment this database is: a random id, made by the first migration. Approvals name it, '
  'so that one of staging is none of production. A copy has the same id until it is renewed.';

-- The logs ----------------------------------------------------------------------------------------

create table writ_data.ledger_log (
  log_id    text primary key,
  epoch     integer not null default 1,
  size      bigint not null default 0,
  frontier  bytea not null default '',
  root      bytea not null default sha256(''),
  grown_at  timestamptz,
  constraint frontier_has_a_hash_per_subtree check (octet_length(frontier) % 32 = 0)
) with (fillfactor = 50);
comment on table writ_data.ledger_log is
  'One RFC 6962 tree per tenant, and _system. frontier: the roots of its complete subtrees, the '
  'largest first.';

create table writ_data.ledger_leaf (
  log_id     text not null,
  leaf_index bigint not null,
  receipt_no bigint not null,
  leaf_hash  bytea not null,
  primary key (log_id, leaf_index)
);
comment on table writ_data.ledger_leaf is
  'Where a receipt stands in its log. Stays when the receipt itself has been archived and dropped.';
create unique index ledger_leaf_by_receipt on writ_data.ledger_leaf (receipt_no);

create table writ_data.ledger_aside (
  log_id     text not null,
  receipt_no bigint not null,
  primary key (log_id, receipt_no)
);
comment on table writ_data.ledger_aside is
  'Receipts of logs that could not grow: they wait here, so that the other logs go on. Empty while '
  'all is well.';

create table writ_data.ledger_node (
  log_id     text not null,
  level      smallint not null,
  node_index bigint not null,
  hash       bytea not null,
  primary key (log_id, level, node_index)
);
comment on table writ_data.ledger_node is
  'Roots of complete subtrees of 256, 65536, … leaves: what a proof needs besides the leaves '
  'beside its own.';

create table writ_data.ledger_checkpoint (
  checkpoint_no bigint generated always as identity primary key,
  log_id        text not null,
  epoch         integer not null,
  size          bigint not null,
  root          bytea not null,
  note          text not null,
  at            timestamptz not null
);
comment on table writ_data.ledger_checkpoint is
  'Signed checkpoints that have been published. The copies that count are the ones outside.';
create index ledger_checkpoint_by_log on writ_data.ledger_checkpoint (log_id, size);
create index ledger_checkpoint_newest on writ_data.ledger_checkpoint (log_id, checkpoint_no);

create table writ_data.ledger_key (
  key_no   bigint generated by default as identity primary key,
  key      text not null unique,
  added_at timestamptz not null
);
comment on table writ_data.ledger_key is
  'Public keys that sign or have signed, the newest last. Their receipts may have been archived '
  'and dropped.';

create table writ_data.ledger_restore (
  restore_no       bigint generated always as identity primary key,
  known_checkpoint text,
  known_epoch      integer,
  known_size       bigint,
  restored_size    bigint not null,
  accepted_at      timestamptz not null
);
comment on table writ_data.ledger_restore is
  'Restores that somebody has accepted: how many receipts _system had, and the checkpoint that it '
  'fell short of.';

create table writ_data.event_seal (
  segment    bigint primary key,
  from_xid   xid8 not null,
  from_id    uuid not null,
  to_xid     xid8 not null,
  to_id      uuid not null,
  since      uuid not null,
  upto       uuid not null,
  n_rows     integer not null,
  root       bytea not null,
  leaves     bytea not null,
  receipt_no bigint not null,
  sealed_at  timestamptz not null
);
comment on table writ_data.event_seal is
  'Segments of the record whose hash is in a receipt: the rows behind (from_xid, from_id) up to '
  '(to_xid, to_id), with ids after since, the era, and not after upto. leaves: their hashes, which '
  'stay when the rows are past their retention.';
alter table writ_data.event_seal alter leaves set storage external;
create index event_seal_by_end on writ_data.event_seal (to_xid, to_id);

create table writ_data.receipt_archive (
  month       date primary key,
  place       text not null,
  archived_by text not null,
  archived_at timestamptz not null,
  constraint month_is_its_first_day check (extract(day from month) = 1),
  -- The name of a month's table has no era: 2026 BC would be 2026.
  constraint month_is_of_our_time check (month between '2000-01-01' and '9999-12-01')
);
comment on table writ_data.receipt_archive is
  'Months of receipts that somebody has put elsewhere with their tiles, and which may be dropped.';

create table writ_data.ledger_clockwork (
  single    boolean primary key default true check (single),
  last_no   bigint not null default 0,
  missing   int8multirange not null default '{}',
  missing_before int8multirange not null default '{}',
  missing_xid xid8 not null default '0',
  sealed    writ_data.record_position not null default row(
    '00000000-0000-0000-0000-000000000000', '0', '00000000-0000-0000-0000-000000000000'
  )::writ_data.record_position,
  segment   bigint not null default 0,
  sealed_at timestamptz not null default '-infinity',
  aside_at  timestamptz not null default '-infinity',
  kept_at   timestamptz not null default '-infinity'
) with (fillfactor = 10);
comment on table writ_data.ledger_clockwork is
  'How far sequencer and sealer are. Receipts up to last_no are in their logs, but for the '
  'missing: numbers that were not seen when they were passed, because a transaction was open or '
  'had been rolled back. missing_before were missing already when transaction missing_xid began: '
  'when everything older has ended, they will not come. aside_at: when receipts that were set '
  'aside were tried last.';
insert into writ_data.ledger_clockwork default values;

-- Rows that are written once stay as they were written --------------------------------------------

create trigger receipt_is_written_once
  before update or delete on writ_data.receipt
  for each row execute function writ_data.refuse_change();
create trigger ledger_leaf_is_written_once
  before update or delete on writ_data.ledger_leaf
  for each row execute function writ_data.refuse_change();
create trigger ledger_leaf_is_not_truncated
  before truncate on writ_data.ledger_leaf
  for each statement execute function writ_data.refuse_change();
create trigger ledger_node_is_written_once
  before update or delete on writ_data.ledger_node
  for each row execute function writ_data.refuse_change();
create trigger ledger_node_is_not_truncated
  before truncate on writ_data.ledger_node
  for each statement execute function writ_data.refuse_change();
create trigger ledger_checkpoint_is_written_once
  before update or delete on writ_data.ledger_checkpoint
  for each row execute function writ_data.refuse_change();
create trigger ledger_checkpoint_is_not_truncated
  before truncate on writ_data.ledger_checkpoint
  for each statement execute function writ_data.refuse_change();
create trigger ledger_key_is_written_once
  before update or delete on writ_data.ledger_key
  for each row execute function writ_data.refuse_change();
create trigger ledger_restore_is_written_once
  before update or delete on writ_data.ledger_restore
  for each row execute function writ_data.refuse_change();
create trigger event_seal_is_written_once
  before update or delete on writ_data.event_seal
  for each row execute function writ_data.refuse_change();
create trigger event_seal_is_not_truncated
  before truncate on writ_data.event_seal
  for each statement execute function writ_data.refuse_change();

-- Used below and by writ_data.keep_receipts. The stream's order is unique within a month; across
-- months its locked row keeps it, and verification checks it.
create function writ_data.make_receipt_partition(p_month date) returns boolean
language plpgsql
-- The caller's session may name others, in which the owner may create nothing.
set default_tablespace = ''
set default_table_access_method = heap
as $$
declare
  v_first date := date_trunc('month', p_month::timestamp)::date;
  v_suffix text := to_char(p_month, '_YYYYMM');
  v_name text := 'receipt' || v_suffix;
begin
  if to_regclass('writ_data.' || v_name) is not null then
    return false;
  end if;
  execute format('create table writ_data.%I (like writ_data.receipt including all)', v_name);
  execute format('create unique index %I on writ_data.%I (log_id, stream, stream_seq)',
    'receipt_by_stream' || v_suffix, v_name);
  execute format(
    'create trigger receipt_is_not_truncated before truncate on writ_data.%I '
    'for each statement execute function writ_data.refuse_change()', v_name);
  execute format(
    'alter table writ_data.receipt attach partition writ_data.%I for values from (%L) to (%L)',
    -- As texts: %L would write a time in the caller's DateStyle and TimeZone, and PostgreSQL can
    -- read an abbreviation of a time zone as another one.
    v_name,
    to_char(v_first, 'YYYY-MM-DD"T00:00:00Z"'),
    to_char(v_first + interval '1 month', 'YYYY-MM-DD"T00:00:00Z"'));
  return true;
end $$;
select writ_data.make_receipt_partition(
  ((clock_timestamp() at time zone 'UTC')::date + m * interval '1 month')::date)
from generate_series(0, 2) m;

insert into writ_data.dot_config (key, value, minimum, maximum, whole, description) values
  ('ledger.sealing.enabled', 'true', null, null, false,
    'The record of the queue is hashed in segments, each of which gets a receipt.'),
  ('ledger.seal.rows', '10000', 1, 100000, true,
    'Rows of the record in a segment at most.'),
  ('ledger.retention.receipts_days', '365', 31, 36500, true,
    'Age at which months of receipts are dropped, if they have been archived.');
