-- The hook of the runs: the run of a governance job has ended without completing. It notes that in
-- the transaction that ends the run, so that the rollback follows whatever becomes of the queue job
-- that is enqueued here to have it done at once (fn_governance_ended, fn_governance_tick).
create or replace function writ_data.governed_run_ended(
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
