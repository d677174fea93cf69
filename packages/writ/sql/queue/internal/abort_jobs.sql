-- Ends executions of one lease without success: the body of fn_job_abort_many.
-- Answers: as fn_job_abort_many.
-- Refuses: invalid_abort_kind, lease_lost.
-- Locks:   the lease, and strongly enough to remove it when its last jobs end.
create or replace function writ_data.abort_jobs(
  p_lease_token uuid,
  p_positions integer[],
  p_abort_kinds text[],
  p_codes text[],
  p_messages text[],
  p_start_upto integer default 0,
  p_actor text default null,
  p_stacks text[] default null
) returns jsonb
language plpgsql
as $$
declare
  v_now timestamptz;
  l writ_data.job_lease;
  v_may_remove boolean;
  v_actor text;
  v_ids uuid[];
  v_jobs uuid[];                    -- by what became of them
  v_counts integer[];               -- queued, retry_waiting, dead_letter, cancelled
  v_early integer;
  v_refused jsonb;
  v_started_upto integer;
  v_started uuid[];
begin
  if cardinality(p_abort_kinds) is distinct from cardinality(p_positions)
    or exists (
      select from unnest(p_abort_kinds) k
      where k is null or k not in ('transient', 'permanent', 'released', 'delayed')
    )
  then
    return writ_data.refusal('invalid_abort_kind');
  end if;
  v_may_remove := (
    select open_jobs <= cardinality(p_positions)
    from writ_data.job_lease
    where lease_token = p_lease_token
  );
  l := writ_data.lock_lease(p_lease_token, v_may_remove);
  if l.lease_token is null then
    return writ_data.refusal(
      'lease_lost',
      'The lease is no longer held: it expired and was taken back, or all its jobs have ended.'
    );
  end if;

  v_now := writ.now();
  v_actor := coalesce(p_actor, l.holder);
  v_ids := l.job_ids;
  select jobs, counts, early
  into v_jobs, v_counts, v_early
  from writ_data.abort(l, p_positions, p_abort_kinds, p_codes, p_messages, v_now, p_stacks);
  if cardinality(v_jobs) < cardinality(p_positions) then
    select jsonb_agg(jsonb_build_object('position', u.p, 'reason', case
      when v_ids[u.p] is not null and exists (
        select from writ_data.job_execution e
        where e.job_id = v_ids[u.p] and e.status in ('COMMITTED', 'DONE')
      ) then
        case u.k when 'released' then 'committed_cannot_release' else 'committed_cannot_fail' end
      else 'lease_lost'
    end))
    into v_refused
    from unnest(p_positions, p_abort_kinds) u(p, k)
    where v_ids[u.p] is null or v_ids[u.p] <> all (v_jobs);
  end if;

  select started_upto, started
  into v_started_upto, v_started
  from writ_data.settle_lease(l, v_may_remove, v_jobs, v_early, p_start_upto, v_now);
  perform writ_data.record_abort(
    case when p_abort_kinds[1] = 'released' then 'fn_job_release' else 'fn_job_fail' end,
    v_actor, v_now, v_jobs, v_counts, v_started,
    (
      select jsonb_build_object('codes', jsonb_object_agg(v_ids[u.p], left(u.code, 200)))
      from unnest(p_positions, p_codes) u(p, code)
      where v_ids[u.p] is not null and u.code is not null
      having count(*) > 0
    )
  );
  if l.stepped and v_counts[3] + v_counts[4] > 0 then
    perform writ_data.on_jobs_gone(
      v_jobs[v_counts[1] + v_counts[2] + 1:], 'fn_job_fail', v_actor, v_now
    );
  end if;
  if v_counts[1] > 0 then
    perform writ_data.wake(array_agg(distinct j.job_kind), v_now)
    from writ_data.job j
    where j.job_id = any (v_jobs[1:v_counts[1]]);
  end if;

  return jsonb_build_object(
    'queued', v_counts[1],
    'retry_waiting', v_counts[2],
    'dead_letter', v_counts[3],
    'cancelled', v_counts[4],
    'started_upto', v_started_upto,
    'refused', coalesce(v_refused, '[]')
  );
end $$;
