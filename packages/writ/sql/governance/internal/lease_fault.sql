-- Why a lease does not let its holder finish a queue job now: null, lease_lost, job_not_started or
-- already_committed. The caller has locked the lease in key-share mode, and the rows that a
-- repeated call has to wait for. Raises 25000 (require_read_committed).
create or replace function writ_data.lease_fault(p_job uuid, p_token uuid) returns text
language plpgsql stable
as $$
declare
  l writ_data.job_lease;
  v_place integer;
  v_committed boolean;
  v_ended boolean;
begin
  perform writ_data.require_read_committed();
  select * into l from writ_data.job_lease where lease_token = p_token;
  v_place := array_position(l.job_ids, p_job);
  select
    bool_or(e.status in ('COMMITTED', 'DONE')), bool_or(e.execution_no = l.execution_nos[v_place])
  into v_committed, v_ended
  from writ_data.job_execution e
  where e.job_id = p_job;
  return case
    when v_committed then 'already_committed'
    when v_ended or v_place is null then 'lease_lost'
    when v_place > writ_data.started_upto(l) then 'job_not_started'
  end;
end $$;
