-- Runs the checks of an audit against the run's log, the receipts and the targets as they are now:
-- [{check, result, detail}]. A rollback is held to A-001, A-003, A-007 and its state. p_read is the
-- state outside the database now. p_touched has, by the number of a step outside, the target that
-- its type says it touches.
create or replace function writ_data.audit_checks(
  g writ_data.governance_job,
  c writ_data.contract,
  p_health jsonb,
  p_read jsonb,
  p_touched jsonb,
  p_at timestamptz
) returns jsonb
language plpgsql stable
as $$
declare
  v_rows jsonb;
  v_outside text;
  v_missing text;
  v_started timestamptz;
  v_ended timestamptz;
  v_undoable text;
  v_worse text;
  v_signals text;
  v_drift text;
  v_state jsonb;
  v_expected jsonb;
begin
  -- What the ledger says was done, receipt by receipt.
  select jsonb_agg(r.entry::jsonb -> 'context' order by s.step_no)
  into v_rows
  from writ_data.governance_step s
  join writ_data.receipt r on r.receipt_no = s.receipt_no
  where s.job_id = g.job_id and s.done_at is not null;

  select string_agg(x ->> 'target', ', ')
  into v_outside
  from jsonb_array_elements(v_rows) x
  where x ->> 'target' <> all (c.scope)
    and not (x ->> 'target' = 'SYSTEM' and x ->> 'step_type' in ('signal_record', 'soak'));

  -- A contract touches more than its steps name: the target that a step's own type answers, and the
  -- scope of a recorded signal.
  select concat_ws(', ', v_outside, string_agg(t.touched, ', ' order by t.n))
  into v_outside
  from (
    select
      s.n,
      case
        when s.step ->> 'step_type' = 'signal_record' then s.step #>> '{parameters,scope}'
        else p_touched ->> s.n::text
      end as touched,
      s.step ->> 'step_type' = 'signal_record' as signal,
      s.step ->> 'target' as target
    from jsonb_array_elements(c.steps) with ordinality s(step, n)
  ) t
  where t.touched is not null
    and case
      when t.signal then t.touched <> 'SYSTEM' and t.touched <> all (c.scope)
      else t.touched <> t.target
    end;
  v_outside := nullif(v_outside, '');

  -- What the log of the run says, and which steps lack an event or a receipt.
  select
    min(e.at) filter (where e.event_type = 'RunStarted'),
    max(e.at) filter (where e.event_type = 'RunCompleted')
  into v_started, v_ended
  from writ_data.run_event e
  where e.run_id = g.run_id and e.step_id = 'RUN';

  select string_agg(n::text, ', ' order by n)
  into v_missing
  from generate_series(1, g.total_steps) n
  where not exists (
    select from writ_data.run_event e
    cross join lateral writ_data.steps_of(e.step_id) s
    where e.run_id = g.run_id
      and e.step_id <> 'RUN'
      and e.event_type = 'StepCompleted'
      and n between s.first and s.last
  )
    or not exists (select from jsonb_array_elements(v_rows) x where (x ->> 'step')::integer = n);

  -- Which targets differ from what the job, or the job it undoes, left there.
  v_expected := c.pre_state::jsonb || writ_data.applied_by(coalesce(g.of_job_id, g.job_id));
  v_state := writ_data.state_of(c.tenant_id, c.steps, v_expected || coalesce(p_read, '{}'));
  select string_agg(k, ', ' order by k)
  into v_drift
  from jsonb_object_keys(v_expected) k
  where v_state -> k is distinct from v_expected -> k;

  if g.kind = 'rollback' then
    return jsonb_build_array(
      jsonb_build_object(
        'check', 'A-001',
        'result', case when v_outside is null then 'PASS' else 'FAIL' end,
        'detail', coalesce(v_outside, 'every target is in scope')
      ),
      jsonb_build_object(
        'check', 'A-003',
        'result', case when v_missing is null then 'PASS' else 'FAIL' end,
        'detail', coalesce(
          'steps without an event or a receipt: ' || v_missing,
          'every step was executed'
        )
      ),
      jsonb_build_object(
        'check', 'A-007',
        'result', case when v_drift is null then 'PASS' else 'FAIL' end,
        'detail', coalesce('changed by another hand: ' || v_drift, 'no change outside the scope')
      ),
      jsonb_build_object(
        'check', 'STATE',
        'result', case
          when writ_data.state_hash(v_state) = g.state_before then 'PASS'
          else 'FAIL'
        end,
        'detail', encode(writ_data.state_hash(v_state), 'hex')
      )
    );
  end if;

  -- What a forward job answers for besides.
  select string_agg(s.step_no::text, ', ' order by s.step_no)
  into v_undoable
  from writ_data.governance_step s
  where s.job_id = g.job_id
    and s.step_type not in ('signal_record', 'soak')
    and s.rollback_action is null;

  select string_agg(
    format('%s: %s → %s', b.key, b.value, coalesce(p_health ->> b.key, 'gone')),
    ', '
  )
  into v_worse
  from jsonb_each_text(g.health_before) b
  where array_position('{UNHEALTHY,DEGRADED,HEALTHY}', coalesce(p_health ->> b.key, 'UNHEALTHY'))
    < array_position('{UNHEALTHY,DEGRADED,HEALTHY}', b.value);

  select string_agg(distinct x.scope, ', ')
  into v_signals
  from writ_data.governance_signal x
  where x.tenant_id = c.tenant_id
    and x.scope = any (c.scope)
    and x.decision = 'BLOCKED'
    and x.recorded_at between g.created_at and p_at
    and (x.superseded_at is null or x.superseded_at > g.started_at);

  return jsonb_build_array(
    jsonb_build_object(
      'check', 'A-001',
      'result', case when v_outside is null then 'PASS' else 'FAIL' end,
      'detail', coalesce(v_outside, 'every target is in scope')
    ),
    jsonb_build_object(
      'check', 'A-002',
      'result', case
        when g.health_before is null or p_health is null then 'INCONCLUSIVE'
        when v_worse is null then 'PASS'
        else 'FAIL'
      end,
      'detail', coalesce(
        v_worse,
        case
          when g.health_before is null or p_health is null then 'no snapshot'
          else 'health is not worse'
        end
      )
    ),
    jsonb_build_object(
      'check', 'A-003',
      'result', case when v_missing is null then 'PASS' else 'FAIL' end,
      'detail', coalesce(
        'steps without an event or a receipt: ' || v_missing,
        'every step was executed'
      )
    ),
    jsonb_build_object(
      'check', 'A-004',
      'result', case
        when c.window_start is null or v_started is null then 'INCONCLUSIVE'
        when v_started >= least(c.window_start, g.created_at)
          and coalesce(v_ended, p_at) <= c.window_end
          then 'PASS'
        else 'FAIL'
      end,
      'detail', format('%s to %s', v_started, v_ended)
    ),
    jsonb_build_object(
      'check', 'A-005',
      'result', case when v_undoable is null then 'PASS' else 'FAIL' end,
      'detail', coalesce('steps without a way back: ' || v_undoable, 'every step can be undone')
    ),
    jsonb_build_object(
      'check', 'A-006',
      'result', case when v_signals is null then 'PASS' else 'FAIL' end,
      'detail', coalesce('blocked while it ran: ' || v_signals, 'no conflicting signals')
    ),
    jsonb_build_object(
      'check', 'A-007',
      'result', case when v_drift is null then 'PASS' else 'FAIL' end,
      'detail', coalesce('changed by another hand: ' || v_drift, 'no change outside the scope')
    )
  );
end $$;
