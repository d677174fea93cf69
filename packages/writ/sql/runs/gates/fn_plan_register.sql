-- Registers a version of a plan: its canonical JSON, and its hash as the author computed it.
-- Callers: writ_producer, writ_server
-- Answers: {plan_no, sha256, duplicate}. The same version with the same content answers the one
--          that is there. A login that is bound to a tenant registers for that tenant; another
--          login registers for every tenant. Register the kinds of its jobs before.
-- Refuses: actor_required, reserved_job_kind (a plan or a kind of Writ itself), INVALID_STEP_SCHEMA
--          (with the step and what is wrong with it), PLAN_INTEGRITY_VALIDATION_FAILED,
--          PLAN_VERSION_EXISTS (a version never changes).
create or replace function writ.fn_plan_register(
  p_document text,
  p_sha256 text,
  p_actor text
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(btrim(p_actor), '') = '' or length(p_actor) > 200 then
    return writ_data.refusal('actor_required');
  end if;
  return writ_data.register_plan(
    p_document, p_sha256, coalesce(writ_data.caller_tenant(), ''), p_actor, false);
end $$;
