-- From now on nothing of a run begins. Waits and timers are over; steps that wait for another attempt too. With a stop or a cancel, handlers that run are told to stop. What runs goes on to its
-- end, then the run winds up. The caller has locked the run; rows that somebody else is moving are passed over, and end when they are claimed.
create or replace function writ_data.begin_ending(p_run uuid, p_ending text, p_with jsonb, p_signal uuid, p_actor text, p_at timestamptz) returns void language plpgsql
  set enable_seqscan = off as $$
declare
  v_jobs uuid[]; v_tries smallint[]; v_nos integer[]; v_steps text[]; v_attempts text[]; v_types text[]; v_stop uuid[]; v_n integer;
begin
  update writ_data.run set ending = p_ending, ending_with = p_with, moved_at = p_at where run_id = p_run;
  with gone as (
    delete from writ_data.job_wait where ctid = any (array(
      select w.ctid from writ_data.job j join writ_data.job_wait w on w.job_id = j.job_id where j.run_id = p_run and j.job_id > p_run for update of w skip locked))
    returning job_id, attempts, execution_no
  )
  select array_agg(g.job_id), array_agg(g.attempts), array_agg(g.execution_no), array_agg(o.step_id) filter (where o.step_id is not null), array_agg(o.attempt::text) filter (where o.step_id is not null), array_agg(o.type) filter (where o.step_id is not null)
  into v_jobs, v_tries, v_nos, v_steps, v_attempts, v_types
  from gone g left join writ_data.open_steps(p_run) o on o.job_id = g.job_id;
  if v_jobs is not null then
    perform writ_data.end_unleased(v_jobs, v_tries, v_nos, 'run_ending', 'The run is ending.', p_at);
  end if;
  if v_steps is not null then
    v_n := cardinality(v_steps);
    perform writ_data.append_events(array_fill(p_run, array[v_n]), array(select case when t in ('wait', 'timer') then 'StepSkipped' else 'StepFailed' end from unnest(v_types) with ordinality u(t, n) order by n), v_steps, v_attempts,
      array_fill(null::integer, array[v_n]),
      array(select case when t in ('wait', 'timer') then '{"reasonCode": "DEPENDENCY_FAILED"}'::jsonb else
        '{"error": {"errorCode": "cancelled", "errorMessage": "The run is ending.", "retryable": true, "failureCategory": "USER", "failureSource": "engine"}}' end from unnest(v_types) with ordinality u(t, n) order by n),
      null, p_signal, 'fn_run_move', p_actor, p_at);
  end if;
  if p_ending = 'CANCELLED' then
    select array_agg(o.job_id) into v_stop from writ_data.open_steps(p_run) o where o.type = 'job' and o.job_id is not null;
    if v_stop is not null then
      insert into writ_data.job_cancel (job_id, requested_at, requested_by, reason) select j, p_at, p_actor, 'The run is cancelled.' from unnest(v_stop) j on conflict do nothing;
      perform pg_notify('queue_cancel', j::text) from unnest(v_stop) j;
    end if;
  end if;
  perform writ_data.wind_up(p_run, p_actor, p_at);
end $$;
