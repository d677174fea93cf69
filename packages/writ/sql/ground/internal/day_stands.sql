-- Whether every table that is kept by the day has a partition for this day.
create or replace function writ_data.day_stands(p_day date) returns boolean
language sql stable
return (
  select bool_and(to_regclass('writ_data.' || t || to_char(p_day, '_YYYYMMDD')) is not null)
  from unnest(writ_data.day_tables()) t
);
