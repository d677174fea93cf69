-- Checks the conditions of every step of a governance job, and raises (WR001) the first that fails.
-- A step that undoes ignores window, duration and approval. The caller has locked the job.
create or replace function writ_data.may_go_on(
  g writ_data.governance_job,
  c writ_data.contract,
  p_at timestamptz
) returns void
language plpgsql
as $$
declare
  v_wrong text := case
    when g.status not in ('PENDING', 'RUNNING') then 'job_terminal'
    when g.scope_hash <> c.scope_hash then 'scope_violation'
    when g.kind = 'rollback' then null
    when c.status <> 'ACTIVE' then 'contract_terminal'
    when g.status = 'RUNNING'
      and p_at > g.started_at + g.max_duration_ms * interval '1 millisecond'
      then 'duration_exceeded'
    -- The window began when the contract was approved; a clock that was set back changes nothing.
    when p_at > c.window_end then 'window_elapsed'
    when c.glass_broken is null and p_at > c.not_after then 'window_elapsed'
    else writ_data.approved_still(c)
  end;
begin
  if v_wrong is not null then
    raise exception using errcode = 'WR001', message = v_wrong,
      detail = format('Governance job %s of contract %s.', g.job_id, c.contract_id);
  end if;
end $$;
