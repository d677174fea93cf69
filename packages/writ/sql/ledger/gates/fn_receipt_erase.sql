-- Erases the values, with their salts, that a receipt stores out of line. The receipt and its
-- proofs do not change. Without the salt, an attacker cannot guess a value from its hash.
-- Callers: writ_admin
-- Answers: {erased}: how many values. A receipt in _system records the erasure and its reason.
-- Refuses: actor_required, reason_required, receipt_not_found (also for a receipt of another
--          tenant).
create or replace function writ.fn_receipt_erase(
  p_receipt_id uuid,
  p_reason text,
  p_actor text
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_nos bigint[];
  v_log text;
  v_n integer;
begin
  if coalesce(btrim(p_actor), '') = '' or length(p_actor) > 200 then
    return writ_data.refusal('actor_required');
  elsif length(coalesce(btrim(p_reason), '')) < 10 then
    return writ_data.refusal('reason_required',
      'More than ten characters, for those who read it in a year.');
  end if;

  -- No constraint makes receipt ids unique, because the table is partitioned by month.
  select array_agg(r.receipt_no), min(r.log_id) into v_nos, v_log
  from writ_data.receipt r
  where r.receipt_id = p_receipt_id and writ_data.visible(r.log_id);
  if v_nos is null then
    return writ_data.refusal('receipt_not_found', p_receipt_id::text);
  end if;

  delete from writ_data.receipt_erasable where receipt_no = any (v_nos);
  get diagnostics v_n = row_count;
  if v_n > 0 then
    perform writ_data.system_receipt('data_erased', 'erasure', jsonb_build_object(
      'receipt_id', p_receipt_id, 'log', v_log, 'fields', v_n,
      'reason', left(btrim(p_reason), 1000), 'actor', p_actor), v_now);
    perform writ_data.record('fn_receipt_erase', p_actor, v_now, '{}', '{}', '{}', '{}',
      p_note => p_receipt_id::text);
  end if;
  return jsonb_build_object('erased', v_n);
end $$;
