-- Ends a wait with a delivery: its payload is the output of the step, kept as the result of its
-- job. The caller has locked the run and taken the job out of the queue.
create or replace function writ_data.take_delivery(
  p_run uuid,
  s writ_data.plan_step,
  p_attempt smallint,
  p_job uuid,
  d writ_data.run_delivery,
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
as $$
begin
  update writ_data.run_delivery
  set taken_by = s.step_id
  where run_id = p_run and delivery_id = d.delivery_id;
  insert into writ_data.job_execution (
    job_id, execution_no, attempt, lease_owner, status, started_at, committed_at, finished_at,
    result
  ) values (p_job, 1, 1, p_actor, 'DONE', p_at, p_at, p_at, d.payload);
  perform writ_data.append_events(
    array[p_run], array['StepCompleted'], array[s.step_id], array[p_attempt::text], array[1],
    array[jsonb_build_object(
      'deliveryId', d.delivery_id,
      'artifacts', case
        when d.payload is null then '[]'
        else jsonb_build_array(jsonb_build_object(
          'uri', 'writ:result/' || p_job,
          'kind', 'output',
          'sha256', encode(sha256(convert_to(d.payload::text, 'UTF8')), 'hex'),
          'sizeBytes', octet_length(d.payload::text)
        ))
      end
    )],
    null, null, 'fn_run_deliver', p_actor, p_at
  );
end $$;
