-- Ends steps of ending runs that have become ready or waiting again, because their workers died or
-- their handlers failed after the run began to end. Otherwise such a run would wait for a worker
-- that serves the kind. A hundred runs at most; runs that another transaction has locked are for
-- the next minute. Undoing goes on, unless the run was stopped. A run that raises is set aside.
create or replace function writ_data.watch_endings(
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
set enable_seqscan = off
as $$
declare
  v_run uuid;
begin
  for v_run in
    select r.run_id from writ_data.run r
    where r.ending is not null and r.status in ('RUNNING', 'PAUSED') and r.engine = 'native'
      and exists (
        select from writ_data.open_steps(r.run_id) o
        where (o.type <> 'undo' or r.ending_with ->> 'undo' = 'false')
          and (exists (select from writ_data.job_wait w where w.job_id = o.job_id)
            or exists (
              select from writ_data.job_ready q where q.moved and q.job_ids[1] = o.job_id)))
    order by r.moved_at
    limit 100
    for no key update skip locked
  loop
    begin
      perform writ_data.end_waiting_steps(v_run, null, p_actor, p_at);
      perform writ_data.wind_up(v_run, p_actor, p_at);
    exception when others then
      if writ_data.is_transient(sqlstate) then
        raise;
      end if;
      continue when writ_data.is_callers_fault(sqlstate);
      perform writ_data.set_run_aside(v_run, 'RUN_STUCK', 'Its steps cannot end.', p_actor, p_at);
    end;
  end loop;
end $$;
