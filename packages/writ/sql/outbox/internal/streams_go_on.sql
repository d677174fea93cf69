-- Makes the next events of streams due, in their order, once the first undelivered event of each is
-- out of the way.
create or replace function writ_data.streams_go_on(
  p_destination text,
  p_streams uuid[],
  p_at timestamptz
) returns void
language sql
as $$
  update writ_data.undelivered u
  set due_at = p_at
  from (
    select distinct on (x.stream) x.stream, x.due_at
    from writ_data.undelivered x
    where x.destination = p_destination and x.stream = any (p_streams) and x.dead_at is null
    order by x.stream, x.place
  ) f
  where u.destination = p_destination
    and u.stream = f.stream
    and u.dead_at is null
    and u.due_at is null
    and f.due_at is null
$$;
