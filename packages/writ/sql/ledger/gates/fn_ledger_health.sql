-- Reads the progress of the ledger: receipts that are not in their logs yet, unsealed rows of the
-- record (it counts at most a hundred thousand), the newest signed checkpoint and its key, and the
-- end of the last month with a partition for receipts. The cost grows with the backlog, not with
-- the ledger.
-- Callers: writ_signer, processes, readers
-- Answers: {waiting, waiting_s, sealing, segments, unsealed, unsealed_s, signed_epoch, signed_size,
--          signed_at, signed_s, key, months_until, months_s}; times are in seconds before now.
create or replace function writ.fn_ledger_health() returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  v_now timestamptz := writ.now();
  v_at writ_data.ledger_clockwork;
  v_waiting record;
  v_unsealed record;
  v_signed record;
  v_month date;
begin
  select * into v_at from writ_data.ledger_clockwork;
  select count(*) as n, min(w.at) as since into v_waiting
  from (
    (select r.at from writ_data.receipt r
      where r.receipt_no > v_at.last_no
      order by r.receipt_no
      limit 100000)
    union all
    (select r.at from unnest(v_at.missing + v_at.missing_before) m
      join writ_data.receipt r on r.receipt_no >= lower(m) and r.receipt_no < upper(m))
    union all
    (select r.at from writ_data.ledger_aside a
      join writ_data.receipt r on r.receipt_no = a.receipt_no
      limit 100000)
  ) w;
  select count(*) as n, min(u.at) as since into v_unsealed
  from (
    select b.at
    from writ_data.record_after(v_at.sealed, writ_data.era_end((v_at.sealed).era)) b
    order by b.xid, b.batch_id
    limit 100000) u;
  select k.epoch, k.size, k.at into v_signed
  from writ_data.ledger_checkpoint k
  where k.log_id = '_system'
  order by k.checkpoint_no desc
  limit 1;

  v_month := date_trunc('month', v_now at time zone 'UTC')::date;
  while to_regclass('writ_data.receipt' || to_char(v_month, '_YYYYMM')) is not null loop
    v_month := v_month + interval '1 month';
  end loop;
  return jsonb_build_object(
    'waiting', v_waiting.n,
    'waiting_s', extract(epoch from v_now - v_waiting.since),
    'sealing', (writ_data.setting('ledger.sealing.enabled'))::boolean,
    'segments', v_at.segment,
    'unsealed', v_unsealed.n,
    'unsealed_s', extract(epoch from v_now - v_unsealed.since),
    'signed_epoch', v_signed.epoch,
    'signed_size', v_signed.size,
    'signed_at', v_signed.at,
    'signed_s', extract(epoch from v_now - v_signed.at),
    'key', (select k.key from writ_data.ledger_key k order by k.key_no desc limit 1),
    'months_until', v_month,
    'months_s', extract(epoch from v_month::timestamp at time zone 'UTC' - v_now));
end $$;
