-- Returns a time as signed documents have it: in UTC, with milliseconds.
create or replace function writ_data.document_time(p_time timestamptz) returns text
language sql stable
begin atomic
  select to_char(p_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
end;
