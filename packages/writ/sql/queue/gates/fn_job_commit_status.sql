-- Reads the outcome of a COMMIT whose answer was lost.
-- Callers: writ_worker, writ_applier
-- Answers: {outcome: committed, aborted or in_progress (the server still works on it), committed:
--          whether an effect of the job stands, by this lease or another}. The mark decides. The
--          transaction id of fn_job_commit only tells "not yet" from "never", because after a crash
--          of the server another transaction may have the same id. The gate looks up the id first,
--          and reads the mark after it.
-- Refuses: tenant_forbidden.
create or replace function writ.fn_job_commit_status(
  p_job_id uuid,
  p_lease_token uuid,
  p_xid text default null
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant text := writ_data.caller_tenant();
  v_transaction text;
  v_committed_by uuid;
begin
  if v_tenant is not null and writ_data.foreign_jobs(array[p_job_id], v_tenant) then
    return writ_data.refusal('tenant_forbidden');
  end if;
  if p_xid is not null then
    begin
      v_transaction := pg_xact_status(p_xid::xid8);
    exception when data_exception then
      v_transaction := null;        -- a number that the server has not given out since it crashed
    end;
  end if;
  select lease_token into v_committed_by
  from writ_data.job_execution
  where job_id = p_job_id and status in ('COMMITTED', 'DONE');

  return jsonb_build_object(
    'outcome', case
      when v_committed_by = p_lease_token then 'committed'
      when v_transaction = 'in progress' then 'in_progress'
      else 'aborted'
    end,
    'committed', v_committed_by is not null
  );
end $$;
