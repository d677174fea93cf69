-- Marks a job COMMITTED inside the transaction that applies its effect: the body of fn_job_commit
-- and of fn_governor_commit.
-- Answers: {committed: true, xid}; fn_job_commit_status(…, xid) tells later how an unanswered
--          COMMIT ended.
-- Raises:  WR001 lease_lost, job_not_started, already_committed, tenant_forbidden, invalid_actor;
--          reserved_job_kind unless p_own. It raises instead of refusing, because a refusal
--          returned as a value would let the caller's own SQL commit without the mark.
-- Locks:   the lease, in key-share mode: the reaper stays away until the transaction ends, renewals
--          pass.
create or replace function writ_data.commit_job(
  p_job_id uuid,
  p_lease_token uuid,
  p_actor text default null,
  p_own boolean default false       -- the caller is the gate of the job's own kind
) returns jsonb
language plpgsql
set enable_seqscan = off
as $$
declare
  v_lease writ_data.job_lease;
  v_position integer;               -- of the job in its lease
  v_now timestamptz;
  v_tenant text;                    -- the only one the caller may commit for; null: any
  v_kind text;
begin
  if length(p_actor) > 200 then
    raise exception using errcode = 'WR001', message = 'invalid_actor';
  end if;

  select * into v_lease
  from writ_data.job_lease
  where lease_token = p_lease_token
  for key share;

  v_position := array_position(v_lease.job_ids, p_job_id);
  if v_position is null then
    perform writ_data.not_committable(p_job_id, 'This token does not hold the job.');
  elsif v_position > writ_data.started_upto(v_lease) then
    raise exception using errcode = 'WR001', message = 'job_not_started',
      detail = 'The job is leased, not in progress.', hint = 'Call fn_job_progress first.';
  end if;
  -- See job_lease.login.
  if v_lease.login <> session_user or current_setting('writ.tenant', true) <> '' then
    v_tenant := writ_data.caller_tenant();
  end if;
  if v_tenant is not null and writ_data.foreign_jobs(array[p_job_id], v_tenant) then
    raise exception using errcode = 'WR001', message = 'tenant_forbidden';
  end if;
  if v_lease.reserved and not p_own then
    v_kind := (select j.job_kind from writ_data.job j where j.job_id = p_job_id);
    if writ_data.reserved_kind(v_kind) then
      raise exception using errcode = 'WR001', message = 'reserved_job_kind',
        detail = format('Only the gate of kind %s commits its jobs.', v_kind);
    end if;
  end if;

  v_now := writ.now();
  insert into writ_data.job_execution (
    job_id, execution_no, attempt, lease_token, lease_owner, status, started_at, committed_at
  ) values (
    p_job_id, v_lease.execution_nos[v_position], v_lease.attempts[v_position] + 1,
    v_lease.lease_token, v_lease.holder, 'COMMITTED',
    v_lease.start_at[width_bucket(v_position - 1, v_lease.start_upto) + 1], v_now
  )
  on conflict do nothing;
  if not found then
    perform writ_data.not_committable(p_job_id, 'This execution has ended.');
  end if;

  perform writ_data.record(
    'fn_job_commit', coalesce(p_actor, v_lease.holder), v_now, array[p_job_id],
    array['dot.job.committed'], array[1], array[1]
  );
  return jsonb_build_object('committed', true, 'xid', pg_current_xact_id()::text);
end $$;
