-- Takes p_jobs out of the burst of a rate-limited kind and key. The caller holds the key's lock.
create or replace function writ_data.meter(
  p_kind text,
  p_key text,
  p_jobs integer,
  p_at timestamptz
) returns void
language sql
begin atomic
  insert into writ_data.limit_meter as m (job_kind, limit_key, full_at)
  select p_kind, p_key, p_at + ceil(p_jobs / k.limit_rate * 1000000) * interval '1 microsecond'
  from writ_data.job_kind k
  where k.job_kind = p_kind
  on conflict (job_kind, limit_key)
    do update set full_at = greatest(m.full_at, p_at) + (excluded.full_at - p_at);
end;
