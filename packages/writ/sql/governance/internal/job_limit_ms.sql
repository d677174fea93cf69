-- Returns how long a governance job may take, in milliseconds: as its contract's constraints say,
-- or an hour.
create or replace function writ_data.job_limit_ms(p_constraints jsonb) returns bigint
language sql immutable
return coalesce((p_constraints ->> 'max_duration_ms')::bigint, 3600000);
