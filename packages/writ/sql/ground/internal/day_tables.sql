-- The tables that are kept by the day.
create or replace function writ_data.day_tables() returns text[]
language sql immutable
return array[
  'job', 'job_execution', 'job_cleaned', 'event_batch', 'run', 'run_event', 'run_item',
  'run_delivery', 'run_signal', 'run_snapshot', 'delivery'
];
