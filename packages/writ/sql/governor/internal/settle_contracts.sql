-- Tells governors about ended governance jobs that carried out their actions, one of each governor.
-- Answers: how many.
-- Locks:   the mailboxes of those governors.
create or replace function writ_data.settle_contracts(
  p_jobs uuid[],
  p_actor text,
  p_at timestamptz
) returns integer
language plpgsql
set enable_seqscan = off
as $$
declare
  v_governors uuid[];
  v_contents jsonb[];
  v_settled integer;
begin
  with gone as (
    delete from writ_data.governor_contract c
    where c.job_id = any (p_jobs)
    returning c.governor_id, c.action_id, c.attempt, c.job_id, c.stops
  )
  select
    array_agg(d.governor_id),
    array_agg(
      jsonb_build_object(
        'kind', 'result', 'action_id', d.action_id, 'attempt', d.attempt, 'ok', o.ok,
        'result', jsonb_build_object('governance_job', g.job_id, 'status', g.status)
      ) || case
        when o.ok and not d.stops then jsonb_build_object('baseline', 'unknown')
        when o.ok then '{}'
        else jsonb_build_object(
          'failure_reason', 'rejected',
          'error_message', left(concat_ws(': ', g.status, g.status_reason), 1000)
        )
      end
    ),
    count(*)
  into v_governors, v_contents, v_settled
  from gone d
  join writ_data.governance_job g on g.job_id = d.job_id
  cross join lateral (
    select case
      when d.stops then g.status in ('ROLLED_BACK', 'CANCELLED')
      else g.status = 'COMPLETED'
    end as ok
  ) o;
  if v_settled > 0 then
    perform writ_data.put_mail(v_governors, v_contents, p_at);
    perform writ_data.clear_alert(a.code, a.subject, p_actor, p_at)
    from writ_data.alert a
    where a.cleared_at is null and a.code = 'GOVERNANCE_SET_ASIDE'
      and a.subject in (select 'governance_job/' || j from unnest(p_jobs) j);
  end if;
  return v_settled;
end $$;
