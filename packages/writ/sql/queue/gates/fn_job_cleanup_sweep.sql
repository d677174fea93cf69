-- Cleans jobs past their retention and frees their keys: succeeded and cancelled ones, and, after a
-- longer time, dead letters that nobody has replayed.
-- The steps of a run stay until the run has ended and its end is past the retention too.
-- Callers: writ_engine, writ_admin
-- Answers: {cleaned}: how many, p_limit at most. Call it until it answers 0; the clockwork does
--          that once a minute. While another session sweeps: {cleaned: 0, busy: true}.
-- Refuses: actor_required, invalid_actor.
-- Locks:   the turn `sweep`.
--
-- It walks the ended jobs in the order of their ids, a hundred thousand in one call at most, and
-- remembers where it is. At the end it begins again, for the jobs that ended after it had passed.
create or replace function writ.fn_job_cleanup_sweep(
  p_limit integer default 10000,
  p_actor text default 'sweep'
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_now timestamptz := writ.now();
  v_before timestamptz := v_now - interval '1 second'
    * (writ_data.setting('queue.retention.finished_sec'))::double precision;
  v_dead_before timestamptz := v_now - interval '1 second'
    * (writ_data.setting('queue.retention.dead_letter_sec'))::double precision;
  v_upto uuid := writ_data.uuid_floor(
    least(greatest(v_before, v_dead_before), clock_timestamp() + interval '1 day')
  );
  v_limit integer := least(coalesce(p_limit, 10000), 100000);
  v_look constant integer := 100000;
  v_beginning constant uuid := '00000000-0000-0000-0000-000000000000'::uuid;
  v_from uuid;
  v_last uuid;
  v_old uuid[];                     -- to be cleaned
  v_was text[];                     -- what they ended as
  v_jobs uuid[];                    -- cleaned
begin
  if coalesce(btrim(p_actor), '') = '' then
    return writ_data.refusal('actor_required');
  elsif length(p_actor) > 200 then
    return writ_data.refusal('invalid_actor');
  elsif v_limit <= 0
    or not coalesce((writ_data.setting('queue.job_substrate.enabled'))::boolean, false)
  then
    return jsonb_build_object('cleaned', 0);
  elsif not writ_data.take_turn('sweep') then
    return jsonb_build_object('cleaned', 0, 'busy', true);
  end if;

  select swept_upto into v_from from writ_data.clockwork;
  for v_pass in 1 .. 2 loop
    with seen as (
      select
        e.job_id, e.finished_at,
        case
          when e.status = 'DONE' then 'succeeded'
          when e.abort_kind = 'cancelled' then 'cancelled'
          when e.final then 'dead_letter'
        end as was
      from writ_data.job_execution e
      where e.job_id > v_from and e.job_id < v_upto
        and (e.status in ('COMMITTED', 'DONE') or e.final)
      order by e.job_id
      limit v_look
    ), old as (
      select s.job_id, s.was
      from seen s
      where s.finished_at < case s.was when 'dead_letter' then v_dead_before else v_before end
        and not exists (select from writ_data.job_cleaned c where c.job_id = s.job_id)
        and not writ_data.on_job_swept(
          s.job_id, case s.was when 'dead_letter' then v_dead_before else v_before end
        )
      order by s.job_id
      limit v_limit
    )
    select coalesce(array_agg(job_id order by job_id), '{}'), array_agg(was order by job_id)
    into v_old, v_was
    from old;
    v_jobs := writ_data.clean_jobs(v_old, v_was, p_actor, v_now);

    v_last := v_old[cardinality(v_old)];
    if cardinality(v_old) < v_limit then
      -- Everything in this look is done: go on from its end, or from the beginning after the last.
      v_last := coalesce(
        (
          select e.job_id
          from writ_data.job_execution e
          where e.job_id > v_from and e.job_id < v_upto
            and (e.status in ('COMMITTED', 'DONE') or e.final)
          order by e.job_id
          offset v_look - 1
          limit 1
        ),
        v_beginning
      );
    end if;
    -- Nothing was found up to the end: look from the beginning now.
    exit when v_jobs <> '{}' or v_last <> v_beginning or v_from = v_beginning;
    v_from := v_beginning;
  end loop;

  update writ_data.clockwork set swept_upto = v_last where swept_upto <> v_last;
  if v_jobs <> '{}' then
    perform writ_data.record(
      'fn_job_cleanup_sweep', p_actor, v_now, v_jobs,
      array['dot.job.cleaned'], array[1], array[cardinality(v_jobs)]
    );
  end if;
  return jsonb_build_object('cleaned', cardinality(v_jobs));
end $$;
