-- Whether a destination still has to be told of this day of the record, which then stays.
create or replace function writ_data.on_day_retired(p_day date) returns boolean
language sql stable
return exists (
  select from writ_data.destination d
  where (d.position).fact < writ_data.day_floor(p_day + 1)
    and exists (
      select
      from writ_data.record_after(d.position, writ_data.era_end((d.position).era)) b
      where b.batch_id < writ_data.day_floor(p_day + 1)
    )
) or exists (
  select from writ_data.undelivered u
  where u.dead_at is null
    and u.event_id >= writ_data.day_floor(p_day) and u.event_id < writ_data.day_floor(p_day + 1)
);
