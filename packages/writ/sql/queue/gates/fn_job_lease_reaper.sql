-- Takes expired leases back, as the clockwork does.
-- Callers: writ_engine
-- Answers, locks: see writ_data.reap_leases.
-- Refuses: actor_required, invalid_actor.
create or replace function writ.fn_job_lease_reaper(p_actor text default 'reaper') returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refusal('actor_required');
  elsif length(p_actor) > 200 then
    return writ_data.refusal('invalid_actor');
  end if;
  return writ_data.reap_leases(p_actor);
end $$;
