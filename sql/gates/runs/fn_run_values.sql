-- What references stand for in a run, as its plan would read them now: {"input": …, "steps.reserve.output.id": …}. What is not there is null. Refuses a run that this tenant does not have.
-- Callers: writ_worker, writ_applier
create or replace function writ.fn_run_values(p_run_id uuid, p_refs text[], p_tenant_id text default null) returns jsonb
  language sql security definer set search_path = pg_catalog, pg_temp as $$
  select coalesce((select (select coalesce(jsonb_object_agg(x.ref, writ_data.run_value(r.run_id, r.plan_no, r.input, null, x.ref)), '{}') from (select distinct unnest(p_refs)) x(ref))
    from writ_data.run r where r.run_id = p_run_id and r.tenant_id = coalesce(p_tenant_id, r.tenant_id) and writ_data.visible(r.tenant_id)),
    writ_data.refusal('RUN_NOT_FOUND', p_run_id::text))
$$;
