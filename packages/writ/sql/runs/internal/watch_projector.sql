-- Raises PROJECTOR_LAG_HIGH while a committed event has waited longer than
-- runs.projector.lag_alert_sec for the projector, and clears it when none has. The clockwork calls
-- this, because a projector that does not run, or that an open transaction holds up, cannot tell.
create or replace function writ_data.watch_projector(
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_most interval := (writ_data.setting('runs.projector.lag_alert_sec'))::double precision
    * interval '1 second';
  v_at writ_data.record_position := (select p.position from writ_data.run_projector p);
  v_oldest timestamptz;     -- of the first event that the projector has not followed
begin
  select b.at into v_oldest
  from writ_data.record_after(v_at, writ_data.era_end((v_at).era)) b
  where b.run_ids is not null
  order by b.xid, b.batch_id
  limit 1;

  if v_oldest < p_at - v_most then
    perform writ_data.raise_alert('PROJECTOR_LAG_HIGH', 'P2', null, 'projector',
      jsonb_build_object('lag_ms', round(date_part('epoch', p_at - v_oldest) * 1000)), p_actor,
      p_at);
  else
    perform writ_data.clear_alert('PROJECTOR_LAG_HIGH', 'projector', p_actor, p_at);
  end if;
end $$;
