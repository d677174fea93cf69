-- internal
-- Governance jobs begin with the first of their steps. The caller has locked them, and they are PENDING.
create or replace function writ_data.begin_governance_jobs(p_jobs uuid[], p_actor text, p_at timestamptz) returns void language plpgsql as $$
begin
  update writ_data.governance_job set started_at = p_at, executor_id = p_actor, due_at = case when kind = 'forward' then p_at + max_duration_ms * interval '1 millisecond' end where job_id = any (p_jobs); -- what has begun to be undone is undone, however long it takes
  perform writ_data.move_governance_jobs(p_jobs, array['RUNNING'], 'run_started', null, p_actor, p_at);
end $$;
