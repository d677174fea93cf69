-- Pauses a kind, or resumes it. Workers receive no jobs of a paused kind. Running jobs end, and
-- jobs can be enqueued.
-- Callers: writ_admin, writ_server
-- Answers: {job_kind, changed}.
-- Refuses: actor_required, invalid_actor, tenant_forbidden, reserved_job_kind (a paused kind of
--          governance would keep changes from being undone), unknown_job_kind.
-- Locks:   the row of the kind.
create or replace function writ.fn_job_kind_pause(p_kind text, p_paused boolean, p_actor text)
returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_paused boolean := coalesce(p_paused, true);
  v_changed boolean;
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refused('fn_job_kind_pause', p_actor, 'actor_required');
  elsif length(p_actor) > 200 then
    return writ_data.refused('fn_job_kind_pause', p_actor, 'invalid_actor');
  elsif writ_data.caller_tenant() is not null then
    return writ_data.refused(
      'fn_job_kind_pause', p_actor, 'tenant_forbidden', 'Kinds belong to all tenants.'
    );
  elsif writ_data.reserved_kind(p_kind) then
    return writ_data.refused(
      'fn_job_kind_pause', p_actor, 'reserved_job_kind', left(p_kind, 200)
    );
  end if;

  select (k.paused_at is not null) <> v_paused into v_changed
  from writ_data.job_kind k
  where k.job_kind = p_kind
  for no key update;
  if not found then
    return writ_data.refused('fn_job_kind_pause', p_actor, 'unknown_job_kind', left(p_kind, 200));
  end if;

  if v_changed then
    update writ_data.job_kind
    set paused_at = case when v_paused then v_now end,
      paused_by = case when v_paused then p_actor end
    where job_kind = p_kind;
    perform writ_data.record(
      'fn_job_kind_pause', p_actor, v_now, '{}', '{}', '{}', '{}',
      p_note => format('%s: %s', p_kind, case when v_paused then 'paused' else 'resumed' end)
    );
    if not v_paused then
      perform writ_data.wake(array[p_kind], v_now);
    end if;
  end if;
  return jsonb_build_object('job_kind', p_kind, 'changed', v_changed);
end $$;
