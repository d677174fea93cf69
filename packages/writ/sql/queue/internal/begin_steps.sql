-- Lets the steps among the jobs that a claim has taken begin, and turns away those that may not. If
-- one of them raises, halves the list until that one is alone, sets it aside with an alert, and
-- lets it wait for an hour. A transient error, or one that may be the caller's fault, fails the
-- claim and moves nothing.
-- Answers: the positions of the jobs that the claim does not get, and whether some of them went
--          back to their lanes because their runs are locked.
create or replace function writ_data.begin_steps(
  p_jobs uuid[],
  p_attempts smallint[],
  p_execution_nos integer[],
  p_actor text,
  p_at timestamptz,
  out away integer[],
  out held boolean
)
language plpgsql
as $$
declare
  v_n integer := cardinality(p_jobs);
  v_half integer := v_n / 2;
  begun record;                     -- positions that may not begin (on_jobs_claimed)
  part record;                      -- of a half
begin
  begin
    begun := writ_data.on_jobs_claimed(p_jobs, p_execution_nos, p_actor, p_at);
    if begun.held <> '{}' or begun.over <> '{}' then
      perform writ_data.turn_away(
        p_jobs, p_attempts, p_execution_nos, begun.held, begun.over, p_actor, p_at
      );
    end if;
    away := begun.held || begun.over;
    held := begun.held <> '{}';
    return;
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
      away := '{1}';
      held := false;
      return;
    end if;
  end;

  part := writ_data.begin_steps(
    p_jobs[:v_half], p_attempts[:v_half], p_execution_nos[:v_half], p_actor, p_at
  );
  away := part.away;
  held := part.held;
  part := writ_data.begin_steps(
    p_jobs[v_half + 1:], p_attempts[v_half + 1:], p_execution_nos[v_half + 1:], p_actor, p_at
  );
  away := away || array(select n + v_half from unnest(part.away) n);
  held := held or part.held;
end $$;
