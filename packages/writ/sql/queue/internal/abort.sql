-- Ends open executions of one lease without success, and decides in one place what becomes of each
-- job:
--   cancel requested                               → cancelled
--   released, or expired before it was started     → queued where it stood, no attempt charged
--   delayed                                        → retry_waiting for five seconds, no attempt
--                                                    charged
--   its worker died in it                          → retry_waiting. The crash is charged, but never
--                                                    takes the last attempt: the handler may not
--                                                    have begun. From then on it runs alone, and
--                                                    after queue.poison.crashes crashes alone:
--                                                    dead_letter (poison)
--   permanent, attempts used up, deadline passed   → dead_letter
--   anything else                                  → retry_waiting, after a delay with full jitter
--                                                    that follows from job and attempt
-- It leaves alone an execution that has committed, or has ended already. The caller holds the
-- lease.
-- Answers: the jobs by what became of them, in the order queued, retry_waiting, dead_letter,
--          cancelled, with the size of each group, and how many of them had not been started.
create or replace function writ_data.abort(
  p_lease writ_data.job_lease,
  p_positions integer[],
  p_abort_kinds text[],
  p_codes text[],
  p_messages text[],
  p_at timestamptz,
  p_stacks text[] default null,
  out jobs uuid[],
  out counts integer[],
  out early integer
)
language plpgsql
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_base double precision :=
    (writ_data.setting('queue.retry.backoff_base_sec'))::double precision;
  v_cap double precision := (writ_data.setting('queue.retry.backoff_cap_sec'))::double precision;
  v_poison integer := (writ_data.setting('queue.poison.crashes'))::integer;

  -- Copies: a field of a row variable is fetched from its storage again for every element.
  v_ids uuid[] := p_lease.job_ids;
  v_nos integer[] := p_lease.execution_nos;
  v_attempts smallint[] := p_lease.attempts;
  v_upto integer := writ_data.started_upto(p_lease);

  v_lo uuid;                        -- bounds, so that only the days of these jobs are opened
  v_hi uuid;

  -- The jobs that go back to where they stood, as parallel arrays.
  b_jobs uuid[];
  b_attempts smallint[];
  b_nos integer[];
  b_alone boolean[];
begin
  select x.ids[1], x.ids[cardinality(x.ids)]
  into v_lo, v_hi
  from (
    select array_agg(v_ids[p] order by v_ids[p]) as ids
    from unnest(p_positions) p
    where v_ids[p] is not null
  ) x;

  with open as (
    select
      u.p, j.job_id, v_nos[u.p] as no, u.kind,
      case
        when crash.alone >= v_poison then 'poison'
        when crash.now and p_lease.alone then 'crashed_alone'
        else left(u.code, 200)
      end as code,
      left(u.message, 4000) as message, left(u.stack, 8000) as stack,
      j.job_kind, j.tenant_id, j.limit_key, j.priority, j.deadline_at,
      crash.now or crash.before as suspect,
      case
        when not charge.charged then v_attempts[u.p]
        when crash.now
          then greatest(v_attempts[u.p], least(v_attempts[u.p] + 1, j.max_attempts - 1))
        else v_attempts[u.p] + 1
      end as attempts,
      c.job_id is not null as cancelled,
      case
        when c.job_id is not null then 'cancelled'
        when u.kind = 'delayed' then 'retry_waiting'
        when not charge.charged then 'queued'
        when crash.alone >= v_poison then 'dead_letter'
        when crash.now then 'retry_waiting'
        when u.kind = 'permanent' or v_attempts[u.p] + 1 >= j.max_attempts or j.deadline_at <= p_at
          then 'dead_letter'
        else 'retry_waiting'
      end as next,
      -- The first 32 bits of a hash as a fraction: the same job and attempt wait equally long in
      -- every replay.
      case
        when u.kind = 'delayed' then 5
        else ('x' || encode(substr(sha256(
          convert_to(j.job_id::text || ':' || v_attempts[u.p], 'UTF8')
        ), 1, 4), 'hex'))::bit(32)::bigint / 4294967296.0
          * least(
            coalesce(k.backoff_cap_s, v_cap),
            coalesce(k.backoff_base_s, v_base) * 2 ^ least(v_attempts[u.p], 30)
          )
      end as delay_s
    from unnest(p_positions, p_abort_kinds, p_codes, p_messages, p_stacks)
      u(p, kind, code, message, stack)
    cross join lateral (
      select u.kind not in ('released', 'delayed')
        and (u.kind <> 'lease_expired' or u.p <= v_upto) as charged
    ) charge
    join writ_data.job j on j.job_id = v_ids[u.p] and j.job_id between v_lo and v_hi
    cross join lateral (
      select
        u.kind = 'lease_expired' and charge.charged as now,
        coalesce(bool_or(e.abort_kind = 'lease_expired' and e.started_at is not null), false)
          as before,
        case
          when u.kind = 'lease_expired' and charge.charged and p_lease.alone
            then 1 + count(*) filter (where e.error_code = 'crashed_alone')
          else 0
        end as alone
      from writ_data.job_execution e
      where e.job_id = j.job_id and e.job_id between v_lo and v_hi
    ) crash
    left join writ_data.job_kind k on k.job_kind = j.job_kind
    left join writ_data.job_cancel c on c.job_id = j.job_id
    where not exists (
      select from writ_data.job_execution e
      where e.job_id = j.job_id and e.job_id between v_lo and v_hi
        and e.status in ('COMMITTED', 'DONE')
    )
  ), ended as (
    insert into writ_data.job_execution (
      job_id, execution_no, attempt, lease_token, lease_owner, status, abort_kind, final,
      started_at, finished_at, error_code, error_message, error_stack
    )
    select
      job_id, no, attempts, p_lease.lease_token, p_lease.holder, 'ABORTED',
      case when cancelled then 'cancelled' else kind end,
      next in ('dead_letter', 'cancelled'),
      case when p <= v_upto then p_lease.start_at[width_bucket(p - 1, p_lease.start_upto) + 1] end,
      p_at, code, message, stack
    from open
    order by p
    on conflict do nothing
    returning job_id
  ), mine as materialized (
    -- One row per job, though a fault may have delivered it twice to the same lease: the later
    -- execution counts, and of two the one that began.
    select distinct on (open.job_id) open.*
    from open
    where open.job_id in (select job_id from ended)
    order by open.job_id, open.no desc, open.p
  ), later as (
    insert into writ_data.job_wait (
      due_at, job_kind, tenant_id, limit_key, priority, alone, job_id, attempts, execution_no,
      deadline_at, reason
    )
    select
      p_at + delay_s * interval '1 second', job_kind, tenant_id, limit_key, priority, suspect,
      job_id, attempts, no + 1, deadline_at, 'retry'
    from mine
    where next = 'retry_waiting'
  )
  select
    coalesce(array_agg(
      job_id order by array_position('{queued,retry_waiting,dead_letter,cancelled}', next)
    ), '{}'),
    array[
      count(*) filter (where next = 'queued'),
      count(*) filter (where next = 'retry_waiting'),
      count(*) filter (where next = 'dead_letter'),
      count(*) filter (where next = 'cancelled')
    ],
    count(*) filter (where p > v_upto),
    array_agg(job_id order by p) filter (where next = 'queued'),
    array_agg(attempts::smallint order by p) filter (where next = 'queued'),
    array_agg(no + 1 order by p) filter (where next = 'queued'),
    array_agg(suspect order by p) filter (where next = 'queued')
  into jobs, counts, early, b_jobs, b_attempts, b_nos, b_alone
  from mine;

  if b_jobs is not null then
    perform writ_data.put_back(b_jobs, b_attempts, b_nos, b_alone);
  end if;
end $$;
