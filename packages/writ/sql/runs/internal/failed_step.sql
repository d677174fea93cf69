-- Returns a step of a run that has failed, is not optional, and has been neither retried nor
-- skipped; null if there is none.
create or replace function writ_data.failed_step(p_run uuid) returns text
language plpgsql stable
set enable_seqscan = off
as $$
begin
  return (
    select s.step_id
    from writ_data.run r
    join writ_data.plan_step s on s.plan_no = r.plan_no and not s.optional
    where r.run_id = p_run and writ_data.step_stands(p_run, s.step_id) = 'failed'
    order by s.step_no
    limit 1
  );
end $$;
