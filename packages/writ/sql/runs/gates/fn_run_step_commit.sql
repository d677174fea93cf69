-- Ends a step inside the transaction of its effect: called after fn_job_commit and the effect,
-- before COMMIT. Its event, its output and the jobs of its successors stand or fall with the
-- effect.
-- Callers: writ_worker, writ_applier
-- Answers: {committed: true}. p_artifacts are references to what the step has put elsewhere; they
--          stand in its event behind that to its output.
-- Raises:  WR001 lease_lost, reserved_job_kind, payload_too_large, invalid_result (a result from
--          which the next step cannot read), ARTIFACT_BODY_NOT_ALLOWED. It raises rather than
--          refuses, as fn_job_commit does.
-- Locks:   the execution, and then the run.
create or replace function writ.fn_run_step_commit(
  p_job_id uuid,
  p_lease_token uuid,
  p_result json,
  p_actor text default null,
  p_artifacts jsonb default null
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  v_now timestamptz := writ.now();
  v_only text := writ_data.caller_tenant();
  v_kind text;
  v_attempt smallint;
  v_owner text;
begin
  select j.job_kind into v_kind from writ_data.job j
  where j.job_id = p_job_id and j.tenant_id = coalesce(v_only, j.tenant_id);
  if writ_data.reserved_kind(v_kind) then
    raise exception using
      errcode = 'WR001',
      message = 'reserved_job_kind',
      detail = format('A step of kind %s ends by its own gate.', v_kind);
  end if;
  update writ_data.job_execution set result = p_result
  where job_id = p_job_id and lease_token = p_lease_token and status = 'COMMITTED'
    and v_kind is not null
  returning attempt, lease_owner into v_attempt, v_owner;
  if not found then
    raise exception using
      errcode = 'WR001',
      message = 'lease_lost',
      detail = 'The job is not committed by this lease.',
      hint = 'Call fn_job_commit first, in the same transaction.';
  elsif octet_length(p_result::text) > (writ_data.setting('queue.payload.max_bytes'))::integer then
    raise exception using
      errcode = 'WR001',
      message = 'payload_too_large',
      detail = format(
        'The output of the step has %s bytes; queue.payload.max_bytes allows %s.',
        octet_length(p_result::text), writ_data.setting('queue.payload.max_bytes')),
      hint = 'Keep it elsewhere, and return a reference.';
  elsif not writ_data.is_readable(p_result::text) then
    raise exception using
      errcode = 'WR001',
      message = 'invalid_result',
      detail = 'The output of the step has a NUL character or half of a surrogate pair in it.';
  elsif not writ_data.references_only(
    jsonb_build_object('artifacts', coalesce(p_artifacts, '[]'))) then
    raise exception using
      errcode = 'WR001',
      message = 'ARTIFACT_BODY_NOT_ALLOWED',
      detail = 'The artifacts of the step.';
  end if;

  perform from writ_data.steps_ended(array[p_job_id], array[p_result::text], array[v_attempt],
    'fn_run_step_commit', coalesce(left(p_actor, 200), v_owner), v_now,
    p_artifacts => p_artifacts);
  return jsonb_build_object('committed', true);
end $$;
