-- Reads what an applier needs to audit governance jobs: the contracts' steps, for reading values
-- outside the database, and whether it has to query probes.
-- Callers: writ_applier
-- Answers: [{tenant, steps, targets, monitored, status} or a refusal], in order.
-- Refuses: invalid_argument (more than 10,000 jobs); each: job_not_found.
create or replace function writ.fn_governed_read(p_jobs uuid[]) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_tenant text := writ_data.caller_tenant();
begin
  if cardinality(p_jobs) > 10000 then
    return writ_data.refusal('invalid_argument', 'A call reads at most 10,000 jobs.');
  end if;
  return (
    select coalesce(
      jsonb_agg(
        case
          when c.contract_id is null then writ_data.refusal('job_not_found', u.id::text)
          else jsonb_build_object(
            'tenant', c.tenant_id, 'steps', c.steps, 'status', g.status,
            'targets', t.targets,
            'monitored', exists (
              select from unnest(t.targets) y(target)
              join writ_data.probe p
                on p.tenant_id = c.tenant_id
                and p.capability = coalesce(
                  (
                    select o.owner_capability from writ_data.configuration_scope o
                    where o.tenant_id = c.tenant_id and o.scope = y.target
                  ),
                  y.target
                )
            )
          )
        end order by u.n
      ),
      '[]'
    )
    from unnest(p_jobs) with ordinality u(id, n)
    left join writ_data.governance_job g
      on g.job_id = u.id and coalesce(v_tenant, g.tenant_id) = g.tenant_id
    left join writ_data.contract c on c.contract_id = g.contract_id
    cross join lateral (
      select array(
        select distinct s.target from writ_data.slots(coalesce(c.steps, '[]')) s
      ) as targets
    ) t
  );
end $$;
