-- Takes jobs of an expired lease back, named by their positions. The caller holds the lease and
-- removes it.
-- Answers: how many were queued, retry_waiting, dead_letter, cancelled and succeeded.
create or replace function writ_data.reap(
  p_lease writ_data.job_lease,
  p_positions integer[],
  p_actor text,
  p_at timestamptz
) returns integer[]
language plpgsql
as $$
declare
  v_n integer := cardinality(p_positions);
  v_ids uuid[] := array(select p_lease.job_ids[p] from unnest(p_positions) p);
  v_message text := format('The worker %s stopped renewing its lease.', p_lease.holder);
  v_done uuid[];
  v_jobs uuid[];
  v_counts integer[];
begin
  with done as (
    update writ_data.job_execution e
    set status = 'DONE', finished_at = p_at
    where e.job_id = any (v_ids)
      and e.lease_token = p_lease.lease_token and e.status = 'COMMITTED'
    returning e.job_id
  )
  select coalesce(array_agg(job_id), '{}') into v_done from done;
  select jobs, counts into v_jobs, v_counts
  from writ_data.abort(
    p_lease, p_positions,
    array_fill('lease_expired'::text, array[v_n]), array_fill('lease_expired'::text, array[v_n]),
    array_fill(v_message, array[v_n]), p_at
  );

  if v_done <> '{}' then
    perform writ_data.record(
      'fn_job_lease_reaper', p_actor, p_at, v_done,
      array['dot.job.succeeded'], array[1], array[cardinality(v_done)]
    );
  end if;
  if p_lease.stepped then
    if v_done <> '{}' then
      perform writ_data.on_commits_done(v_done, 'fn_job_lease_reaper', p_actor, p_at);
    end if;
    if v_counts[3] + v_counts[4] > 0 then
      perform writ_data.on_jobs_gone(
        v_jobs[v_counts[1] + v_counts[2] + 1:], 'fn_job_lease_reaper', p_actor, p_at
      );
    end if;
  end if;
  perform writ_data.record_abort(
    'fn_job_lease_reaper', p_actor, p_at, v_jobs, v_counts,
    p_details => jsonb_build_object('code', 'lease_expired')
  );
  if v_counts[1] > 0 then
    perform writ_data.wake(array_agg(distinct j.job_kind), p_at)
    from writ_data.job j
    where j.job_id = any (v_jobs[1:v_counts[1]]);
  end if;
  return v_counts || cardinality(v_done);
end $$;
