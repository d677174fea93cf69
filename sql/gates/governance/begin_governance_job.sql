-- internal
-- What has to hold before any step of a governance job, and its beginning with the first: raises what does not. The caller has locked the job. Answers it as it is now.
create or replace function writ_data.begin_governance_job(g writ_data.governance_job, c writ_data.contract, p_actor text, p_at timestamptz) returns writ_data.governance_job language plpgsql as $$
declare
  v_wrong text;
begin
  v_wrong := case
    when g.status not in ('PENDING', 'RUNNING') then 'job_terminal'
    when c.status <> 'ACTIVE' and g.kind = 'forward' then 'contract_terminal'
    when g.scope_hash <> c.scope_hash then 'scope_violation'
    when g.status = 'RUNNING' and p_at > g.started_at + g.max_duration_ms * interval '1 millisecond' and g.kind = 'forward' then 'duration_exceeded'
    when g.status = 'PENDING' and g.kind = 'forward' and p_at not between c.window_start and c.window_end then 'window_elapsed'
    when g.kind = 'forward' then writ_data.approved_still(c) end;
  if v_wrong is not null then
    raise exception using errcode = 'WR001', message = v_wrong, detail = format('Governance job %s of contract %s.', g.job_id, c.contract_id);
  end if;
  if g.status = 'PENDING' then
    update writ_data.governance_job set started_at = p_at, executor_id = p_actor, due_at = case when kind = 'forward' then p_at + max_duration_ms * interval '1 millisecond' end where job_id = g.job_id; -- what has begun to be undone is undone, however long it takes
    perform writ_data.move_governance_job(g.job_id, array['RUNNING'], 'run_started', null, p_actor, p_at);
    select * into g from writ_data.governance_job where job_id = g.job_id;
  end if;
  return g;
end $$;
