-- Moves a contract after a review. The caller has locked it and written the review down; c is the
-- contract as it was then.
create or replace function writ_data.follow_review(
  c writ_data.contract,
  p_action text,
  p_reason text,
  p_who text,
  p_at timestamptz
) returns void
language plpgsql
as $$
declare
  v_stopped interval;
begin
  case p_action
    when 'REJECT' then
      perform writ_data.move_contract(
        c.contract_id, 'REJECTED', left(btrim(p_reason), 4000), p_who, p_at
      );
    when 'REQUEST_CLARIFICATION' then
      update writ_data.contract
      set clock_stopped_at = coalesce(clock_stopped_at, p_at), due_at = null
      where contract_id = c.contract_id;
    when 'CLARIFY' then
      v_stopped := greatest(p_at - c.clock_stopped_at, interval '0'); -- a clock may be set back
      update writ_data.contract
      set
        review_due_at = review_due_at + v_stopped,
        not_after = not_after + v_stopped,
        expires_at = expires_at + v_stopped,
        due_at = coalesce(
          review_due_at + v_stopped - interval '2 days', expires_at + v_stopped
        ),
        clock_stopped_at = null
      where contract_id = c.contract_id and clock_stopped_at is not null;
      perform writ_data.begin_round(c.contract_id); -- what was signed ends at another time
    when 'ESCALATE' then
      update writ_data.contract set escalated_by = p_who where contract_id = c.contract_id;
      perform writ_data.raise_alert(
        'CONTRACT_ESCALATED', 'P2', c.tenant_id, 'contract/' || c.contract_id,
        jsonb_build_object('title', c.title, 'by', p_who), p_who, p_at
      );
      if c.status in ('DRAFT', 'VALIDATED') then
        perform writ_data.submit_contract(c.contract_id, p_who, p_at);
      end if;
    when 'REVOKE' then
      perform writ_data.begin_round(c.contract_id);
      if c.status = 'APPROVED' then
        perform writ_data.move_contract(
          c.contract_id, 'ELIGIBLE', p_who || ' has revoked the approval', p_who, p_at
        );
        update writ_data.contract
        set approved_by = '{}', approved_at = null, window_start = null, window_end = null,
          due_at = review_due_at
        where contract_id = c.contract_id;
      end if;
    else
  end case;

  if p_action = 'REJECT' then
    perform writ_data.clear_review_alerts(c, p_who, p_at);
  end if;
end $$;
