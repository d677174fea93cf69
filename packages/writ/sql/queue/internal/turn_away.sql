-- Takes the steps that may not begin out of what a claim has taken. Those that are `held` go back
-- to where they stood; those that are `over` end without having begun.
-- Answers: the rest.
create or replace function writ_data.turn_away(
  p_ids uuid[],
  p_attempts smallint[],
  p_nos integer[],
  p_answers text[],
  p_held integer[],                 -- positions
  p_over integer[],                 -- positions
  p_actor text,
  p_at timestamptz,
  out ids uuid[],
  out attempts smallint[],
  out nos integer[],
  out answers text[]
)
language plpgsql
as $$
declare
  v_gone uuid[];
begin
  if p_held <> '{}' then
    perform writ_data.put_back(
      array(select p_ids[n] from unnest(p_held) n),
      array(select p_attempts[n] from unnest(p_held) n),
      array(select p_nos[n] from unnest(p_held) n),
      array_fill(false, array[cardinality(p_held)])
    );
  end if;
  if p_over <> '{}' then
    v_gone := writ_data.end_unleased(
      array(select p_ids[n] from unnest(p_over) n),
      array(select p_attempts[n] from unnest(p_over) n),
      array(select p_nos[n] from unnest(p_over) n),
      'run_not_running', 'Its run is paused, ending or over.', p_at
    );
    perform writ_data.record(
      'fn_job_claim', p_actor, p_at, v_gone,
      array['dot.job.cancelled'], array[1], array[cardinality(v_gone)],
      jsonb_build_object('code', 'run_not_running')
    );
    perform writ_data.on_jobs_gone(v_gone, 'fn_job_claim', p_actor, p_at);
  end if;

  select
    coalesce(array_agg(u.id order by u.n), '{}'),
    coalesce(array_agg(u.a order by u.n), '{}'),
    coalesce(array_agg(u.no order by u.n), '{}'),
    coalesce(array_agg(u.answer order by u.n), '{}')
  into ids, attempts, nos, answers
  from unnest(p_ids, p_attempts, p_nos, p_answers) with ordinality u(id, a, no, answer, n)
  where u.n <> all (p_held) and u.n <> all (p_over);
end $$;
