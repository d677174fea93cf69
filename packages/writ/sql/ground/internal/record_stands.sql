-- Whether the record has a partition for today. Every write into the record asks, so it looks for
-- one table only: they are made together.
create or replace function writ_data.record_stands() returns boolean
language sql volatile
return to_regclass(
  to_char(clock_timestamp() at time zone 'UTC', '"writ_data.event_batch_"YYYYMMDD')
) is not null;
