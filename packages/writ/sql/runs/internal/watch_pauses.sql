-- Raises PAUSE_DRAIN_TIMEOUT, once, for runs that were paused, a day ago at most, and still have
-- something running after runs.pause.drain_sec. Runs of other engines are not watched: their steps
-- are not jobs of this queue.
create or replace function writ_data.watch_pauses(
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
set enable_seqscan = off
as $$
declare
  v_drain interval := (writ_data.setting('runs.pause.drain_sec'))::double precision
    * interval '1 second';
  v_running bigint;
  r record;
begin
  for r in
    select x.run_id, x.tenant_id
    from writ_data.run x
    where x.status = 'PAUSED' and x.engine = 'native'
      and x.moved_at < p_at - v_drain and x.moved_at > p_at - v_drain - interval '1 day'
      and not exists (
        select from writ_data.alert a
        where a.code = 'PAUSE_DRAIN_TIMEOUT' and a.subject = 'run/' || x.run_id
          and a.cleared_at is null)
      and exists (
        select from writ_data.open_steps(x.run_id) o where o.type in ('job', 'undo'))
    order by x.moved_at
    limit 100
  loop
    select count(*) into v_running
    from writ_data.open_steps(r.run_id) o
    where o.type in ('job', 'undo');
    perform writ_data.raise_alert('PAUSE_DRAIN_TIMEOUT', 'P2', r.tenant_id, 'run/' || r.run_id,
      jsonb_build_object('running', v_running), p_actor, p_at);
  end loop;
end $$;
