-- Records jobs that were enqueued without an event of their run.
create or replace function writ_data.record_jobs(
  p_jobs uuid[],
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
as $$
begin
  perform writ_data.record(
    'fn_run_move', p_actor, p_at, p_jobs, array['dot.job.enqueued'], array[1],
    array[cardinality(p_jobs)]
  );
end $$;
