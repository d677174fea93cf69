-- A worker that stops says so: it is gone, not silent.
-- Callers: writ_worker, writ_applier, writ_engine
create or replace function writ.fn_queue_worker_leave(p_executor_id text) returns jsonb
  language sql security definer set search_path = pg_catalog, pg_temp as $$
  with gone as (delete from writ_data.queue_worker where executor_id = p_executor_id returning 1)
  select jsonb_build_object('left', exists (select from gone))
$$;
