-- What is due though nobody asks: drafts that expire, reviews that are late (a warning two days before their end, an escalation one day before, then EXPIRED), windows that have passed, jobs past their time, audits past theirs. At most p_limit of each. Answers {moved, next_ms}.
-- Callers: writ_engine
create or replace function writ.fn_governance_tick(p_actor text, p_limit integer default 100) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  v_now timestamptz := writ.now(); c writ_data.contract; g writ_data.governance_job; v_moved integer := 0; v_id uuid; v_next timestamptz;
begin
  for c in select * from writ_data.contract x where x.due_at <= v_now order by x.due_at limit p_limit for no key update skip locked loop
    v_moved := v_moved + 1;
    if c.status = 'APPROVED' then
      if c.template is null then
        perform writ_data.void_contract(c.contract_id, 'window_elapsed', p_actor, v_now);
      else
        perform writ_data.move_contract(c.contract_id, 'FAILED', 'the template has expired', p_actor, v_now);
      end if;
    elsif c.status = 'ELIGIBLE' and c.review_due_at > v_now then
      perform writ_data.raise_alert(case when c.review_due_at - interval '1 day' > v_now then 'REVIEW_LATE' else 'REVIEW_ESCALATED' end, case when c.review_due_at - interval '1 day' > v_now then 'P3' else 'P2' end, c.tenant_id, 'contract/' || c.contract_id, jsonb_build_object('title', c.title), p_actor, v_now);
      update writ_data.contract set due_at = case when review_due_at - interval '1 day' > v_now then review_due_at - interval '1 day' else review_due_at end where contract_id = c.contract_id;
    elsif c.status in ('DRAFT', 'VALIDATED', 'ELIGIBLE') then
      perform writ_data.move_contract(c.contract_id, 'EXPIRED', case when c.status = 'ELIGIBLE' then 'nobody has decided in time' else 'not submitted in time' end, p_actor, v_now);
      perform writ_data.clear_alert(a, 'contract/' || c.contract_id, p_actor, v_now) from unnest('{REVIEW_LATE,REVIEW_ESCALATED}'::text[]) a;
    else
      update writ_data.contract set due_at = null where contract_id = c.contract_id;
    end if;
  end loop;
  for v_id in select x.job_id from writ_data.governance_job x where x.due_at <= v_now order by x.due_at limit p_limit loop
    perform from writ_data.contract y where y.contract_id = (select z.contract_id from writ_data.governance_job z where z.job_id = v_id) for no key update skip locked;
    continue when not found;
    select * into g from writ_data.governance_job x where x.job_id = v_id and x.due_at <= v_now for no key update;
    continue when not found;
    v_moved := v_moved + 1;
    if g.status = 'AUDIT_PENDING' then
      perform writ_data.settle_audits(array[g.job_id], 'INCONCLUSIVE', array['the audit has taken too long'], array['[]'::jsonb], array['{}'::jsonb], array[null::jsonb], null, p_actor, coalesce(g.completed_at, v_now), v_now);
    elsif g.status in ('PENDING', 'RUNNING') then
      update writ_data.governance_job set due_at = null where job_id = g.job_id;
      perform writ_data.lock_runs(array[g.run_id]);
      if (select r.ending is null and r.status in ('RUNNING', 'PAUSED') from writ_data.run r where r.run_id = g.run_id) then
        perform writ_data.begin_ending(g.run_id, case g.status when 'PENDING' then 'FAILED' else 'CANCELLED' end, case g.status when 'PENDING' then '{"rootCause": {"stepId": "s1", "errorCode": "window_elapsed", "errorMessage": "window_elapsed"}}'::jsonb
          else '{"reason": "It has taken longer than it may.", "because": "duration_exceeded", "undo": false}' end, null, p_actor, v_now);
      end if;
    else
      update writ_data.governance_job set due_at = null where job_id = g.job_id;
    end if;
  end loop;
  select least((select min(x.due_at) from writ_data.contract x where x.due_at is not null), (select min(x.due_at) from writ_data.governance_job x where x.due_at is not null)) into v_next;
  return jsonb_strip_nulls(jsonb_build_object('moved', v_moved, 'next_ms', ceil(extract(epoch from greatest(v_next, v_now) - v_now) * 1000)));
end $$;
