-- Enqueues a dead letter again as a new job, with no attempts charged and the same key, and so the
-- same effect key. Cleans the dead letter.
-- Callers: writ_admin, writ_server
-- Answers: {job_id: the new one, replayed: the dead one}.
-- Refuses: actor_required, invalid_actor, job_substrate_disabled, replay_disabled, triage_required,
--          payload_too_large, dead_letter_not_found (also for another tenant's), step_of_run,
--          reserved_job_kind. p_triage is required, and says why the job will work now.
-- Locks:   inserts the mark of cleaning, so the second of two replays finds it taken.
create or replace function writ.fn_job_dead_letter_replay(
  p_job_id uuid,
  p_triage text,
  p_actor text,
  p_tenant_id text default null
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_new uuid := writ_data.uuidv7();
  j writ_data.job;
begin
  -- Validate.

  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refused('fn_job_dead_letter_replay', p_actor, 'actor_required');
  elsif length(p_actor) > 200 then
    return writ_data.refused('fn_job_dead_letter_replay', p_actor, 'invalid_actor');
  elsif not coalesce((writ_data.setting('queue.job_substrate.enabled'))::boolean, false) then
    return writ_data.refusal('job_substrate_disabled');
  elsif not (writ_data.setting('queue.dlq.replay_enabled'))::boolean then
    return writ_data.refusal('replay_disabled');
  elsif coalesce(p_triage, '') !~ '[^[:space:]]' then
    return writ_data.refused('fn_job_dead_letter_replay', p_actor, 'triage_required');
  elsif octet_length(p_triage) > 4000 then
    return writ_data.refused(
      'fn_job_dead_letter_replay', p_actor, 'payload_too_large', 'A triage has at most 4,000 bytes.'
    );
  end if;
  select * into j
  from writ_data.job
  where job_id = p_job_id and tenant_id = coalesce(p_tenant_id, tenant_id)
    and writ_data.visible(tenant_id);
  if not found or not exists (
    select from writ_data.job_execution
    where job_id = p_job_id and final and abort_kind <> 'cancelled'
  ) then
    return writ_data.refused(
      'fn_job_dead_letter_replay', p_actor, 'dead_letter_not_found', p_job_id::text
    );
  elsif j.run_id is not null then
    return writ_data.refused('fn_job_dead_letter_replay', p_actor, 'step_of_run', j.run_id::text);
  elsif writ_data.reserved_kind(j.job_kind) then
    return writ_data.refused('fn_job_dead_letter_replay', p_actor, 'reserved_job_kind', j.job_kind);
  end if;

  -- Clean the dead one, and write the new one.

  insert into writ_data.job_cleaned (job_id, cleaned_at, was, successor_job_id)
  values (p_job_id, v_now, 'dead_letter', v_new)
  on conflict do nothing;
  if not found then
    return writ_data.refused(
      'fn_job_dead_letter_replay', p_actor, 'dead_letter_not_found', 'It has been replayed already.'
    );
  end if;
  j.idempotency_key := coalesce(j.idempotency_key, j.job_id::text);
  update writ_data.job_key
  set job_id = v_new
  where tenant_id = j.tenant_id and job_kind = j.job_kind
    and idempotency_key = j.idempotency_key and job_id = p_job_id;

  perform pg_current_xact_id();     -- before a lane is looked up: see open_lane
  j.ready_seq := null;
  j.job_id := v_new;
  j.parent_job_id := p_job_id;
  j.enqueued_by := p_actor;
  j.enqueued_at := v_now;
  j.process_after := v_now;
  j.deadline_at := null;
  insert into writ_data.job select j.*;
  perform writ_data.make_ready(
    array[v_new], array[j.job_kind], array[j.tenant_id], array[j.limit_key], array[j.priority],
    array[false], array[0::smallint], array[1], array[null::timestamptz]
  );

  perform writ_data.record(
    'fn_job_dead_letter_replay', p_actor, v_now, array[p_job_id, v_new],
    array['dot.job.cleaned', 'dot.job.enqueued'], array[1, 2], array[1, 2], p_note => p_triage
  );
  perform writ_data.wake(array[j.job_kind], v_now);
  return jsonb_build_object('job_id', v_new, 'replayed', p_job_id);
end $$;
