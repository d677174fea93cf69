-- Steps of governance jobs, in one transaction: each with its effect, its event, its receipt, and what follows. A job of the queue does one step, or several in the database that follow one another. p_items: [{job: the queue's job, token: of its lease, evidence: {probe: {status, detail, at}}, read: {slot: value}}]. Each is done or refused by itself. Sent again after an answer
-- that was lost, what was done is done. Answers [{done: {...}} or {reason, detail}], in order.
-- Callers: writ_applier
create or replace function writ.fn_changes_apply(p_items jsonb, p_actor text) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off set plan_cache_mode = force_generic_plan as $$
declare
  v_now timestamptz; i record; v_answers jsonb[] := array_fill(null::jsonb, array[jsonb_array_length(p_items)]); v_jobs uuid[] := '{}'; v_tokens uuid[] := '{}'; v_places integer[] := '{}'; v_made jsonb[] := '{}'; v_attempts smallint[]; v_results text[] := '{}'; v_steps jsonb[]; v_code text;
  v_detail text; v_applied uuid[]; v_reverted uuid[]; v_each jsonb; v_a integer; v_r integer;
begin
  -- As fn_job_commit does it: nobody takes a lease away until this is over.
  perform from writ_data.job_lease l where l.lease_token in (select (x ->> 'token')::uuid from jsonb_array_elements(p_items) x) order by l.lease_token for key share;
  v_now := writ.now();
  for i in
    select x.n::integer as n, (x.item ->> 'job')::uuid as job, (x.item ->> 'token')::uuid as token, coalesce(x.item -> 'evidence', '{}') as evidence, coalesce(x.item -> 'read', '{}') as read, j.run_id, s.first, s.last, p.place, l.execution_nos[p.place] as no, p.place <= writ_data.started_upto(l) as started
    from jsonb_array_elements(p_items) with ordinality x(item, n) left join writ_data.job j on j.job_id = (x.item ->> 'job')::uuid left join writ_data.job_lease l on l.lease_token = (x.item ->> 'token')::uuid
    left join writ_data.run r on r.run_id = j.run_id left join writ_data.plan_step t on t.plan_no = r.plan_no and t.step_no = j.step_no left join lateral writ_data.steps_of(t.step_id) s on true
    cross join lateral (select array_position(l.job_ids, j.job_id) as place) p order by j.run_id
  loop
    begin
      -- Whoever sends the same step once more waits here, and finds that it is done.
      perform from writ_data.governance_job g where g.run_id = i.run_id for no key update;
      select max(e.status) filter (where e.status in ('COMMITTED', 'DONE')), case when max(e.execution_no) filter (where e.execution_no = i.no) is not null or i.place is null then 'lease_lost' when not i.started then 'job_not_started' end
      into v_detail, v_code from writ_data.job_execution e where e.job_id = i.job;
      if v_detail is not null or v_code is not null then
        raise exception using errcode = 'WR001', message = case when v_detail is not null then 'already_committed' else v_code end, detail = format('Job %s of the queue.', i.job);
      end if;
      v_steps := writ_data.apply_changes(i.run_id, i.first, i.last, i.evidence, i.read, p_actor, v_now);
      v_made := v_made || v_steps; v_jobs := v_jobs || i.job; v_tokens := v_tokens || i.token; v_places := v_places || i.place;
      v_answers[i.n] := jsonb_build_object('done', (select jsonb_agg(s -> 'done') from unnest(v_steps) s)); v_results := v_results || (v_answers[i.n] ->> 'done');
    exception when sqlstate 'WR001' then
      get stacked diagnostics v_code = message_text, v_detail = pg_exception_detail;
      v_answers[i.n] := case when v_code = 'already_committed' and exists (select from writ_data.job_execution e where e.job_id = i.job and e.lease_token = i.token and e.status in ('COMMITTED', 'DONE'))
        then jsonb_build_object('done', '[]'::jsonb) else jsonb_build_object('reason', v_code, 'detail', v_detail) end;
    when integrity_constraint_violation or data_exception then -- what the target itself does not take, which no repetition changes; the others of this call are not concerned
      v_answers[i.n] := jsonb_build_object('reason', 'invalid_contract', 'detail', left(sqlerrm, 1000));
    end;
  end loop;
  if v_jobs <> '{}' then
    with committed as (
      insert into writ_data.job_execution (job_id, execution_no, attempt, lease_token, lease_owner, status, started_at, committed_at, result)
      select u.job, l.execution_nos[u.p], l.attempts[u.p] + 1, l.lease_token, l.holder, 'COMMITTED', l.start_at[width_bucket(u.p - 1, l.start_upto) + 1], v_now, u.result::json
      from unnest(v_jobs, v_tokens, v_places, v_results) u(job, token, p, result) join writ_data.job_lease l on l.lease_token = u.token
      returning job_id, attempt
    )
    select array_agg(c.attempt order by u.n) into v_attempts from unnest(v_jobs) with ordinality u(job, n) join committed c on c.job_id = u.job;
    perform writ_data.changes_made(v_made, p_actor, v_now);
    select array_agg(x.job) filter (where not x.undo), array_agg(x.job) filter (where x.undo), jsonb_object_agg(x.job, jsonb_build_object('steps', x.steps)) into v_applied, v_reverted, v_each
    from (select (m ->> 'job')::uuid as job, bool_or(m ? 'of_step') as undo, jsonb_agg(jsonb_strip_nulls(jsonb_build_object('step', m -> 'step', 'of_step', m -> 'of_step', 'step_type', m -> 'step_type', 'target', m -> 'target')) order by n) as steps from unnest(v_made) with ordinality u(m, n) group by 1) x;
    v_a := coalesce(cardinality(v_applied), 0); v_r := coalesce(cardinality(v_reverted), 0);
    perform writ_data.record('fn_changes_apply', p_actor, v_now, coalesce(v_applied, '{}') || coalesce(v_reverted, '{}') || v_jobs, '{governance.change_applied,governance.change_reverted,dot.job.committed}', array[1, v_a + 1, v_a + v_r + 1], array[v_a, v_a + v_r, v_a + v_r + cardinality(v_jobs)],
      jsonb_build_object('each', v_each));
    perform from writ_data.steps_ended(v_jobs, v_results, v_attempts, 'fn_changes_apply', p_actor, v_now);
  end if;
  return to_jsonb(v_answers);
end $$;
