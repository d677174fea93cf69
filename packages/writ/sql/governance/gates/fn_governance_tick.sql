-- Does the time-driven work of governance. Ends jobs whose runs ended without completing. Expires
-- drafts and reviews (with a warning two days before a review's end, an escalation one day before).
-- Ends contracts whose window passed, and jobs and audits past their time. Counts denials. Raises
-- and clears alerts about contracts, jobs and audits that wait too long.
-- Callers: writ_engine
-- Answers: {moved, next_ms}. At most p_limit (1 to 1000) of each sort. A bound login moves rows of
--          its tenant only, and next_ms counts no others.
-- Refuses: actor_required.
-- Raises:  25000 (require_read_committed).
-- Locks:   contracts, then governance jobs, one after the other. Skips contracts that another
--          session holds. Sets a row that fails aside for five minutes, with an alert.
create or replace function writ.fn_governance_tick(
  p_actor text,
  p_limit integer default 100
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan -- planning costs more than running
as $$
declare
  v_now timestamptz := writ.now();
  v_tenant text := writ_data.caller_tenant();
  v_limit integer := least(greatest(coalesce(p_limit, 100), 1), 1000);
  v_moved integer := 0;
  v_row record;
  v_next timestamptz;
begin
  perform writ_data.require_read_committed();
  if length(coalesce(btrim(p_actor), '')) not between 1 and 200 then
    return writ_data.refusal('actor_required', 'An actor has 1 to 200 characters.');
  end if;

  for v_row in
    select x.sort, x.id, x.contract_id, x.tenant_id
    from (
      (
        select 'ended' as sort, e.job_id as id, g.contract_id, g.tenant_id, e.due_at
        from writ_data.governance_ended e
        join writ_data.governance_job g on g.job_id = e.job_id
        where e.due_at <= v_now and coalesce(v_tenant, g.tenant_id) = g.tenant_id
        order by e.due_at limit v_limit
      )
      union all
      (
        select 'contract', c.contract_id, c.contract_id, c.tenant_id, c.due_at
        from writ_data.contract c
        where c.due_at <= v_now and coalesce(v_tenant, c.tenant_id) = c.tenant_id
        order by c.due_at limit v_limit
      )
      union all
      (
        select 'job', g.job_id, g.contract_id, g.tenant_id, g.due_at
        from writ_data.governance_job g
        where g.due_at <= v_now and coalesce(v_tenant, g.tenant_id) = g.tenant_id
        order by g.due_at limit v_limit
      )
    ) x
    order by x.due_at
  loop
    begin
      perform from writ_data.contract c
      where c.contract_id = v_row.contract_id
      for no key update skip locked;
      continue when not found;
      if v_row.sort = 'ended' then
        perform writ_data.end_governance_job(v_row.id, p_actor, v_now);
      elsif v_row.sort = 'contract' then
        perform writ_data.contract_due(v_row.id, p_actor, v_now);
      else
        perform writ_data.governance_job_due(v_row.id, p_actor, v_now);
      end if;
      perform writ_data.clear_alert(
        'GOVERNANCE_SET_ASIDE',
        concat(
          case v_row.sort when 'contract' then 'contract/' else 'governance_job/' end, v_row.id
        ),
        p_actor, v_now
      );
      v_moved := v_moved + 1;
    exception when others then
      if not writ_data.is_transient(sqlstate) then
        perform writ_data.set_governance_aside(
          v_row.sort, v_row.id, v_row.tenant_id, sqlerrm, p_actor, v_now
        );
      end if;
    end;
  end loop;

  begin
    v_moved := v_moved + writ_data.count_denials(v_tenant, v_limit, v_now);
  exception when others then
    perform writ_data.set_governance_aside('denials', null, '_system', sqlerrm, p_actor, v_now);
  end;

  begin
    v_moved := v_moved + writ_data.alert_delays(v_tenant, p_actor, v_now);
  exception when others then
    perform writ_data.set_governance_aside('alerts', null, '_system', sqlerrm, p_actor, v_now);
  end;

  if v_tenant is null then
    select least(
      (select min(x.due_at) from writ_data.governance_ended x),
      (select min(x.due_at) from writ_data.contract x where x.due_at is not null),
      (select min(x.due_at) from writ_data.governance_job x where x.due_at is not null)
    ) into v_next;
  else
    select least(
      (
        select min(x.due_at) from writ_data.governance_ended x
        join writ_data.governance_job g on g.job_id = x.job_id and g.tenant_id = v_tenant
      ),
      (
        select min(x.due_at) from writ_data.contract x
        where x.due_at is not null and x.tenant_id = v_tenant
      ),
      (
        select min(x.due_at) from writ_data.governance_job x
        where x.due_at is not null and x.tenant_id = v_tenant
      )
    ) into v_next;
  end if;
  return jsonb_strip_nulls(jsonb_build_object(
    'moved', v_moved,
    'next_ms', case when v_next is not null then
      ceil(extract(epoch from greatest(v_next, v_now) - v_now) * 1000)
    end
  ));
end $$;
