-- Appends events of which some are about elements of lists. Each of these continues the tally of
-- its list in the same attempt; the first that fails stops the list.
create or replace function writ_data.append_items(
  p_runs uuid[],
  p_seqs integer[],
  p_types text[],
  p_steps text[],
  p_attempts text[],
  p_engine_attempts integer[],
  p_data jsonb[],
  p_each smallint[],
  p_signal uuid,
  p_at timestamptz,
  p_batch uuid
) returns void
language plpgsql
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
begin
  with new as materialized (
    select
      u.*,
      case
        when u.each is not null
          then row_number() over (partition by u.run, u.each, u.attempt order by u.n)
      end as nth
    from unnest(p_runs, p_seqs, p_types, p_steps, p_attempts, p_engine_attempts, p_data, p_each)
      with ordinality u(run, seq, type, step, attempt, engine, data, each, n)
  ), counted as materialized (
    select n.*, coalesce(e.tally, 0) + n.nth as tally, e.stopped_at
    from new n
    left join lateral (
      select x.tally, x.stopped_at
      from writ_data.run_event x
      where n.each is not null
        and x.run_id = n.run
        and x.each_no = n.each
        and x.logical_attempt = n.attempt
      order by x.tally desc
      limit 1
    ) e on true
  )
  insert into writ_data.run_event (
    run_id, run_seq, event_type, step_id, logical_attempt, engine_attempt, data, signal_id, at,
    batch_id, each_no, tally, stopped_at
  )
  select
    c.run, c.seq, c.type, c.step, c.attempt, c.engine, c.data, p_signal, p_at, p_batch, c.each,
    c.tally,
    coalesce(
      c.stopped_at,
      (
        select min(f.tally)
        from counted f
        where f.run = c.run
          and f.each = c.each
          and f.attempt = c.attempt
          and f.type = 'StepFailed'
          and f.tally <= c.tally
      )
    )
  from counted c;
end $$;
