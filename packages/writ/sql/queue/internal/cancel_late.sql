-- Cancels jobs whose deadline passed before a worker was free, a thousand rows of each table at
-- most, and 10,000 jobs in ready rows: a login may have a statement_timeout. If one of them raises,
-- they are cancelled one by one, for half a second.
-- Answers: how many; from a thousand on there may be more.
-- Locks:   their ready or waiting rows, passing over what another session holds.
create or replace function writ_data.cancel_late(p_actor text, p_at timestamptz) returns integer
language plpgsql
set enable_seqscan = off
as $$
declare
  v_began timestamptz := clock_timestamp();
  v_ready tid[] := array(
    with late as (
      select ctid as row, cardinality(job_ids) as jobs from writ_data.job_ready
      where deadline_at <= p_at
      limit 1000 for update skip locked
    )
    select x.row from (select l.row, sum(l.jobs) over (order by l.row) as upto from late l) x
    where x.upto <= 10000
  );
  v_waiting uuid[] := array(
    select job_id from writ_data.job_wait
    where deadline_at <= p_at
    limit 1000 for update skip locked
  );
  v_ended uuid[] := '{}'::uuid[];
  v_later timestamptz;
  gone record;                      -- a ready row that cannot be cancelled
begin
  if v_ready = '{}' and v_waiting = '{}' then
    return 0;
  end if;

  begin
    v_ended := writ_data.cancel_unleased(v_ready, v_waiting, p_at);
  exception when others then
    -- One of them cannot be cancelled: the others can. A ready row that cannot waits from now on,
    -- so that nobody claims it.
    for i in 1 .. cardinality(v_ready) loop
      exit when i > 100 and clock_timestamp() > v_began + interval '500 ms';
      begin
        v_ended := v_ended || writ_data.cancel_unleased(v_ready[i:i], '{}', p_at);
      exception when others then
        continue when writ_data.is_callers_fault(sqlstate);
        v_later := p_at + case
          when writ_data.set_aside(
            'job/' || (select r.job_ids[1] from writ_data.job_ready r where r.ctid = v_ready[i]),
            null, sqlstate, sqlerrm, p_actor, p_at
          ) then interval '1 hour' else interval '1 second'
        end;
        delete from writ_data.job_ready where ctid = v_ready[i]
        returning job_ids, attempts, execution_no into gone;
        perform writ_data.wait_aside(
          gone.job_ids,
          array_fill(gone.attempts, array[cardinality(gone.job_ids)]),
          array_fill(gone.execution_no, array[cardinality(gone.job_ids)]),
          v_later, p_at
        );
      end;
    end loop;
    for i in 1 .. cardinality(v_waiting) loop
      exit when i > 100 and clock_timestamp() > v_began + interval '500 ms';
      begin
        v_ended := v_ended || writ_data.cancel_unleased('{}', v_waiting[i:i], p_at);
      exception when others then
        continue when writ_data.is_callers_fault(sqlstate);
        v_later := p_at + case
          when writ_data.set_aside(
            'job/' || v_waiting[i], null, sqlstate, sqlerrm, p_actor, p_at
          ) then interval '1 hour' else interval '1 second'
        end;
        update writ_data.job_wait
        set due_at = greatest(due_at, v_later), deadline_at = v_later
        where job_id = v_waiting[i];
      end;
    end loop;
  end;

  if v_ended <> '{}' then
    perform writ_data.record(
      'fn_job_tick', p_actor, p_at, v_ended,
      array['dot.job.cancelled'], array[1], array[cardinality(v_ended)],
      jsonb_build_object('code', 'deadline_exceeded')
    );
  end if;
  return cardinality(v_ended);
end $$;
