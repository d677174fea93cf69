-- Whether a destination still has to be told of a run with an id from p_lo to below p_hi. The
-- tables of these runs then stay.
create or replace function writ_data.on_runs_retired(p_lo uuid, p_hi uuid) returns boolean
language sql stable
return exists (
  select from writ_data.undelivered u
  where u.dead_at is null and u.stream >= p_lo and u.stream < p_hi
) or exists (
  select from writ_data.destination d
  cross join lateral writ_data.record_after(d.position, writ_data.era_end((d.position).era)) b
  cross join lateral unnest(b.run_ids) r(id)
  where b.run_ids is not null and r.id >= p_lo and r.id < p_hi
);
