-- Enqueues jobs that differ only in id and input: one kind, tenant and priority, to be done now.
-- The fast path of the ordinary call; fn_job_enqueue_many takes all other calls.
-- Callers: writ_producer, writ_server
-- Answers and refuses: as fn_job_enqueue_many does.
create or replace function writ.fn_job_enqueue_alike(
  p_kind text,
  p_ids uuid[],                     -- UUIDv7, fixed by the caller
  p_inputs json,                    -- an array with the input of each; null: they have none
  p_actor text,
  p_tenant_id text default 'default',
  p_priority smallint default 0,
  p_atomic boolean default false,
  p_traces text[] default null      -- the place of each in a trace; null: none has one
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if writ_data.reserved_kind(p_kind) or p_tenant_id <> writ_data.caller_tenant() then
    -- The general path words the refusals.
    return writ_data.enqueue_unlike(
      p_kind, p_ids, p_inputs, p_actor, p_tenant_id, p_priority, p_atomic, p_traces, true
    );
  end if;
  return writ_data.enqueue_alike(
    p_kind, p_ids, p_inputs, p_actor, p_tenant_id, p_priority, p_atomic, p_traces
  );
end $$;
