-- What has to hold before any step of a governance job: raises what does not. The caller has locked the job.
create or replace function writ_data.may_go_on(g writ_data.governance_job, c writ_data.contract, p_at timestamptz) returns void language plpgsql as $$
declare
  v_wrong text := case
    when g.status not in ('PENDING', 'RUNNING') then 'job_terminal'
    when c.status <> 'ACTIVE' and g.kind = 'forward' then 'contract_terminal'
    when g.scope_hash <> c.scope_hash then 'scope_violation'
    when g.status = 'RUNNING' and p_at > g.started_at + g.max_duration_ms * interval '1 millisecond' and g.kind = 'forward' then 'duration_exceeded'
    when g.status = 'PENDING' and g.kind = 'forward' and p_at not between c.window_start and c.window_end then 'window_elapsed'
    when g.kind = 'forward' then writ_data.approved_still(c) end;
begin
  if v_wrong is not null then
    raise exception using errcode = 'WR001', message = v_wrong, detail = format('Governance job %s of contract %s.', g.job_id, c.contract_id);
  end if;
end $$;
