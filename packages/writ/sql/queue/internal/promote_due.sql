-- Puts waiting jobs that are due into their lanes, five thousand at most, and wakes workers. If one
-- of them raises, they go one by one, for half a second.
-- Answers: how many.
-- Locks:   their waiting rows, passing over what another session holds.
create or replace function writ_data.promote_due(p_actor text, p_at timestamptz) returns integer
language plpgsql
set enable_seqscan = off
as $$
declare
  v_due uuid[] := array(
    select job_id from writ_data.job_wait
    where due_at <= p_at and job_kind <> all ('{writ.wait,writ.timer}')
    order by due_at
    limit 5000 for update skip locked
  );
  v_began timestamptz := clock_timestamp();
  v_tried integer := 0;
  v_promoted integer := 0;
  v_job uuid;
  v_later timestamptz;
begin
  if v_due = '{}' then
    return 0;
  end if;

  begin
    v_promoted := writ_data.promote(v_due, p_at);
  exception when others then
    foreach v_job in array v_due loop
      exit when v_tried >= 100 and clock_timestamp() > v_began + interval '500 ms';
      v_tried := v_tried + 1;
      begin
        v_promoted := v_promoted + writ_data.promote(array[v_job], p_at);
      exception when others then
        continue when writ_data.is_callers_fault(sqlstate);
        v_later := p_at + case
          when writ_data.set_aside('job/' || v_job, null, sqlstate, sqlerrm, p_actor, p_at)
          then interval '1 hour' else interval '1 second'
        end;
        update writ_data.job_wait set due_at = v_later where job_id = v_job;
      end;
    end loop;
  end;
  return v_promoted;
end $$;
