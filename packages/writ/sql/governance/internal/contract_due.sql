-- Moves a contract whose time has come: a draft or review expires, a late review is alerted, a
-- window has passed. The caller has locked it.
create or replace function writ_data.contract_due(
  p_contract uuid,
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
as $$
declare
  c writ_data.contract;
  v_last_day boolean;  -- of the review
begin
  select * into c from writ_data.contract where contract_id = p_contract;
  v_last_day := c.review_due_at - interval '1 day' <= p_at;
  if c.due_at is null or c.due_at > p_at then
    return;
  elsif c.status = 'APPROVED' and c.template is null then
    perform writ_data.void_contract(p_contract, 'window_elapsed', p_actor, p_at);
  elsif c.status = 'APPROVED' then
    perform writ_data.move_contract(
      p_contract, 'FAILED', 'the template has expired', p_actor, p_at
    );
  elsif c.status = 'ELIGIBLE' and c.review_due_at > p_at then
    perform writ_data.raise_alert(
      case when v_last_day then 'REVIEW_ESCALATED' else 'REVIEW_LATE' end,
      case when v_last_day then 'P2' else 'P3' end,
      c.tenant_id, 'contract/' || p_contract, jsonb_build_object('title', c.title), p_actor, p_at
    );
    update writ_data.contract
    set due_at = case when v_last_day then review_due_at else review_due_at - interval '1 day' end
    where contract_id = p_contract;
  elsif c.status in ('DRAFT', 'VALIDATED', 'ELIGIBLE') then
    perform writ_data.move_contract(
      p_contract, 'EXPIRED',
      case when c.status = 'ELIGIBLE' then 'nobody has decided in time'
        else 'not submitted in time' end,
      p_actor, p_at
    );
    perform writ_data.clear_alert(a, 'contract/' || p_contract, p_actor, p_at)
    from unnest('{REVIEW_LATE,REVIEW_ESCALATED}'::text[]) a;
  else
    update writ_data.contract set due_at = null where contract_id = p_contract;
  end if;
end $$;
