-- Says that the receipts of a month, and every tile over them, lie in an archive whose checkpoint
-- covers the log up to there. From then on the month may be dropped when its retention has passed.
-- Callers: writ_signer
-- Answers: {month}.
-- Refuses: actor_required, tenant_forbidden, invalid_argument, month_not_over, receipts_not_sequenced,
--          not_yet_signed (also while the record of that month is not sealed).
create or replace function writ.fn_ledger_archived(
  p_month date,
  p_place text,
  p_actor text
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_month date;
  v_from timestamptz;
  v_to timestamptz;
begin
  if coalesce(btrim(p_actor), '') = '' or length(p_actor) > 200 then
    return writ_data.refusal('actor_required');
  elsif writ_data.caller_tenant() is not null then
    return writ_data.refusal('tenant_forbidden', 'The ledger is signed for all tenants.');
  elsif p_month is null or not isfinite(p_month) or coalesce(btrim(p_place), '') = '' then
    return writ_data.refusal('invalid_argument', 'A month and a place are given.');
  end if;
  v_month := date_trunc('month', p_month::timestamp)::date;
  v_from := v_month::timestamp at time zone 'UTC';
  v_to := (v_month + interval '1 month') at time zone 'UTC';

  if v_to > writ.now() then
    return writ_data.refusal('month_not_over', to_char(v_month, 'YYYY-MM'));
  elsif exists (
    select from writ_data.receipt r
    where r.at >= v_from and r.at < v_to
      and not exists (
        select from writ_data.ledger_leaf l where l.receipt_no = r.receipt_no)) then
    return writ_data.refusal('receipts_not_sequenced', to_char(v_month, 'YYYY-MM'));
  elsif exists (
    select from writ_data.receipt r
    join writ_data.ledger_leaf l on l.receipt_no = r.receipt_no
    where r.at >= v_from and r.at < v_to
      and l.leaf_index >= coalesce((
        select max(c.size) from writ_data.ledger_checkpoint c where c.log_id = l.log_id), 0)) then
    return writ_data.refusal('not_yet_signed', to_char(v_month, 'YYYY-MM'));
  elsif (writ_data.setting('ledger.sealing.enabled'))::boolean and exists (
    select from writ_data.event_batch b cross join writ_data.ledger_clockwork c
    where (b.xid, b.batch_id) > (c.seal_xid, c.seal_id) and b.batch_id > c.seal_since
      and b.at < v_to) then
    return writ_data.refusal('not_yet_signed',
      format('%s: its record is not sealed.', to_char(v_month, 'YYYY-MM')));
  end if;

  insert into writ_data.receipt_archive (month, place, archived_by, archived_at)
  values (v_month, left(p_place, 1000), p_actor, writ.now())
  on conflict do nothing;
  return jsonb_build_object('month', v_month);
end $$;
