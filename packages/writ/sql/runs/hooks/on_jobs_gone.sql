-- Fails the steps among jobs that have ended for good without success, with the error of their last
-- execution.
create or replace function writ_data.on_jobs_gone(
  p_jobs uuid[],
  p_command text,
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
set enable_seqscan = off
as $$
declare
  v_jobs uuid[];
  v_codes text[];
  v_messages text[];
  v_attempts integer[];
begin
  select
    array_agg(e.job_id),
    array_agg(
      case
        when e.abort_kind = 'cancelled'
          then coalesce(nullif(e.error_code, 'handler_error'), 'cancelled')
        else e.error_code
      end
    ),
    array_agg(e.error_message),
    array_agg(e.attempt::integer)
  into v_jobs, v_codes, v_messages, v_attempts
  from unnest(p_jobs) u(id)
  join writ_data.job_execution e on e.job_id = u.id and e.final;
  if v_jobs is not null then
    perform writ_data.steps_failed(
      v_jobs, v_codes, v_messages, v_attempts, p_command, p_actor, p_at
    );
  end if;
end $$;
