-- Ends a job that has not committed, even if an applier holds it, so that no applier can commit it
-- any more. Answers whether the job had committed before; then its effect stands.
create or replace function writ_data.fence_job(p_job_id uuid, p_actor text) returns boolean
language plpgsql
as $$
declare
  v_token uuid;
  v_answer jsonb;
begin
  for v_try in 1 .. 10 loop
    v_answer := writ_data.cancel_job(p_job_id, 'given up by its governor', p_actor);
    if v_answer ->> 'status' = 'cancelled' then
      return false;
    elsif v_answer ->> 'reason' in ('job_terminal', 'committed_cannot_cancel') then
      return exists (
        select from writ_data.job_execution e
        where e.job_id = p_job_id and e.status in ('COMMITTED', 'DONE')
      );
    end if;
    select l.lease_token into v_token from writ_data.job_lease l where p_job_id = any (l.job_ids);
    if v_token is not null then
      -- A requested cancellation: any end of the execution except a commit now ends the job.
      v_answer := writ_data.abort_one(
        p_job_id, v_token, 'released', 'given_up', 'given up by its governor', p_actor
      );
      if v_answer ->> 'status' is not null then
        return false;
      end if;
    end if;
  end loop;

  raise exception using
    errcode = '40001',
    message = format('job %s moves faster than it can be fenced', p_job_id);
end $$;
