-- What is due for all governors together: governance jobs that carry an action out and have come to rest are told to their governors; months are made ahead, and dropped past their retention. Answers {settled}.
-- Callers: writ_engine
create or replace function writ.fn_governor_tick(p_actor text) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  v_now timestamptz := writ.now(); v_governors uuid[]; v_contents jsonb[]; v_settled integer := 0;
begin
  -- One result per governor and call: there is one action in flight.
  with gone as (
    delete from writ_data.governor_contract c using (select distinct on (d.governor_id) d.job_id from writ_data.governor_contract d join writ_data.governance_job g on g.job_id = d.job_id where g.status in ('COMPLETED', 'CANCELLED', 'ROLLED_BACK', 'ROLLBACK_FAILED') order by d.governor_id, d.job_id limit 500) r
    where c.job_id = r.job_id returning c.governor_id, c.action_id, c.attempt, c.job_id, c.stops
  )
  select array_agg(d.governor_id), array_agg(jsonb_build_object('kind', 'result', 'action_id', d.action_id, 'attempt', d.attempt, 'ok', o.ok, 'result', jsonb_build_object('governance_job', g.job_id, 'status', g.status))
    || case when o.ok and not d.stops then jsonb_build_object('baseline', 'unknown') when o.ok then '{}' else jsonb_build_object('failure_reason', 'rejected', 'error_message', left(concat_ws(': ', g.status, g.status_reason), 1000)) end), count(*)
  into v_governors, v_contents, v_settled from gone d join writ_data.governance_job g on g.job_id = d.job_id cross join lateral (select case when d.stops then g.status in ('ROLLED_BACK', 'CANCELLED') else g.status = 'COMPLETED' end as ok) o;
  if v_settled > 0 then
    perform writ_data.put_mail(v_governors, v_contents, v_now);
  end if;
  perform writ_data.keep_governors(p_actor, v_now);
  return jsonb_build_object('settled', v_settled);
end $$;
