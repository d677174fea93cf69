-- How far the ledger is: receipts that are not in their logs yet, rows of the record that are not sealed (a hundred thousand are counted at most), the newest signed
-- checkpoint and the key that signs, and up to when receipts have a month to go into. It costs what waits, not what is there. Times are in seconds before now.
-- Callers: writ_signer, processes, readers
create or replace function writ.fn_ledger_health() returns jsonb
  language plpgsql security definer stable set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  v_now timestamptz := writ.now(); c writ_data.ledger_clockwork; v_waiting record; v_unsealed record; v_signed record; v_month date;
begin
  select * into c from writ_data.ledger_clockwork;
  select count(*) as n, min(w.at) as since into v_waiting from (
    (select r.at from writ_data.receipt r where r.receipt_no > c.last_no order by r.receipt_no limit 100000)
    union all
    (select r.at from unnest(c.missing + c.missing_before) m join writ_data.receipt r on r.receipt_no >= lower(m) and r.receipt_no < upper(m))
  ) w;
  select count(*) as n, min(u.at) as since into v_unsealed from (
    select b.at from writ_data.event_batch b
    where (b.xid, b.batch_id) > (c.seal_xid, c.seal_id) and b.batch_id > c.seal_since order by b.xid, b.batch_id limit 100000
  ) u;
  select k.epoch, k.size, k.at into v_signed from writ_data.ledger_checkpoint k where k.log_id = '_system' order by k.checkpoint_no desc limit 1;
  v_month := date_trunc('month', v_now at time zone 'UTC')::date;
  while to_regclass('writ_data.receipt' || to_char(v_month, '_YYYYMM')) is not null loop
    v_month := v_month + interval '1 month';
  end loop;
  return jsonb_build_object(
    'waiting', v_waiting.n, 'waiting_s', extract(epoch from v_now - v_waiting.since),
    'sealing', (writ_data.setting('ledger.sealing.enabled'))::boolean, 'segments', c.segment,
    'unsealed', v_unsealed.n, 'unsealed_s', extract(epoch from v_now - v_unsealed.since),
    'signed_epoch', v_signed.epoch, 'signed_size', v_signed.size, 'signed_at', v_signed.at, 'signed_s', extract(epoch from v_now - v_signed.at),
    'key', (select k.key from writ_data.ledger_key k order by k.key_no desc limit 1),
    'months_until', v_month, 'months_s', extract(epoch from v_month::timestamp at time zone 'UTC' - v_now));
end $$;
