-- From now on nothing of a run begins, and the steps that no worker holds end. With a stop or a
-- cancel, workers are told to stop their handlers. What runs goes on to its end; then the run winds
-- up. The caller has locked the run.
create or replace function writ_data.begin_ending(
  p_run uuid,
  p_ending text,
  p_with jsonb,
  p_signal uuid,
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
set enable_seqscan = off
as $$
declare
  v_stop uuid[];
begin
  update writ_data.run set ending = p_ending, ending_with = p_with, moved_at = p_at
  where run_id = p_run;
  perform writ_data.end_waiting_steps(p_run, p_signal, p_actor, p_at);
  if p_ending = 'CANCELLED' then
    select array_agg(o.job_id) into v_stop
    from writ_data.open_steps(p_run) o
    where o.type = 'job' and o.job_id is not null;
    if v_stop is not null then
      insert into writ_data.job_cancel (job_id, requested_at, requested_by, reason)
      select j, p_at, p_actor, 'The run is cancelled.' from unnest(v_stop) j
      on conflict do nothing;
      perform pg_notify('queue_cancel', j::text) from unnest(v_stop) j;
    end if;
  end if;
  perform writ_data.wind_up(p_run, p_actor, p_at);
end $$;
