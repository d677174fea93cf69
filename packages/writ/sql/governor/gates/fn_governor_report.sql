-- Reports the state of an attempt to its governor. The applier that carries the action out calls
-- it.
-- Callers: writ_applier
-- Answers: {}.
-- Refuses: action_not_in_flight, job_not_found, invalid_argument.
-- Locks:   the mailbox of the governor.
--
-- p_lease_token is that of the lease under which the applier has committed the job in this
-- transaction. An applier that lost its lease may still report success. The governor has given that
-- attempt up, and undoes it again. The gate derives governor, action and attempt from the job.
-- p_report is {kind: 'acknowledged', reference}, or {kind: 'result', ok, failure_reason,
-- response_code, error_message, baseline, result}. p_governance_job: the job of a contract that
-- this action activated, which carries the action out from now on.
create or replace function writ.fn_governor_report(
  p_job_id uuid,
  p_lease_token uuid,
  p_report jsonb,
  p_governance_job uuid default null
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job writ_data.job;
  v_input jsonb;
  v_status text;                   -- of the execution under this lease
  v_governor writ_data.governor;
  v_action text;
  v_attempt integer;
  v_in_flight boolean;
  v_stops boolean;                 -- the contract of the action it undoes is stopped
  v_content jsonb;
begin
  select * into v_job
  from writ_data.job j
  where j.job_id = p_job_id and starts_with(j.job_kind, 'governor.')
    and writ_data.visible(j.tenant_id);
  v_input := v_job.input;
  v_action := v_input ->> 'action_id';
  v_attempt := (v_input ->> 'attempt')::integer;
  select * into v_governor
  from writ_data.governor g
  where g.governor_id = (v_input ->> 'governor_id')::uuid;
  select e.status into v_status
  from writ_data.job_execution e
  where e.job_id = p_job_id and e.lease_token = p_lease_token;

  v_in_flight := v_governor.data #>> '{in_flight,job_id}' = p_job_id::text;
  if v_governor.governor_id is null or v_status is null or (
    v_in_flight and v_status = 'COMMITTED'
    or p_report ->> 'kind' = 'result' and p_report ->> 'ok' = 'true' and p_governance_job is null
      and exists (
        select from (values (v_governor.data -> 'in_flight'),
          (v_governor.data #> '{given_up,action}')) x(action)
        where x.action ->> 'action_id' = v_action
          and not coalesce(v_governor.data #> '{given_up,heard}' @> to_jsonb(v_attempt), false)
          and (x.action ->> 'job_id' = p_job_id::text or x.action -> 'earlier' ? p_job_id::text))
  ) is not true then
    return writ_data.refusal('action_not_in_flight', coalesce(v_action, p_job_id::text));
  end if;

  v_content := writ_data.reported(p_report);
  if v_content is null then
    return writ_data.refusal('invalid_argument', 'report');
  end if;

  if p_governance_job is not null then
    v_stops := v_input #>> '{doing,actuator,template_id}' is null;
    if not exists (
      select from writ_data.governance_job j
      where j.job_id = p_governance_job and j.tenant_id = v_job.tenant_id
        and v_job.job_kind = 'governor.contract'
        and case when v_stops
          then writ_data.is_instance(j.contract_id, v_input ->> 'of', 1, 20)
          else writ_data.is_instance(j.contract_id, v_action, v_attempt, v_attempt) end
    ) then
      return writ_data.refusal('job_not_found', p_governance_job::text);
    end if;
    insert into writ_data.governor_contract (job_id, governor_id, action_id, attempt, stops)
    values (p_governance_job, v_governor.governor_id, v_action, v_attempt, v_stops)
    on conflict (job_id) do update set governor_id = excluded.governor_id,
      action_id = excluded.action_id, attempt = excluded.attempt, stops = excluded.stops;
  end if;

  perform writ_data.put_mail(array[v_governor.governor_id], array[v_content
    || jsonb_build_object('action_id', v_action, 'attempt', v_attempt)], writ.now());
  return '{}'::jsonb;
end $$;
