-- Resumes a run that paused because of a failure once no failed step is left: each was retried or
-- skipped. The caller has locked the run.
create or replace function writ_data.resume_if_settled(
  p_run uuid,
  p_signal uuid,
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
set enable_seqscan = off
as $$
begin
  if (select r.status = 'PAUSED' from writ_data.run r where r.run_id = p_run)
    and (
      select e.signal_id is null
      from writ_data.run_event e
      where e.run_id = p_run and e.step_id = 'RUN' and e.event_type = 'RunPaused'
      order by e.run_seq desc
      limit 1
    )
    and writ_data.failed_step(p_run) is null
  then
    perform writ_data.resume_run(p_run, p_signal, p_actor, p_at);
  end if;
end $$;
