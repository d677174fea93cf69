-- Removes a worker that stops from the list, so that it does not count as silent.
-- Callers: writ_worker, writ_applier, writ_engine
-- Answers: {left}: false if this login has no worker of that name. A login cannot remove another
--          login's worker.
-- Locks:   the worker's row.
create or replace function writ.fn_queue_worker_leave(p_executor_id text) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from writ_data.queue_worker
  where executor_id = p_executor_id and login = session_user;
  return jsonb_build_object('left', found);
end $$;
