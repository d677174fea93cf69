-- Erases what a receipt keeps out of line, value and salt: the receipt and every proof of it stay as they are, and nobody can guess the value from its hash.
-- Callers: writ_admin
create or replace function writ.fn_receipt_erase(p_receipt_id uuid, p_reason text, p_actor text) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_no bigint; v_log text; v_n integer;
begin
  if coalesce(btrim(p_actor), '') = '' or length(p_actor) > 200 then
    return writ_data.refusal('actor_required');
  elsif length(coalesce(btrim(p_reason), '')) < 10 then
    return writ_data.refusal('reason_required', 'More than ten characters, for those who read it in a year.');
  end if;
  select receipt_no, log_id into v_no, v_log from writ_data.receipt where receipt_id = p_receipt_id and writ_data.visible(log_id);
  if v_no is null then
    return writ_data.refusal('receipt_not_found', p_receipt_id::text);
  end if;
  delete from writ_data.receipt_erasable where receipt_no = v_no;
  get diagnostics v_n = row_count;
  if v_n > 0 then
    perform writ_data.system_receipt('data_erased', 'erasure', jsonb_build_object('receipt_id', p_receipt_id, 'log', v_log, 'fields', v_n, 'reason', left(btrim(p_reason), 1000), 'actor', p_actor), writ.now());
  end if;
  return jsonb_build_object('erased', v_n);
end $$;
