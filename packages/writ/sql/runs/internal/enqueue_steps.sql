-- Enqueues jobs of steps, whatever their kinds, tenants and priorities: one row of job each, and
-- one ready row for those of one lane. p_inputs are JSON text; null: none. Jobs of p_taken get no
-- ready row, because the worker that ended the step before holds them already; `answers` is what a
-- claim would have answered for them. The caller has locked the runs, and records the jobs. Answers
-- the jobs in the order given.
create or replace function writ_data.enqueue_steps(
  p_runs uuid[],
  p_steps smallint[],
  p_places integer[],
  p_attempts smallint[],
  p_undo boolean[],
  p_inputs text[],
  p_actor text,
  p_at timestamptz,
  p_taken boolean[] default null,
  out ids uuid[],
  out answers text[]
)
language plpgsql
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_xid xid8 := pg_current_xact_id();   -- before a lane is looked up: see open_lane
  v_lo uuid := p_runs[1];
  v_hi uuid := p_runs[1];
  v_default smallint := (writ_data.setting('queue.retry.max_attempts_default'))::smallint;
  v_kinds text[];
  v_seq bigint := nextval('writ_data.job_ready_seq');
begin
  if cardinality(p_runs) > 1 then
    select x.ids[1], x.ids[cardinality(p_runs)]
    into v_lo, v_hi
    from (select array_agg(r order by r) as ids from unnest(p_runs) r) x;
  end if;

  -- lane: what stands in line, by lane; homed: with the ids of their lanes.
  with wanted as materialized (
    select
      u.n,
      writ_data.uuidv7() as id,
      u.run, u.step, u.place, u.attempt, u.undo, u.input,
      coalesce(u.taken, false) as taken,
      r.tenant_id, r.priority, r.traceparent, k.job_kind, k.event_domain, k.executor,
      k.source_system,
      coalesce(
        case when u.undo then s.undo_attempts else s.max_attempts end,
        k.max_attempts, v_default
      ) as max_attempts,
      concat(
        '["', u.run, '","',
        case when u.undo then 'undo:' end,
        s.step_id,
        case
          when u.place is not null
            then concat(
              '[',
              (
                select i.item
                from writ_data.run_item i
                where i.run_id = u.run
                  and i.run_id between v_lo and v_hi
                  and i.step_no = u.step
                  and i.attempt = u.attempt
                  and i.place = u.place
              ),
              ']'
            )
        end,
        '",', u.attempt, ',"', p.plan_id, '","', p.plan_version, '",',
        coalesce(s.timeout_ms::text, 'null'),
        case when u.attempt > 1 and not u.undo then writ_data.step_effect(u.run, s.step_id) end,
        ']', ',"' || r.traceparent || '"'
      ) as label
    from unnest(p_runs, p_steps, p_places, p_attempts, p_undo, p_inputs, p_taken)
      with ordinality u(run, step, place, attempt, undo, input, taken, n)
    cross join lateral (
      select *
      from writ_data.run x
      where x.run_id = u.run and x.run_id between v_lo and v_hi
      offset 0
    ) r
    join writ_data.plan p on p.plan_no = r.plan_no
    join writ_data.plan_step s on s.plan_no = r.plan_no and s.step_no = u.step
    join writ_data.job_kind k on k.job_kind = case when u.undo then s.undo_kind else s.job_kind end
  ), enqueued as (
    insert into writ_data.job (
      job_id, tenant_id, job_kind, event_domain, input, payload_classification, executor,
      max_attempts, priority, process_after, enqueued_by, enqueued_at, source_system, ready_seq,
      run_id, step_no, place, logical_attempt, undo, traceparent
    )
    select
      id, tenant_id, job_kind, event_domain, input::json, 'safe_metadata', executor, max_attempts,
      priority, p_at, p_actor, p_at, source_system,
      case when not taken then v_seq end,
      run, step, place, attempt,
      nullif(undo, false),
      traceparent
    from wanted
  ), lane as materialized (
    select
      w.job_kind, w.tenant_id, w.priority, w.max_attempts,
      array_agg(w.id order by w.n) as ids,
      array_agg(w.input order by w.n) as inputs,
      array_agg(w.label order by w.n) as labels,
      (row_number() over ())::integer as part,
      sum(octet_length(w.input)) <= 1000 * count(*) or bool_and(w.input is null) as small
    from wanted w
    where not w.taken
    group by w.job_kind, w.tenant_id, w.priority, w.max_attempts
  ), homed as materialized (
    select
      l.*,
      coalesce(
        (
          select x.lane_id
          from writ_data.lane x
          where x.job_kind = l.job_kind
            and x.tenant_id = l.tenant_id
            and x.limit_key = ''
            and x.priority = l.priority
            and not x.alone
            and x.closing is null
            and current_setting('transaction_isolation') = 'read committed'
          limit 1
        ),
        writ_data.open_lane(l.job_kind, l.tenant_id, null, l.priority, false)
      ) as home
    from lane l
  ), ready as (
    insert into writ_data.job_ready (
      lane_id, seq, part, job_ids, attempts, execution_no, inputs, max_attempts, steps
    )
    select
      h.home, v_seq,
      h.part * 1000 + c,
      h.ids[c * 100 + 1:c * 100 + 100],
      0, 1,
      case when h.small then h.inputs[c * 100 + 1:c * 100 + 100] end,
      case when h.small then h.max_attempts end,
      h.labels[c * 100 + 1:c * 100 + 100]
    from homed h
    cross join lateral generate_series(0, (cardinality(h.ids) - 1) / 100) c
  )
  select
    (select array_agg(distinct h.job_kind) from homed h),
    array_agg(w.id order by w.n),
    case
      when p_taken is not null
        then array_agg(
          case
            when w.taken
              then concat(
                '["', w.id, '","', w.job_kind, '",', to_json(w.tenant_id), ',null,1,1,null,',
                case when w.input is null then 'null' else concat('[', w.input, ']') end,
                ',null,null,null,', w.priority, ',', w.max_attempts, ',null,null,', w.label, ']'
              )
          end
          order by w.n
        )
    end
  into v_kinds, ids, answers
  from wanted w;
  if v_kinds is not null then
    perform writ_data.wake(v_kinds, p_at);
  end if;
end $$;
