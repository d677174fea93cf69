-- Reads the values of references in a run, as its plan would read them now.
-- Callers: writ_worker, writ_applier
-- Answers: {"input": …, "steps.reserve.output.id": …}. A missing value is null.
-- Refuses: invalid_argument (up to 1,000 references of 500 characters), RUN_NOT_FOUND (also for a
--          run of another tenant).
create or replace function writ.fn_run_values(
  p_run_id uuid,
  p_refs text[],
  p_tenant_id text default null
) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_only text := writ_data.caller_tenant();
  v_values jsonb;
begin
  if cardinality(p_refs) > 1000 or exists (select from unnest(p_refs) x where length(x) > 500) then
    return writ_data.refusal('invalid_argument', 'Up to 1,000 references of 500 characters.');
  end if;
  select coalesce((
    select jsonb_object_agg(x.ref,
      writ_data.run_value(r.run_id, r.plan_no, r.input, null, x.ref))
    from (select distinct unnest(p_refs)) x(ref)
    where x.ref is not null), '{}')
  into v_values
  from writ_data.run r
  where r.run_id = p_run_id and r.tenant_id = coalesce(p_tenant_id, r.tenant_id)
    and r.tenant_id = coalesce(v_only, r.tenant_id);
  return coalesce(v_values, writ_data.refusal('RUN_NOT_FOUND', p_run_id::text));
end $$;
