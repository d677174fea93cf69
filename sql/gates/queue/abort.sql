-- internal
-- Ends open executions of one lease without success, and decides in one place what becomes of each job:
--   cancel requested                               → cancelled
--   released, or expired before it was started     → queued again, no attempt charged
--   its worker died in it                          → retry_waiting; the crash is charged, but never takes the last attempt: nobody knows
--                                                    whether the handler had begun. After queue.poison.crashes of them: dead_letter (poison)
--   permanent, attempts used up, deadline passed   → dead_letter
--   anything else                                  → retry_waiting, after a delay with full jitter that follows from job and attempt
-- An execution that has committed, or has ended already, is left alone. The caller holds the lease row.
-- Answers the jobs by what became of them, in the order queued, retry_waiting, dead_letter, cancelled, with the size of each group,
-- and how many of them had not been started.
create or replace function writ_data.abort(
  p_lease writ_data.job_lease, p_positions integer[], p_abort_kinds text[], p_codes text[], p_messages text[], p_at timestamptz,
  out jobs uuid[], out counts integer[], out early integer
) language plpgsql set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  v_ids uuid[] := p_lease.job_ids; v_nos smallint[] := p_lease.execution_nos; v_attempts smallint[] := p_lease.attempts;
  v_upto integer := writ_data.started_upto(p_lease);
  v_base double precision := (writ_data.setting('queue.retry.backoff_base_sec'))::double precision;
  v_cap double precision := (writ_data.setting('queue.retry.backoff_cap_sec'))::double precision;
  v_poison integer := (writ_data.setting('queue.poison.crashes'))::integer;
begin
  with open as (
    select u.p, j.job_id, v_nos[u.p] as no, u.kind, case when crash.n >= v_poison then 'poison' else left(u.code, 200) end as code, left(u.message, 4000) as message, j.job_kind, j.tenant_id, j.priority, j.deadline_at,
      case
        when not charge.charged then v_attempts[u.p]
        when crash.n > 0 then greatest(v_attempts[u.p], least(v_attempts[u.p] + 1, j.max_attempts - 1))
        else v_attempts[u.p] + 1
      end as attempts, c.job_id is not null as cancelled,
      case
        when c.job_id is not null then 'cancelled'
        when not charge.charged then 'queued'
        when crash.n >= v_poison then 'dead_letter'
        when crash.n > 0 then 'retry_waiting'
        when u.kind = 'permanent' or v_attempts[u.p] + 1 >= j.max_attempts or j.deadline_at <= p_at then 'dead_letter'
        else 'retry_waiting'
      end as next,
      -- The first 32 bits of a hash as a fraction: the same job and attempt wait equally long in every replay.
      ('x' || encode(substr(sha256(convert_to(j.job_id::text || ':' || v_attempts[u.p], 'UTF8')), 1, 4), 'hex'))::bit(32)::bigint / 4294967296.0
        * least(coalesce(k.backoff_cap_s, v_cap), coalesce(k.backoff_base_s, v_base) * 2 ^ least(v_attempts[u.p], 30)) as delay_s
    from unnest(p_positions, p_abort_kinds, p_codes, p_messages) u(p, kind, code, message)
    cross join lateral (select u.kind <> 'released' and (u.kind <> 'lease_expired' or u.p <= v_upto) as charged) charge
    join writ_data.job j on j.job_id = v_ids[u.p]
    cross join lateral (
      select case when u.kind = 'lease_expired' and charge.charged then 1 + (select count(*) from writ_data.job_execution e
        where e.job_id = j.job_id and e.abort_kind = 'lease_expired' and e.started_at is not null) else 0 end as n) crash
    left join writ_data.job_kind k on k.job_kind = j.job_kind
    left join writ_data.job_cancel c on c.job_id = j.job_id
    where not exists (select from writ_data.job_execution e where e.job_id = j.job_id and e.status in ('COMMITTED', 'DONE'))
  ), ended as (
    insert into writ_data.job_execution
      (job_id, execution_no, attempt, lease_token, lease_owner, status, abort_kind, final, started_at, finished_at, error_code, error_message)
    select job_id, no, attempts, p_lease.lease_token, p_lease.holder, 'ABORTED', case when cancelled then 'cancelled' else kind end,
      next in ('dead_letter', 'cancelled'),
      case when p <= v_upto then p_lease.start_at[width_bucket(p - 1, p_lease.start_upto) + 1] end, p_at, code, message
    from open order by p
    on conflict do nothing
    returning job_id
  ), mine as materialized (
    -- One row per job, though a fault may have delivered it twice to the same lease: the later execution counts, and of two the one that began.
    select distinct on (open.job_id) open.* from open where open.job_id in (select job_id from ended) order by open.job_id, open.no desc, open.p
  ), again as (
    insert into writ_data.job_ready (job_kind, tenant_id, priority, seq, job_id, attempts, execution_no, deadline_at)
    select job_kind, tenant_id, priority, nextval('writ_data.job_ready_seq'), job_id, attempts, no + 1, deadline_at
    from mine where next = 'queued'
  ), later as (
    insert into writ_data.job_wait (due_at, job_kind, tenant_id, priority, job_id, attempts, execution_no, deadline_at, reason)
    select p_at + delay_s * interval '1 second', job_kind, tenant_id, priority, job_id, attempts, no + 1, deadline_at, 'retry'
    from mine where next = 'retry_waiting'
  )
  select coalesce(array_agg(job_id order by array_position('{queued,retry_waiting,dead_letter,cancelled}', next)), '{}'),
    array[count(*) filter (where next = 'queued'), count(*) filter (where next = 'retry_waiting'),
      count(*) filter (where next = 'dead_letter'), count(*) filter (where next = 'cancelled')],
    count(*) filter (where p > v_upto)
  into jobs, counts, early
  from mine;
end $$;
