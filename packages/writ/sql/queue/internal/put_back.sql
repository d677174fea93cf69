-- Puts jobs that were claimed and not run back where they stood in their lanes: before everything
-- that came after them. A job that came from a delay or a retry stands first.
-- Locks:   their lanes, in order, because the heads of these may have passed those places.
create or replace function writ_data.put_back(
  p_jobs uuid[],
  p_attempts smallint[],
  p_execution_nos integer[],
  p_alone boolean[]
) returns void
language plpgsql
set enable_seqscan = off
as $$
declare
  v_lo uuid;                        -- bounds, so that only the days of these jobs are opened
  v_hi uuid;
  v_lanes bigint[];
  v_seqs bigint[];
  v_deadlines timestamptz[];
begin
  perform pg_current_xact_id();     -- see open_lane
  select x.ids[1], x.ids[cardinality(x.ids)] into v_lo, v_hi
  from (select array_agg(u.id order by u.id) as ids from unnest(p_jobs) u(id)) x;

  with job as materialized (
    select
      j.job_kind, j.tenant_id, coalesce(j.limit_key, '') as limit_key, j.priority, u.alone,
      j.ready_seq, j.deadline_at, u.n
    from unnest(p_jobs, p_alone) with ordinality u(id, alone, n)
    join writ_data.job j on j.job_id = u.id and j.job_id between v_lo and v_hi
  ), place as materialized (
    select
      d.*, writ_data.open_lane(d.job_kind, d.tenant_id, d.limit_key, d.priority, d.alone) as lane
    from (select distinct job_kind, tenant_id, limit_key, priority, alone from job) d
  )
  select
    array_agg(p.lane order by j.n),
    array_agg(j.ready_seq order by j.n),
    array_agg(j.deadline_at order by j.n)
  into v_lanes, v_seqs, v_deadlines
  from job j
  join place p using (job_kind, tenant_id, limit_key, priority, alone);

  perform from writ_data.lane where lane_id = any (v_lanes) order by lane_id for no key update;
  update writ_data.lane l
  set head = x.seq
  from (
    select u.lane, min(u.seq) as seq
    from unnest(v_lanes, v_seqs) u(lane, seq)
    group by u.lane
  ) x
  where l.lane_id = x.lane and l.head > x.seq;

  -- The jobs of one call share a place in the lane. Their ids follow one another, and stand in
  -- `part` below every part of a call.
  insert into writ_data.job_ready (
    lane_id, seq, part, job_ids, attempts, execution_no, deadline_at, moved
  )
  select
    u.lane, coalesce(u.seq, l.head),
    (('x' || left(replace(u.id::text, '-', ''), 16))::bit(64) # x'8000000000000000')::bigint,
    array[u.id], u.attempts, u.no, u.deadline, true
  from unnest(v_lanes, v_seqs, p_jobs, p_attempts, p_execution_nos, v_deadlines)
    u(lane, seq, id, attempts, no, deadline)
  join writ_data.lane l on l.lane_id = u.lane;
end $$;
