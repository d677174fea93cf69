-- Records jobs that writ_data.abort has sorted into groups: released or failed, then where each
-- went.
create or replace function writ_data.record_abort(
  p_command text,
  p_actor text,
  p_at timestamptz,
  p_jobs uuid[],
  p_counts integer[],
  p_started uuid[] default '{}',
  p_details jsonb default null
) returns void
language plpgsql
as $$
declare
  v_queued integer := p_counts[1];
  v_retry integer := v_queued + p_counts[2];
  v_dead integer := v_retry + p_counts[3];
  v_cancelled integer := v_dead + p_counts[4];
begin
  if v_cancelled + cardinality(p_started) > 0 then
    perform writ_data.record(
      p_command, p_actor, p_at, p_jobs || p_started,
      array[
        'dot.job.released', 'dot.job.failed', 'dot.job.retry_waiting', 'dot.job.dead_letter',
        'dot.job.cancelled', 'dot.job.started'
      ],
      array[1, v_queued + 1, v_queued + 1, v_retry + 1, v_dead + 1, v_cancelled + 1],
      array[v_queued, v_dead, v_retry, v_dead, v_cancelled, v_cancelled + cardinality(p_started)],
      p_details
    );
  end if;
end $$;
