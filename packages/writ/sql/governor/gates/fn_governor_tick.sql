-- Does the time-driven work of all governors. Creates the partitions of coming months, and drops
-- those past their retention. Tells governors about ended governance jobs that carried out their
-- actions.
-- Callers: writ_engine
-- Answers: {settled}: how many governance jobs. A bound login settles only those of its tenant.
-- Refuses: actor_required.
-- Locks:   the mailboxes of those governors.
--
-- A job that makes it raise stops no other: it gets the alert GOVERNANCE_SET_ASIDE.
create or replace function writ.fn_governor_tick(p_actor text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  v_now timestamptz := writ.now();
  v_tenant text := writ_data.caller_tenant();
  v_jobs uuid[];      -- governance jobs that have ended
  v_job uuid;
  v_settled integer;
begin
  if length(coalesce(btrim(p_actor), '')) not between 1 and 200 then
    return writ_data.refusal('actor_required', 'An actor has 1 to 200 characters.');
  end if;

  -- First, because a mailbox needs the partition of the current month.
  perform writ_data.keep_governors(p_actor, v_now);

  -- One result per governor and call, because a governor has at most one action in flight.
  v_jobs := array(
    select r.job_id
    from (
      select distinct on (d.governor_id) d.governor_id, d.job_id
      from writ_data.governor_contract d
      join writ_data.governance_job g on g.job_id = d.job_id
      where g.status in ('COMPLETED', 'CANCELLED', 'ROLLED_BACK', 'ROLLBACK_FAILED')
        and coalesce(v_tenant, g.tenant_id) = g.tenant_id
      order by d.governor_id, d.job_id
      limit 500
    ) r
  );
  begin
    v_settled := writ_data.settle_contracts(v_jobs, p_actor, v_now);
  exception when others then
    if writ_data.is_transient(sqlstate) then
      raise;
    end if;
    -- One of them is at fault: each by itself. The next turn meets it again.
    v_settled := 0;
    foreach v_job in array v_jobs loop
      begin
        v_settled := v_settled + writ_data.settle_contracts(array[v_job], p_actor, v_now);
      exception when others then
        if writ_data.is_transient(sqlstate) then
          raise;
        end if;
        perform writ_data.set_governance_aside(
          'settled', v_job, (select tenant_id from writ_data.governance_job where job_id = v_job),
          sqlerrm, p_actor, v_now
        );
      end;
    end loop;
  end;
  return jsonb_build_object('settled', v_settled);
end $$;
