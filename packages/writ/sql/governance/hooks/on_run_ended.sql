-- Called when the run of a governance job ends without completing. Records that in the transaction
-- that ends the run, and enqueues a queue job that rolls back at once (fn_governance_ended). If
-- that queue job is lost, the clockwork rolls back because of the record (fn_governance_tick).
create or replace function writ_data.on_run_ended(
  p_job uuid,
  p_tenant text,
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
as $$
begin
  insert into writ_data.governance_ended (job_id, ended_at, due_at)
  values (p_job, p_at, p_at)
  on conflict do nothing;
  begin
    perform writ_data.enqueue_governance('governance.ended', array[p_job], p_tenant, p_actor);
  exception when sqlstate 'WR001' then
    null; -- The clockwork does it.
  end;
end $$;
