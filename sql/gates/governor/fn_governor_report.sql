-- Whoever carries an action out says how it went, in the transaction that commits the job p_job_id, or too late: p_content is an event of kind result or acknowledged. p_governance_job: the governance job that carries it out from here on; its end is the result; p_stops: that it is rolled back is what is awaited. Answers {}.
-- Callers: writ_applier
create or replace function writ.fn_governor_report(p_governor_id uuid, p_job_id uuid, p_content jsonb, p_governance_job uuid default null, p_stops boolean default false) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if p_content ->> 'kind' is null or p_content ->> 'kind' not in ('result', 'acknowledged') or not exists (select from writ_data.governor g where g.governor_id = p_governor_id and writ_data.visible(g.tenant_id)) then
    return writ_data.refusal('governor_not_found', p_governor_id::text);
  end if;
  -- Only by the job that the governor itself has enqueued: who made one up for an action has carried nothing out, and what it did in its transaction is undone.
  -- One whose time was over tells without a job to commit that it has done what it was for after all: a governor that has given it up undoes it once more.
  if not exists (select from writ_data.governor g where g.governor_id = p_governor_id and (
      g.data #>> '{in_flight,job_id}' = p_job_id::text and g.data #>> '{in_flight,action_id}' = p_content ->> 'action_id' and g.data #>> '{in_flight,attempt}' = p_content ->> 'attempt'
      or p_content ->> 'kind' = 'result' and p_content ->> 'ok' = 'true' and p_governance_job is null and exists (
        select from (values (g.data -> 'in_flight'), (g.data #> '{given_up,action}')) x(action) cross join lateral jsonb_array_elements_text(coalesce(x.action -> 'earlier', '[]') || coalesce(x.action -> 'job_id', '[]')) with ordinality e(job, n)
        where x.action ->> 'action_id' = p_content ->> 'action_id' and e.job = p_job_id::text and e.n::text = p_content ->> 'attempt'))) then
    return writ_data.refusal('action_not_in_flight', p_content ->> 'action_id');
  end if;
  if p_governance_job is not null then
    insert into writ_data.governor_contract (job_id, governor_id, action_id, attempt, stops) values (p_governance_job, p_governor_id, p_content ->> 'action_id', (p_content ->> 'attempt')::integer, p_stops)
    on conflict (job_id) do update set governor_id = excluded.governor_id, action_id = excluded.action_id, attempt = excluded.attempt, stops = excluded.stops;
  end if;
  perform writ_data.put_mail(array[p_governor_id], array[p_content], writ.now());
  return '{}';
end $$;
