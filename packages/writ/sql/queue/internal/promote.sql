-- Puts waiting jobs, whose rows the caller has locked, into their lanes, and wakes workers.
-- Answers: how many.
create or replace function writ_data.promote(p_jobs uuid[], p_at timestamptz) returns integer
language plpgsql
set enable_seqscan = off
as $$
declare
  v_jobs uuid[];
  v_kinds text[];
  v_tenants text[];
  v_keys text[];
  v_priorities smallint[];
  v_alone boolean[];
  v_attempts smallint[];
  v_nos integer[];
  v_deadlines timestamptz[];
begin
  with due as (
    delete from writ_data.job_wait where job_id = any (p_jobs) returning *
  )
  select
    array_agg(d.job_id), array_agg(d.job_kind), array_agg(d.tenant_id), array_agg(d.limit_key),
    array_agg(d.priority), array_agg(d.alone), array_agg(d.attempts), array_agg(d.execution_no),
    array_agg(d.deadline_at)
  into v_jobs, v_kinds, v_tenants, v_keys, v_priorities, v_alone, v_attempts, v_nos, v_deadlines
  from (select * from due order by due_at, job_id) d;

  perform writ_data.wake(
    writ_data.make_ready(
      v_jobs, v_kinds, v_tenants, v_keys, v_priorities, v_alone, v_attempts, v_nos, v_deadlines
    ),
    p_at
  );
  return cardinality(v_jobs);
end $$;
