-- Milliseconds until the next waiting job is due; null when none is.
create or replace function writ_data.next_due_ms(p_at timestamptz) returns numeric
language sql stable
begin atomic
  select ceil(extract(epoch from greatest(min(due_at), p_at) - p_at) * 1000)
  from writ_data.job_wait
  having min(due_at) < 'infinity';
end;
