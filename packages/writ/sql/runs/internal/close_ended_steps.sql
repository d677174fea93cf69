-- Appends the ends of steps whose jobs have ended and whose ends are not in the log, and nothing
-- that follows from them. The caller has locked the run.
create or replace function writ_data.close_ended_steps(
  p_run uuid,
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
set enable_seqscan = off
as $$
declare
  v_open record;
  v_data jsonb;
begin
  for v_open in
    select o.step_id, o.attempt, o.step_no, o.type, o.job_id, e.status, e.result, e.error_code,
      e.error_message, e.attempt as engine_attempt
    from writ_data.open_steps(p_run) o
    join writ_data.job_execution e
      on e.job_id = o.job_id and (e.final or e.status in ('COMMITTED', 'DONE'))
  loop
    v_data := case
      when v_open.status not in ('COMMITTED', 'DONE') then
        jsonb_build_object('error', jsonb_build_object(
          'errorCode', coalesce(v_open.error_code, 'handler_error'),
          'errorMessage', left(coalesce(v_open.error_message, ''), 1000),
          'retryable', false, 'failureCategory', 'SYSTEM', 'failureSource', 'step'))
      when v_open.result is null then '{"artifacts": []}'
      else jsonb_build_object('artifacts', jsonb_build_array(jsonb_build_object(
        'uri', 'writ:result/' || v_open.job_id, 'kind', 'output',
        'sha256', encode(sha256(convert_to(v_open.result::text, 'UTF8')), 'hex'),
        'sizeBytes', octet_length(v_open.result::text))))
    end;
    perform writ_data.append_events(array[p_run],
      array[case when v_data ? 'error' then 'StepFailed' else 'StepCompleted' end],
      array[v_open.step_id], array[v_open.attempt::text], array[v_open.engine_attempt::integer],
      array[v_data],
      case when v_open.type = 'job' and v_open.step_id like '%]' then array[v_open.step_no] end,
      null, 'fn_run_move', p_actor, p_at);
  end loop;
end $$;
