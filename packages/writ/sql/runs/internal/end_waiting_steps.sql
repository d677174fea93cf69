-- Ends the steps of an ending run that no worker holds: waits, timers, and jobs that wait for
-- another attempt or are ready for one. A step that began elsewhere fails as cancelled; a wait or a
-- timer is skipped. The caller has locked the run. Rows that another transaction is moving are
-- passed over: a claim turns them away, or writ_data.watch_endings finds them a minute later.
create or replace function writ_data.end_waiting_steps(
  p_run uuid,
  p_signal uuid,
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
set enable_seqscan = off
as $$
declare
  v_jobs uuid[];
  v_tries smallint[];
  v_nos integer[];
  v_steps text[];
  v_attempts text[];
  v_types text[];
  v_data jsonb[];
  v_n integer;
begin
  -- A job that began and is ready again stands in a row of its own (job_ready.moved).
  with waiting as (
    delete from writ_data.job_wait where ctid = any (array(
      select w.ctid
      from writ_data.job j join writ_data.job_wait w on w.job_id = j.job_id
      where j.run_id = p_run and j.job_id > p_run
      for update of w skip locked))
    returning job_id, attempts, execution_no
  ), ready as (
    delete from writ_data.job_ready where ctid = any (array(
      select q.ctid
      from writ_data.open_steps(p_run) o
      join writ_data.job_ready q on q.moved and q.job_ids[1] = o.job_id
      for update of q skip locked))
    returning job_ids[1] as job_id, attempts, execution_no
  ), gone as (
    select * from waiting
    union all
    select * from ready
  )
  select array_agg(g.job_id), array_agg(g.attempts), array_agg(g.execution_no),
    array_agg(o.step_id) filter (where o.step_id is not null),
    array_agg(o.attempt::text) filter (where o.step_id is not null),
    array_agg(case when o.type in ('wait', 'timer') then 'StepSkipped' else 'StepFailed' end)
      filter (where o.step_id is not null),
    array_agg(case
        when o.type in ('wait', 'timer') then '{"reasonCode": "DEPENDENCY_FAILED"}'::jsonb
        else '{"error": {"errorCode": "cancelled", "errorMessage": "The run is ending.",
          "retryable": true, "failureCategory": "USER", "failureSource": "engine"}}'
      end) filter (where o.step_id is not null)
  into v_jobs, v_tries, v_nos, v_steps, v_attempts, v_types, v_data
  from gone g
  left join writ_data.open_steps(p_run) o on o.job_id = g.job_id;

  if v_jobs is not null then
    perform writ_data.end_unleased(v_jobs, v_tries, v_nos, 'run_ending', 'The run is ending.',
      p_at);
  end if;
  if v_steps is not null then
    v_n := cardinality(v_steps);
    perform writ_data.append_events(array_fill(p_run, array[v_n]), v_types, v_steps, v_attempts,
      array_fill(null::integer, array[v_n]), v_data, null, p_signal, 'fn_run_move', p_actor, p_at);
  end if;
end $$;
