-- Ends jobs that a claim took after their deadline. If one of them raises, halves the list until
-- that one is alone, sets it aside with an alert, and lets it wait for an hour. A transient error,
-- or one that may be the caller's fault, fails the claim and moves nothing.
-- Answers: the jobs that it ended.
create or replace function writ_data.end_late(
  p_jobs uuid[],
  p_attempts smallint[],
  p_execution_nos integer[],
  p_actor text,
  p_at timestamptz
) returns uuid[]
language plpgsql
as $$
declare
  v_n integer := cardinality(p_jobs);
  v_half integer := v_n / 2;
begin
  begin
    return writ_data.end_unleased(
      p_jobs, p_attempts, p_execution_nos,
      'deadline_exceeded', 'The deadline passed before a worker was free.', p_at
    );
  exception when others then
    if writ_data.is_transient(sqlstate) or writ_data.is_callers_fault(sqlstate) then
      raise;
    elsif v_n = 1 then
      perform writ_data.set_aside(
        'job/' || p_jobs[1], (select tenant_id from writ_data.job where job_id = p_jobs[1]),
        sqlstate, sqlerrm, p_actor, p_at
      );
      perform writ_data.wait_aside(
        p_jobs, p_attempts, p_execution_nos, p_at + interval '1 hour', p_at
      );
      return '{}'::uuid[];
    end if;
  end;
  return writ_data.end_late(
      p_jobs[:v_half], p_attempts[:v_half], p_execution_nos[:v_half], p_actor, p_at
    ) || writ_data.end_late(
      p_jobs[v_half + 1:], p_attempts[v_half + 1:], p_execution_nos[v_half + 1:], p_actor, p_at
    );
end $$;
