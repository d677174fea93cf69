-- Ends jobs of one lease, named by their places in it, as succeeded: executions become DONE,
-- committing first where no commit came before.
-- Callers: writ_worker, writ_applier
-- Answers: {done, started_upto, refused: [{position, reason}]}, and of steps of runs runs_ended,
--          followed and next_due_ms. A job that is refused stays open: payload_too_large,
--          invalid_result (no JSON, or of a step: JSON from which the next step cannot read),
--          already_committed, lease_lost, job_not_started, reserved_job_kind (only
--          the gate of a reserved kind commits its jobs; one that is committed is done).
-- Refuses: lease_lost, invalid_actor, batch_too_large, tenant_forbidden.
-- Locks:   the lease, and strongly enough to remove it when its last jobs end; runs of steps.
create or replace function writ.fn_job_succeed_many(
  p_lease_token uuid,
  p_positions integer[],
  p_results text[] default null,       -- as JSON text
  p_start_upto integer default 0,      -- marks further jobs of the lease as started
  p_actor text default null,
  p_result_refs text[] default null    -- names of results that are kept elsewhere
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz;
  v_tenant text;                    -- the only one the caller may touch; null: any
  v_actor text;
  v_may_remove boolean;
  l writ_data.job_lease;

  -- Copies: a field of a row variable is fetched from its storage again for every element that a
  -- statement reads.
  v_ids uuid[];
  v_nos integer[];
  v_attempts smallint[];
  v_upto integer;

  v_positions integer[] := p_positions;
  v_results text[] := p_results;
  v_refs text[] := p_result_refs;
  v_max_bytes integer;
  v_malformed boolean := false;     -- a result is no JSON
  v_turned_away jsonb;              -- positions that are refused for what was given with them
  v_bounds uuid[];
  -- positions of reserved kinds, which only their gates commit
  v_owned integer[] := '{}'::integer[];
  v_direct uuid[];                  -- committed here
  v_committed uuid[];               -- committed before
  v_behind uuid[];                  -- of these, whose runs have not moved on: not of reserved kinds
  v_refused jsonb;
  v_ended integer;
  s record;
  v_started_upto integer;
  v_started uuid[];
  v_followed record;
  v_runs jsonb;
begin
  -- Validate, and lock the lease.

  if length(p_actor) > 200 then
    return writ_data.refused('fn_job_succeed', p_actor, 'invalid_actor');
  elsif greatest(
    cardinality(p_positions), cardinality(p_results), cardinality(p_result_refs)
  ) > 5000 then
    return writ_data.refused(
      'fn_job_succeed', p_actor, 'batch_too_large', 'A lease has at most 5,000 jobs.'
    );
  end if;
  v_may_remove := (
    select open_jobs <= cardinality(p_positions)
    from writ_data.job_lease
    where lease_token = p_lease_token
  );
  l := writ_data.lock_lease(p_lease_token, v_may_remove);
  if l.lease_token is null then
    return writ_data.refused(
      'fn_job_succeed', p_actor,
      'lease_lost',
      'The lease is no longer held: it expired and was taken back, or all its jobs have ended.'
    );
  end if;
  v_now := writ.now();
  v_actor := coalesce(p_actor, l.holder);
  v_ids := l.job_ids;
  v_nos := l.execution_nos;
  v_attempts := l.attempts;
  v_upto := writ_data.started_upto(l);
  -- See job_lease.login.
  if l.login <> session_user or current_setting('writ.tenant', true) <> '' then
    v_tenant := writ_data.caller_tenant();
  end if;
  if v_tenant is not null and writ_data.foreign_jobs(
    array(select v_ids[p] from unnest(p_positions) p) || v_ids[v_upto + 1:p_start_upto], v_tenant
  ) then
    return writ_data.refused('fn_job_succeed', p_actor, 'tenant_forbidden');
  end if;

  -- Turn away results that are too large, or no JSON.

  if p_results is not null or p_result_refs is not null then
    v_max_bytes := (writ_data.setting('queue.payload.max_bytes'))::integer;
    begin
      perform r::json from unnest(p_results) r;
    exception when data_exception or statement_too_complex then
      v_malformed := true;
    end;
    select
      array_agg(u.p order by u.n) filter (where w.reason is null),
      array_agg(u.r order by u.n) filter (where w.reason is null),
      array_agg(u.ref order by u.n) filter (where w.reason is null),
      jsonb_agg(
        jsonb_build_object('position', u.p, 'reason', w.reason, 'detail', w.detail)
      ) filter (where w.reason is not null)
    into v_positions, v_results, v_refs, v_turned_away
    from unnest(p_positions, p_results, p_result_refs) with ordinality u(p, r, ref, n)
    cross join lateral (
      select case
          when octet_length(u.r) > v_max_bytes or octet_length(u.ref) > 8192
            then 'payload_too_large'
          when v_malformed and not writ_data.is_json(u.r) then 'invalid_result'
          when l.stepped and not writ_data.is_readable(u.r) and exists (
            select from writ_data.job j where j.job_id = v_ids[u.p] and j.run_id is not null
          ) then 'invalid_result'
        end as reason,
        case
          when octet_length(u.r) > v_max_bytes then format(
            'The result has %s bytes; queue.payload.max_bytes allows %s.',
            octet_length(u.r), v_max_bytes
          )
          when octet_length(u.ref) > 8192 then format(
            'The reference to the result has %s bytes; at most 8192 are allowed.',
            octet_length(u.ref)
          )
        end as detail
    ) w
    where u.p is not null;
  end if;

  -- Find the jobs that are not committed here. Few leases hold any.

  if l.reserved then
    -- Bounds, so that only the days are opened in which these jobs were enqueued.
    v_bounds := array(
      select v_ids[p] as id from unnest(v_positions) p where v_ids[p] is not null order by id
    );
    v_owned := array(
      select u.p
      from unnest(v_positions) u(p)
      left join lateral (
        select j.job_kind from writ_data.job j
        where j.job_id = v_ids[u.p]
          and j.job_id between v_bounds[1] and v_bounds[cardinality(v_bounds)]
        offset 0
      ) k on true
      where writ_data.reserved_kind(k.job_kind) is not false
    );
  end if;

  -- End them. The ordinary case is a plain insert of all of them: ON CONFLICT looks into every
  -- unique index twice and writes half as much WAL again.

  if cardinality(v_owned) < cardinality(v_positions) then
    begin
      with done as (
        insert into writ_data.job_execution (
          job_id, execution_no, attempt, lease_token, lease_owner, status,
          started_at, committed_at, finished_at, result, result_ref
        )
        select
          v_ids[p], v_nos[p], v_attempts[p] + 1, p_lease_token, l.holder, 'DONE',
          l.start_at[width_bucket(p - 1, l.start_upto) + 1], v_now, v_now,
          v_results[n]::json, v_refs[n]
        from unnest(v_positions) with ordinality u(p, n)
        where p between 1 and v_upto and p <> all (v_owned)
        returning job_id
      )
      select array_agg(job_id) into v_direct from done;
    exception when unique_violation then
      with done as (
        insert into writ_data.job_execution (
          job_id, execution_no, attempt, lease_token, lease_owner, status,
          started_at, committed_at, finished_at, result, result_ref
        )
        select
          v_ids[p], v_nos[p], v_attempts[p] + 1, p_lease_token, l.holder, 'DONE',
          l.start_at[width_bucket(p - 1, l.start_upto) + 1], v_now, v_now,
          v_results[n]::json, v_refs[n]
        from unnest(v_positions) with ordinality u(p, n)
        where p between 1 and v_upto and p <> all (v_owned)
        on conflict do nothing
        returning job_id
      )
      select array_agg(job_id) into v_direct from done;
    end;
  end if;

  v_ended := coalesce(cardinality(v_direct), 0);
  if v_ended < cardinality(v_positions) then
    with done as (
      update writ_data.job_execution e
      set status = 'DONE', finished_at = v_now,
        result = coalesce(e.result, v_results[r.n]::json), result_ref = v_refs[r.n]
      from (
        -- A job of a reserved kind has the result that its gate gave it, and no other.
        select case when p <> all (v_owned) then n end as n, v_ids[p] as job_id, v_nos[p] as no
        from unnest(v_positions) with ordinality u(p, n)
        where v_ids[p] <> all (coalesce(v_direct, '{}'))
      ) r
      where e.job_id = r.job_id and e.execution_no = r.no
        and e.lease_token = p_lease_token and e.status = 'COMMITTED'
      returning e.job_id, r.n
    )
    select array_agg(d.job_id), array_agg(d.job_id) filter (where d.n is not null)
    into v_committed, v_behind
    from done d;
    v_ended := v_ended + coalesce(cardinality(v_committed), 0);
  end if;
  if v_ended < cardinality(v_positions) then
    v_refused := (
      select jsonb_agg(jsonb_build_object('position', r.p, 'reason', case
        when r.job_id is null then 'lease_lost'
        when exists (
          select from writ_data.job_execution e
          where e.job_id = r.job_id and e.status in ('COMMITTED', 'DONE')
        ) then 'already_committed'
        when exists (
          select from writ_data.job_execution e
          where e.job_id = r.job_id and (e.execution_no = r.no or e.final)
        ) then 'lease_lost'
        when r.p = any (v_owned) then 'reserved_job_kind'
        else 'job_not_started'
      end))
      from (
        select p, v_ids[p] as job_id, v_nos[p] as no from unnest(v_positions) p
      ) r
      where r.job_id is null
        or r.job_id <> all (coalesce(v_direct, '{}') || coalesce(v_committed, '{}'))
    );
  end if;

  -- Move the runs of steps on.

  if l.stepped and v_ended > 0 then
    if v_direct is not null and v_behind is not null then
      -- All runs at once, in order: below they come in two parts.
      perform writ_data.on_jobs_ending(v_direct || v_behind);
    end if;
    if v_direct is not null then
      select f.* into v_followed
      from (
        select
          array_agg(v_ids[p] order by n) as jobs,
          array_agg(v_results[n] order by n) as results,
          array_agg((v_attempts[p] + 1)::smallint order by n) as tries
        from unnest(v_positions) with ordinality u(p, n)
        where v_ended = cardinality(v_positions) and v_committed is null
          or v_ids[p] = any (v_direct)
      ) e
      cross join lateral writ_data.on_jobs_succeeded(
        e.jobs, e.results, e.tries, 'fn_job_succeed', v_actor, v_now
      ) f;
      v_runs := jsonb_strip_nulls(jsonb_build_object(
        'runs_ended', v_followed.ended,
        'followed', v_followed.followed,
        'next_due_ms', case
          when v_followed.due is not null
          then ceil(extract(epoch from greatest(v_followed.due, v_now) - v_now) * 1000)
        end
      ));
    end if;
    if v_behind is not null then
      perform writ_data.on_commits_done(v_behind, 'fn_job_succeed', v_actor, v_now);
    end if;
  end if;

  -- Settle the lease, record, and answer.

  s := writ_data.settle_lease(
    l, v_may_remove, coalesce(v_direct, '{}') || coalesce(v_committed, '{}'),
    0, p_start_upto, v_now
  );
  v_started_upto := s.started_upto;
  v_started := s.started;
  if v_ended > 0 or v_started_upto > v_upto then
    perform writ_data.record(
      'fn_job_succeed', v_actor, v_now,
      coalesce(v_direct, '{}') || coalesce(v_committed, '{}') || v_started,
      array['dot.job.committed', 'dot.job.succeeded', 'dot.job.started'],
      array[1, 1, v_ended + 1],
      array[coalesce(cardinality(v_direct), 0), v_ended, v_ended + cardinality(v_started)]
    );
  end if;
  if v_refused is not null or v_turned_away is not null then
    perform writ_data.audited('fn_job_succeed', v_actor, jsonb_build_object(
      'refused', coalesce(v_refused, '[]') || coalesce(v_turned_away, '[]')
    ));
  end if;
  return jsonb_build_object(
    'done', v_ended,
    'started_upto', v_started_upto,
    'refused', coalesce(v_refused, '[]') || coalesce(v_turned_away, '[]')
  ) || coalesce(v_runs, '{}');
end $$;
