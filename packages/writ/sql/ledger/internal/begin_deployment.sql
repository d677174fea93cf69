-- Gives a new database its deployment id and the first receipt of the log _system, which has it.
-- The installer calls it at the end of each migration; a database that has an id keeps it. The
-- receipt enters its log at once, so that nothing stands before it.
create or replace function writ_data.begin_deployment() returns void
language plpgsql
as $$
declare
  v_now timestamptz := writ.now();
  v_id uuid;
begin
  insert into writ_data.deployment (deployment_id, since)
  values (gen_random_uuid(), v_now)
  on conflict do nothing
  returning deployment_id into v_id;

  if v_id is not null then
    perform writ_data.system_receipt('deployment_named', 'deployment', jsonb_build_object(
      'deployment', v_id,
      'replaces', null,
      'reason', 'The first migration.',
      'actor', 'migrate',
      'login', session_user), v_now);
    perform writ_data.sequence_receipts(1, v_now, false);
  end if;
end $$;
