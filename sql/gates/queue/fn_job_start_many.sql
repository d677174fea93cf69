-- gate: workflow_admin, dot_executor
-- Marks the jobs of a lease up to a place in it as started. Only started jobs are charged when their worker dies.
create or replace function writ.fn_job_start_many(p_lease_token uuid, p_upto integer, p_actor text default null) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_now timestamptz;
  l writ_data.job_lease;
  v_before integer; v_after integer;
begin
  select * into l from writ_data.job_lease where lease_token = p_lease_token for no key update;
  if not found then
    return writ_data.refusal('lease_lost', 'The lease is no longer held: it expired and was taken back, or all its jobs have ended.');
  end if;
  v_now := writ.now();
  v_before := writ_data.started_upto(l);
  v_after := writ_data.settle_lease(l, 0, p_upto, v_now);
  if v_after > v_before then
    perform writ_data.record('fn_job_progress', coalesce(p_actor, l.holder), v_now, l.job_ids[v_before + 1:v_after],
      array['dot.job.started'], array[1], array[v_after - v_before]);
  end if;
  return jsonb_build_object('started_upto', v_after);
end $$;
