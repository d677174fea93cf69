-- The commit boundary: called inside the transaction that applies the effect, so that effect and COMMITTED mark stand or fall
-- together. It raises (SQLSTATE WR001) instead of refusing: a refusal that came back as a value would let the caller's own SQL
-- commit without the mark. Its key-share lock on the lease keeps the reaper off until the transaction ends, and lets renewal pass.
-- Answers the transaction id, by which fn_job_commit_status can say later how an unanswered COMMIT went.
-- Callers: writ_worker, writ_applier
create or replace function writ.fn_job_commit(p_job_id uuid, p_lease_token uuid, p_actor text default null) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  l writ_data.job_lease;
  v_position integer; v_now timestamptz;
begin
  select * into l from writ_data.job_lease where lease_token = p_lease_token for key share;
  v_position := array_position(l.job_ids, p_job_id);
  if v_position is null then
    if exists (select from writ_data.job_execution where job_id = p_job_id and status in ('COMMITTED', 'DONE')) then
      raise exception using errcode = 'WR001', message = 'already_committed', detail = 'An effect of this job stands already.', hint = 'Do nothing and finish.';
    end if;
    raise exception using errcode = 'WR001', message = 'lease_lost', detail = 'This token does not hold the job.', hint = 'Stop: another worker has it, or will have.';
  elsif v_position > writ_data.started_upto(l) then
    raise exception using errcode = 'WR001', message = 'job_not_started', detail = 'The job is leased, not in progress.', hint = 'Call fn_job_progress first.';
  end if;
  v_now := writ.now();
  insert into writ_data.job_execution (job_id, execution_no, attempt, lease_token, lease_owner, status, started_at, committed_at)
  values (p_job_id, l.execution_nos[v_position], l.attempts[v_position] + 1, l.lease_token, l.holder, 'COMMITTED',
    l.start_at[width_bucket(v_position - 1, l.start_upto) + 1], v_now)
  on conflict do nothing;
  if not found then
    if exists (select from writ_data.job_execution where job_id = p_job_id and status in ('COMMITTED', 'DONE')) then
      raise exception using errcode = 'WR001', message = 'already_committed', detail = 'An effect of this job stands already.', hint = 'Do nothing and finish.';
    end if;
    raise exception using errcode = 'WR001', message = 'lease_lost', detail = 'This execution has ended.', hint = 'Stop: another worker has the job, or will have.';
  end if;
  perform writ_data.record('fn_job_commit', coalesce(p_actor, l.holder), v_now, array[p_job_id], array['dot.job.committed'], array[1], array[1]);
  return jsonb_build_object('committed', true, 'xid', pg_current_xact_id()::text);
end $$;
