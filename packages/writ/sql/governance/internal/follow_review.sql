-- Moves a contract after a review. The caller has locked it and written the review down; c is the
-- contract as it was then.
create or replace function writ_data.follow_review(
  c writ_data.contract,
  p_action text,
  p_reason text,
  p_policy jsonb,
  p_who text,
  p_at timestamptz
) returns void
language plpgsql
as $$
declare
  v_by text[];
  v_window interval;
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
      update writ_data.contract
      set
        review_due_at = review_due_at + (p_at - clock_stopped_at),
        expires_at = expires_at + (p_at - clock_stopped_at),
        due_at = coalesce(
          review_due_at + (p_at - clock_stopped_at) - interval '2 days',
          expires_at + (p_at - clock_stopped_at)
        ),
        clock_stopped_at = null
      where contract_id = c.contract_id and clock_stopped_at is not null;
    when 'ESCALATE' then
      update writ_data.contract set escalated_by = p_who where contract_id = c.contract_id;
      perform writ_data.raise_alert(
        'CONTRACT_ESCALATED', 'P2', c.tenant_id, 'contract/' || c.contract_id,
        jsonb_build_object('title', c.title, 'by', p_who), p_who, p_at
      );
      if c.status in ('DRAFT', 'VALIDATED') then
        perform writ_data.submit_contract(c.contract_id, p_who, p_at);
      end if;
    when 'APPROVE' then
      v_by := array(
        select r.by from writ_data.contract_review r
        where r.contract_id = c.contract_id and r.action = 'APPROVE' and r.hash = c.approval_hash
        order by r.review_no
      );
      v_window := coalesce(
        (c.template ->> 'expires_in_sec')::integer * interval '1 second',
        c.window_hours * interval '1 hour'
      );
      if cardinality(v_by) >= (p_policy #>> array['approvals', c.risk_level])::integer
        and (c.risk_level <> 'critical' or c.escalated_by is not null)
      then
        update writ_data.contract
        set approved_by = v_by, approved_at = p_at, window_start = p_at,
          window_end = p_at + v_window, due_at = p_at + v_window
        where contract_id = c.contract_id;
        perform writ_data.move_contract(
          c.contract_id, 'APPROVED', 'approved by ' || array_to_string(v_by, ', '), p_who, p_at
        );
      end if;
    else
  end case;

  if p_action in ('APPROVE', 'REJECT') and p_at >= c.review_due_at - interval '2 days'
    and (
      select x.status from writ_data.contract x where x.contract_id = c.contract_id
    ) <> 'ELIGIBLE'
  then
    -- Somebody has decided: the alerts that nobody had are over.
    perform writ_data.clear_alert(a, 'contract/' || c.contract_id, p_who, p_at)
    from unnest('{REVIEW_LATE,REVIEW_ESCALATED}'::text[]) a;
  end if;
end $$;
