-- Starts a job on the first call (leased → in_progress), and with it those before it in its lease;
-- later calls renew the lease by its length.
-- Callers: writ_worker, writ_applier
-- Answers: {job_id, status: 'in_progress', cancel_requested: whether a cancellation was requested}.
-- Refuses: invalid_actor, lease_lost, tenant_forbidden, job_terminal, payload_too_large.
-- Locks:   the lease.
create or replace function writ.fn_job_progress(
  p_job_id uuid,
  p_status_signal_only text,        -- a short word for people, not data
  p_lease_token uuid,
  p_actor text
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant text := writ_data.caller_tenant();
  v_now timestamptz;
  v_lease writ_data.job_lease;
  v_position integer;
  v_answer jsonb;
begin
  if length(p_actor) > 200 then
    return writ_data.refused('fn_job_progress', p_actor, 'invalid_actor');
  end if;
  select * into v_lease
  from writ_data.job_lease
  where lease_token = p_lease_token
  for no key update;
  v_position := array_position(v_lease.job_ids, p_job_id);
  if v_position is null then
    return writ_data.refused('fn_job_progress', p_actor, 'lease_lost');
  elsif v_tenant is not null and writ_data.foreign_jobs(array[p_job_id], v_tenant) then
    return writ_data.refused('fn_job_progress', p_actor, 'tenant_forbidden');
  elsif exists (
    select from writ_data.job_execution
    where job_id = p_job_id and execution_no = v_lease.execution_nos[v_position]
      and status <> 'COMMITTED'
  ) then
    return writ_data.refused(
      'fn_job_progress', p_actor, 'job_terminal', 'This execution has ended.'
    );
  elsif octet_length(p_status_signal_only) > 200 then
    return writ_data.refused(
      'fn_job_progress', p_actor, 'payload_too_large', 'A status signal has at most 200 bytes.'
    );
  end if;

  v_now := writ.now();
  if v_position > writ_data.started_upto(v_lease) then
    v_answer := writ.fn_job_start_many(p_lease_token, v_position, p_actor);
    if v_answer ? 'reason' then
      return v_answer;
    end if;
  else
    v_answer := writ.fn_job_renew_many(array[p_lease_token], v_lease.ttl_s, p_actor);
    if v_answer -> 'renewed' = '[]' then
      return writ_data.refused(
        'fn_job_progress', p_actor,
        'lease_lost', 'The job has run past its timeout; its lease is not renewed.'
      );
    end if;
    if p_status_signal_only is not null then
      perform writ_data.record(
        'fn_job_progress', coalesce(p_actor, v_lease.holder), v_now, array[p_job_id],
        array['dot.job.progress'], array[1], array[1],
        jsonb_build_object('signal', p_status_signal_only)
      );
    end if;
  end if;
  return jsonb_build_object(
    'job_id', p_job_id,
    'status', 'in_progress',
    'cancel_requested', exists (select from writ_data.job_cancel where job_id = p_job_id)
  );
end $$;
