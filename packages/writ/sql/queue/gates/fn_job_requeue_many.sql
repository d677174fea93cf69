-- Enqueues dead letters again, each by itself, as fn_job_dead_letter_replay does.
-- Callers: writ_admin, writ_server
-- Answers: [{job_id, replayed} or a refusal, …], in the order of p_job_ids. One that is refused, or
--          raises (invalid_job), does not keep the others from being enqueued.
-- Refuses: batch_too_large (more than 1,000).
-- Locks:   see fn_job_dead_letter_replay.
create or replace function writ.fn_job_requeue_many(
  p_job_ids uuid[],
  p_triage text,
  p_actor text,
  p_tenant_id text default null
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job uuid;
  v_answers jsonb := '[]'::jsonb;
begin
  if cardinality(p_job_ids) > 1000 then
    return writ_data.refusal('batch_too_large', 'A call requeues at most 1,000 jobs.');
  end if;

  begin
    return (
      select coalesce(
        jsonb_agg(
          writ.fn_job_dead_letter_replay(u.job_id, p_triage, p_actor, p_tenant_id) order by u.n
        ),
        '[]'
      )
      from unnest(p_job_ids) with ordinality u(job_id, n)
    );
  exception when others then
    if writ_data.is_transient(sqlstate) then
      raise;
    end if;
  end;

  -- One job is at fault. Requeueing them one by one shows which.
  foreach v_job in array p_job_ids loop
    begin
      v_answers := v_answers
        || writ.fn_job_dead_letter_replay(v_job, p_triage, p_actor, p_tenant_id);
    exception when others then
      if writ_data.is_transient(sqlstate) then
        raise;
      end if;
      v_answers := v_answers || writ_data.refusal('invalid_job', left(sqlerrm, 1000));
    end;
  end loop;
  return v_answers;
end $$;
