-- Turns away the steps that a claim has taken and that may not begin. Those that are `held` go back
-- to where they stood; those that are `over` end without having begun.
create or replace function writ_data.turn_away(
  p_ids uuid[],
  p_attempts smallint[],
  p_nos integer[],
  p_held integer[],                 -- positions
  p_over integer[],                 -- positions
  p_actor text,
  p_at timestamptz
) returns void
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
end $$;
