-- Of what a claim has taken, the steps that may not begin: `held` go back to the end of their lanes, `over` end without having begun. Answers the rest.
create or replace function writ_data.turn_away(p_ids uuid[], p_attempts smallint[], p_nos integer[], p_answers text[], p_held integer[], p_over integer[], p_actor text, p_at timestamptz,
  out ids uuid[], out attempts smallint[], out nos integer[], out answers text[]) language plpgsql as $$
declare
  h record; v_gone uuid[];
begin
  select array_agg(j.job_id) as jobs, array_agg(j.job_kind) as kinds, array_agg(j.tenant_id) as tenants, array_agg(j.limit_key) as keys, array_agg(j.priority) as priorities, array_agg(false) as alone,
    array_agg(p_attempts[n]) as attempts, array_agg(p_nos[n]) as nos, array_agg(j.deadline_at) as deadlines into h
  from unnest(p_held) n join writ_data.job j on j.job_id = p_ids[n];
  if h.jobs is not null then
    perform writ_data.make_ready(h.jobs, h.kinds, h.tenants, h.keys, h.priorities, h.alone, h.attempts, h.nos, h.deadlines);
  end if;
  if p_over <> '{}' then
    v_gone := writ_data.end_unleased(array(select p_ids[n] from unnest(p_over) n), array(select p_attempts[n] from unnest(p_over) n), array(select p_nos[n] from unnest(p_over) n),
      'run_not_running', 'Its run is paused, ending or over.', p_at);
    perform writ_data.record('fn_job_claim', p_actor, p_at, v_gone, array['dot.job.cancelled'], array[1], array[cardinality(v_gone)], jsonb_build_object('code', 'run_not_running'));
    perform writ_data.steps_gone(v_gone, 'fn_job_claim', p_actor, p_at);
  end if;
  select coalesce(array_agg(u.id order by u.n), '{}'), coalesce(array_agg(u.a order by u.n), '{}'), coalesce(array_agg(u.no order by u.n), '{}'), coalesce(array_agg(u.answer order by u.n), '{}')
  into ids, attempts, nos, answers
  from unnest(p_ids, p_attempts, p_nos, p_answers) with ordinality u(id, a, no, answer, n) where u.n <> all (p_held) and u.n <> all (p_over);
end $$;
