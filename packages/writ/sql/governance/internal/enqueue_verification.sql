-- Asks an applier to verify the signatures of a contract that have no verdict yet, in the
-- transaction that keeps them. Raises if that cannot be enqueued.
create or replace function writ_data.enqueue_verification(
  c writ_data.contract,
  p_actor text
) returns void
language plpgsql
as $$
declare
  v_answer jsonb := writ_data.enqueue_alike(
    'governance.verify', array[writ_data.uuidv7()],
    json_build_array(json_build_object('contract', c.contract_id)), p_actor, c.tenant_id
  );
begin
  if v_answer -> 'refused' not in ('[]', 'false') then
    raise exception using errcode = 'WR001',
      message = coalesce(v_answer ->> 'reason', v_answer #>> '{refused,0,reason}'),
      detail = format('The verification of contract %s could not be enqueued.', c.contract_id);
  end if;
end $$;
