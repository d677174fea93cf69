-- Ends executions of one lease, named by their places in it, without success: each failed
-- (transient, permanent), is given back (released), or waits for what it needs (delayed).
-- Callers: writ_worker, writ_applier
-- Answers: {queued, retry_waiting, dead_letter, cancelled, started_upto,
--          refused: [{position, reason}]}.
-- Refuses: invalid_abort_kind, lease_lost, invalid_actor, batch_too_large, tenant_forbidden.
-- Locks:   see writ_data.abort_jobs.
create or replace function writ.fn_job_abort_many(
  p_lease_token uuid,
  p_positions integer[],
  p_abort_kinds text[],
  p_codes text[],                   -- cut at 200 characters
  p_messages text[],                -- cut at 4,000 characters
  p_start_upto integer default 0,   -- marks further jobs of the lease as started
  p_actor text default null,
  p_stacks text[] default null      -- cut at 8,000 characters
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant text := writ_data.caller_tenant();
  v_lease writ_data.job_lease;
begin
  if length(p_actor) > 200 then
    return writ_data.refused('fn_job_fail', p_actor, 'invalid_actor');
  elsif greatest(
    cardinality(p_positions), cardinality(p_abort_kinds), cardinality(p_codes),
    cardinality(p_messages), cardinality(p_stacks)
  ) > 5000 then
    return writ_data.refused(
      'fn_job_fail', p_actor, 'batch_too_large', 'A lease has at most 5,000 jobs.'
    );
  elsif v_tenant is not null then
    -- The jobs of a lease never change, so this needs no lock.
    select * into v_lease from writ_data.job_lease where lease_token = p_lease_token;
    if writ_data.foreign_jobs(
      array(select v_lease.job_ids[p] from unnest(p_positions) p)
        || v_lease.job_ids[writ_data.started_upto(v_lease) + 1:p_start_upto],
      v_tenant
    ) then
      return writ_data.refused('fn_job_fail', p_actor, 'tenant_forbidden');
    end if;
  end if;
  return writ_data.audited('fn_job_fail', p_actor, writ_data.abort_jobs(
    p_lease_token, p_positions, p_abort_kinds, p_codes, p_messages, p_start_upto, p_actor,
    p_stacks
  ));
end $$;
