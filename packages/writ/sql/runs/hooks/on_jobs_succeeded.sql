-- Ends steps that have succeeded, as steps_ended does, and lets no run stand in the way of another:
-- if one of several runs cannot be moved, the runs are moved one by one, and that one is set aside.
create or replace function writ_data.on_jobs_succeeded(
  p_jobs uuid[],
  p_results text[],
  p_attempts smallint[],
  p_command text,
  p_actor text,
  p_at timestamptz,
  p_taker text default null,
  p_take boolean[] default null,
  p_kinds text[] default null,
  out ended uuid[],
  out followed boolean,
  out due timestamptz,
  out taken uuid[],
  out answers text[]
)
language plpgsql
set enable_seqscan = off
as $$
declare
  v_part record;
  v_one record;
  v_message text;
begin
  begin
    select s.ended, s.followed, s.due, s.taken, s.answers
    into ended, followed, due, taken, answers
    from writ_data.steps_ended(p_jobs, p_results, p_attempts, p_command, p_actor, p_at, p_taker,
      p_take, p_kinds) s;
    return;
  exception when others then
    -- A governed step ends by its own gate; only the clockwork may have to get past one that did
    -- not.
    if writ_data.is_transient(sqlstate)
      or sqlerrm = 'run_is_governed' and p_command <> 'fn_job_lease_reaper' then
      raise;
    end if;
  end;

  ended := '{}';
  followed := true;
  for v_part in
    select j.run_id, array_agg(u.job order by u.n) as jobs,
      array_agg(u.result order by u.n) as results,
      array_agg(u.attempt order by u.n) as attempts
    from unnest(p_jobs, p_results, p_attempts) with ordinality u(job, result, attempt, n)
    join writ_data.job j on j.job_id = u.job
    where j.run_id is not null
    group by j.run_id
    order by j.run_id
  loop
    begin
      select s.ended, s.due into v_one
      from writ_data.steps_ended(v_part.jobs, v_part.results, v_part.attempts, p_command, p_actor,
        p_at) s;
      ended := ended || v_one.ended;
      due := least(due, v_one.due);
    exception when others then
      if writ_data.is_transient(sqlstate) or writ_data.is_callers_fault(sqlstate) then
        raise;
      end if;
      get stacked diagnostics v_message = message_text;
      perform writ_data.set_run_aside(v_part.run_id,
        case when sqlstate = 'WR001' then v_message else 'RUN_STUCK' end,
        'What follows from a step cannot be begun.', p_actor, p_at);
    end;
  end loop;
end $$;
