-- Cancels a job, or asks its worker to stop it: the body of fn_job_cancel.
-- Answers: {job_id, status: 'cancelled'} for a job that was queued or waiting; {job_id, status:
--          'cancel_requested'} for one that a worker holds. NOTIFY hints at the request, renewals
--          answer it. Whatever ends the execution then, except success, ends the job as cancelled.
-- Refuses: actor_required, invalid_actor, payload_too_large, job_not_found, step_of_run,
--          job_terminal, committed_cannot_cancel, job_busy.
-- Locks:   the job's ready row, waiting row or lease. The job can move while we look for it; the
--          lock of the lease decides, and after it everything is looked at again.
create or replace function writ_data.cancel_job(
  p_job_id uuid,
  p_reason text,
  p_actor text,
  p_tenant_id text default null
) returns jsonb
language plpgsql
set enable_seqscan = off
as $$
declare
  v_now timestamptz := writ.now();
  v_job writ_data.job;
  v_attempts smallint;
  v_no integer;
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refusal('actor_required');
  elsif length(p_actor) > 200 then
    return writ_data.refusal('invalid_actor');
  elsif octet_length(p_reason) > 4000 then
    return writ_data.refusal('payload_too_large', 'A reason has at most 4,000 bytes.');
  end if;
  select * into v_job
  from writ_data.job
  where job_id = p_job_id and tenant_id = coalesce(p_tenant_id, tenant_id);
  if not found then
    return writ_data.refusal('job_not_found', p_job_id::text);
  elsif v_job.run_id is not null then
    return writ_data.refusal('step_of_run', v_job.run_id::text);
  end if;

  for v_try in 1 .. 10 loop
    -- Queued or waiting: end it here.
    select attempts, execution_no into v_attempts, v_no from writ_data.leave_ready(v_job);
    if v_no is null then
      delete from writ_data.job_wait
      where job_id = p_job_id
      returning attempts, execution_no into v_attempts, v_no;
    end if;
    if v_no is not null then
      if cardinality(writ_data.end_unleased(
        array[p_job_id], array[v_attempts], array[v_no], 'cancelled', p_reason, v_now
      )) = 0 then
        continue;                   -- the row was left over; look where the job really stands
      end if;
      perform writ_data.record(
        'fn_job_cancel', p_actor, v_now, array[p_job_id],
        array['dot.job.cancelled'], array[1], array[1], p_note => p_reason
      );
      return jsonb_build_object('job_id', p_job_id, 'status', 'cancelled');
    end if;

    if exists (select from writ_data.job_cleaned where job_id = p_job_id)
      or exists (
        select from writ_data.job_execution
        where job_id = p_job_id and (final or status = 'DONE')
      )
    then
      return writ_data.refusal('job_terminal');
    elsif exists (
      select from writ_data.job_execution where job_id = p_job_id and status = 'COMMITTED'
    ) then
      return writ_data.refusal('committed_cannot_cancel');
    end if;

    -- Held by a worker: leave it a request.
    perform from writ_data.job_lease where p_job_id = any (job_ids) for no key update;
    if found
      and not writ_data.stands_ready(v_job)
      and not exists (select from writ_data.job_wait where job_id = p_job_id)
      and not exists (
        select from writ_data.job_execution
        where job_id = p_job_id and (final or status <> 'ABORTED')
      )
    then
      insert into writ_data.job_cancel (job_id, requested_at, requested_by, reason)
      values (p_job_id, v_now, p_actor, p_reason)
      on conflict do nothing;
      if found then
        perform writ_data.record(
          'fn_job_cancel', p_actor, v_now, array[p_job_id],
          array['dot.job.cancel_requested'], array[1], array[1], p_note => p_reason
        );
        perform pg_notify('queue_cancel', p_job_id::text);
      end if;
      return jsonb_build_object('job_id', p_job_id, 'status', 'cancel_requested');
    end if;
  end loop;
  return writ_data.refusal('job_busy');
end $$;
