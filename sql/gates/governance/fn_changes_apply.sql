-- gate: dot_executor, workflow_admin
-- Steps of governance jobs, in one transaction: each with its effect, its event, its receipt, and what follows. p_items: [{job: the queue's job, token: of its lease, evidence: {probe: {status, detail, at}}, read: {slot: value}}]. Each is done or refused by itself. Sent again after an answer
-- that was lost, what was done is done. Answers [{done: {...}} or {reason, detail}], in order.
create or replace function writ.fn_changes_apply(p_items jsonb, p_actor text) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set plan_cache_mode = force_generic_plan as $$
declare
  v_now timestamptz := writ.now(); i record; v_answers jsonb[] := array_fill(null::jsonb, array[jsonb_array_length(p_items)]); v_jobs uuid[] := '{}'; v_results text[] := '{}'; v_attempts smallint[]; v_done jsonb; v_code text; v_detail text; v_followed record;
begin
  for i in
    select x.n::integer as n, (x.item ->> 'job')::uuid as job, (x.item ->> 'token')::uuid as token, coalesce(x.item -> 'evidence', '{}') as evidence, coalesce(x.item -> 'read', '{}') as read, j.run_id, j.step_no
    from jsonb_array_elements(p_items) with ordinality x(item, n) left join writ_data.job j on j.job_id = (x.item ->> 'job')::uuid order by j.run_id
  loop
    begin
      perform writ.fn_job_commit(i.job, i.token, p_actor);
      v_done := writ_data.apply_change(i.run_id, i.step_no, i.evidence, i.read, p_actor, v_now);
      v_jobs := v_jobs || i.job; v_results := v_results || v_done::text; v_answers[i.n] := jsonb_build_object('done', v_done);
    exception when sqlstate 'WR001' then
      get stacked diagnostics v_code = message_text, v_detail = pg_exception_detail;
      v_answers[i.n] := case when v_code = 'already_committed' and exists (select from writ_data.job_execution e where e.job_id = i.job and e.lease_token = i.token and e.status in ('COMMITTED', 'DONE'))
        then jsonb_build_object('done', '{}'::jsonb) else jsonb_build_object('reason', v_code, 'detail', v_detail) end;
    end;
  end loop;
  if v_jobs <> '{}' then
    update writ_data.job_execution e set result = u.result::json from unnest(v_jobs, v_results) u(job, result) where e.job_id = u.job and e.status = 'COMMITTED';
    select array_agg(e.attempt order by u.n) into v_attempts from unnest(v_jobs) with ordinality u(job, n) join writ_data.job_execution e on e.job_id = u.job and e.status = 'COMMITTED';
    perform from writ_data.steps_ended(v_jobs, v_results, v_attempts, 'fn_changes_apply', p_actor, v_now);
  end if;
  return to_jsonb(v_answers);
end $$;
