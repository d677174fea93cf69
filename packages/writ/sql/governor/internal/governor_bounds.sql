-- Returns the settings that bound every governor: its times, attempts and capacity.
create or replace function writ_data.governor_bounds() returns jsonb
language sql stable
begin atomic
  select jsonb_object_agg(split_part(c.key, '.', 2), c.value)
  from writ_data.dot_config c
  where c.key = any (
    '{governor.boot_ms,governor.action_ms,governor.rollback_ms,governor.attempts,'
    'governor.recheck_ms,governor.recovery_ms,governor.recovery_max_ms,governor.backoff_ms,'
    'governor.storm_limit,governor.storm_window_ms,governor.storm_every_ms,'
    'governor.storm_retry_ms,governor.capacity}'
  );
end;
