-- Asks after a COMMIT that was not answered: committed, aborted, or in_progress while the server still works on that transaction.
-- The mark itself decides. The transaction id that fn_job_commit gave only tells "not yet" from "never": after a crash of the server
-- the same number may belong to somebody else's transaction. It is asked first, the mark is read after it.
-- Callers: writ_worker, writ_applier
create or replace function writ.fn_job_commit_status(p_job_id uuid, p_lease_token uuid, p_xid text default null) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_transaction text;
  v_committed_by uuid;
begin
  if p_xid is not null then
    begin
      v_transaction := pg_xact_status(p_xid::xid8);
    exception when invalid_parameter_value then
      v_transaction := null; -- a number that the server has not given out again since it crashed
    end;
  end if;
  select lease_token into v_committed_by from writ_data.job_execution where job_id = p_job_id and status in ('COMMITTED', 'DONE');
  return jsonb_build_object('outcome', case
      when v_committed_by = p_lease_token then 'committed'
      when v_transaction = 'in progress' then 'in_progress'
      else 'aborted' end,
    'committed', v_committed_by is not null);
end $$;
