-- Draws the consequence of a failed step for its run, after its event: nothing if the step is
-- optional; a pause if the plan says so; otherwise the run begins to end. The caller has locked the
-- run.
create or replace function writ_data.step_failed(
  p_run uuid,
  p_step smallint,
  p_code text,
  p_message text,
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
set enable_seqscan = off
as $$
declare
  r writ_data.run;
  s writ_data.plan_step;
begin
  select * into r from writ_data.run where run_id = p_run;
  select * into s from writ_data.plan_step where plan_no = r.plan_no and step_no = p_step;
  if s.optional or r.ending is not null or r.status not in ('RUNNING', 'PAUSED') then
    return;
  elsif (select p.on_failure = 'pause' from writ_data.plan p where p.plan_no = r.plan_no) then
    if r.status = 'RUNNING' then
      perform writ_data.pause_run(
        p_run,
        format('Step %s failed: %s', s.step_id, p_code),
        null, p_actor, p_at
      );
    end if;
    return;
  end if;

  perform writ_data.begin_ending(
    p_run, 'FAILED',
    jsonb_build_object(
      'rootCause', jsonb_build_object(
        'stepId', s.step_id,
        'errorCode', p_code,
        'errorMessage', left(p_message, 1000)
      )
    ),
    null, p_actor, p_at
  );
end $$;
