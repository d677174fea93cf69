-- Puts jobs that come back from a delay, a retry or a release at the end of their lanes, each in a
-- row of its own, so that it can be found by its id. Answers the kinds that now have something to
-- claim.
create or replace function writ_data.make_ready(
  p_jobs uuid[],
  p_kinds text[],
  p_tenants text[],
  p_limit_keys text[],
  p_priorities smallint[],
  p_alone boolean[],
  p_attempts smallint[],
  p_execution_nos integer[],
  p_deadlines timestamptz[]
) returns text[]
language plpgsql
as $$
declare
  v_lanes bigint[];
  v_kinds text[];
begin
  perform pg_current_xact_id();

  -- Open each lane once, in a statement before the one that uses it.
  with wanted as materialized (
    select k, t, coalesce(l, '') as l, p, a, writ_data.open_lane(k, t, l, p, a) as lane
    from (
      select distinct k, t, coalesce(l, '') as l, p, a
      from unnest(p_kinds, p_tenants, p_limit_keys, p_priorities, p_alone) u(k, t, l, p, a)
    ) d
  )
  select array_agg(w.lane order by u.n), array_agg(distinct u.k)
  into v_lanes, v_kinds
  from unnest(p_kinds, p_tenants, p_limit_keys, p_priorities, p_alone)
    with ordinality u(k, t, l, p, a, n)
  join wanted w on w.k = u.k and w.t = u.t and w.l = coalesce(u.l, '') and w.p = u.p and w.a = u.a;

  insert into writ_data.job_ready (
    lane_id, seq, part, job_ids, attempts, execution_no, deadline_at, moved
  )
  select
    u.lane,
    nextval('writ_data.job_ready_seq'),
    0,
    array[u.j],
    u.attempts, u.no, u.deadline, true
  from unnest(v_lanes, p_jobs, p_attempts, p_execution_nos, p_deadlines)
    u(lane, j, attempts, no, deadline);
  return v_kinds;
end $$;
