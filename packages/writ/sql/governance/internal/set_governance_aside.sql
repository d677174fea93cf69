-- Sets a row that made governance's clockwork fail aside for five minutes, with an alert, so that
-- the other rows get their turn.
create or replace function writ_data.set_governance_aside(
  p_sort text,       -- ended, contract, job, settled, denials or alerts
  p_id uuid,
  p_tenant text,
  p_error text,
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
as $$
declare
  v_due timestamptz := p_at + interval '5 minutes';
begin
  if p_sort = 'ended' then
    update writ_data.governance_ended set due_at = v_due where job_id = p_id;
  elsif p_sort = 'contract' then
    update writ_data.contract set due_at = v_due where contract_id = p_id;
  elsif p_sort = 'job' then
    update writ_data.governance_job set due_at = v_due where job_id = p_id;
  end if;
  perform writ_data.raise_alert(
    'GOVERNANCE_SET_ASIDE', 'P1', p_tenant,
    concat_ws('/', case when p_sort in ('contract', 'denials', 'alerts') then p_sort
      else 'governance_job' end, p_id),
    jsonb_build_object('what', p_sort, 'error', left(p_error, 1000)), p_actor, p_at
  );
exception when others then
  null; -- A row that no update reaches: the next turn meets it again, after the others.
end $$;
