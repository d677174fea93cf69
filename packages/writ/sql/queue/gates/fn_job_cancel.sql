-- Cancels a job that is queued or waiting, or asks the worker that holds it to stop.
-- Callers: writ_admin, writ_server
-- Answers, refuses and locks: see writ_data.cancel_job. Refuses also reserved_job_kind: the gates
--          of governance and governors stop their own jobs. A job of another tenant than the
--          caller's is not found.
create or replace function writ.fn_job_cancel(
  p_job_id uuid,
  p_reason text,
  p_actor text,
  p_tenant_id text default null
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job record;
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refused('fn_job_cancel', p_actor, 'actor_required');
  end if;
  select job_kind, tenant_id into v_job from writ_data.job where job_id = p_job_id;
  if not found or not writ_data.visible(v_job.tenant_id) then
    return writ_data.refused('fn_job_cancel', p_actor, 'job_not_found', p_job_id::text);
  elsif writ_data.reserved_kind(v_job.job_kind) then
    return writ_data.refused('fn_job_cancel', p_actor, 'reserved_job_kind', v_job.job_kind);
  end if;
  return writ_data.audited(
    'fn_job_cancel', p_actor, writ_data.cancel_job(p_job_id, p_reason, p_actor, p_tenant_id)
  );
end $$;
