-- Whether somebody still has to read this day of the record: a consumer whose jobs the queue
-- refuses, or a destination.
create or replace function writ_data.record_is_needed(p_day date) returns boolean
language sql stable
return exists (
  select from writ_data.consumer_position p
  where p.refused is not null and (p.position).fact < writ_data.day_floor(p_day + 1)
) or writ_data.on_day_retired(p_day);
