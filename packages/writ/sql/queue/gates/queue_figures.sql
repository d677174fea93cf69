-- Returns what fn_job_queue_health() answers, for the view v_queue_health. It looks the gate up
-- when it is called, so an upgrade can put another gate in its place.
-- Callers: processes, readers
create or replace function writ.queue_figures() returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return writ.fn_job_queue_health();
end $$;
