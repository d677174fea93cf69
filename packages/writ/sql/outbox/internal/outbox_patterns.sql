-- Turns types of events into patterns of LIKE. A type that ends with * stands for every type that
-- begins so.
create or replace function writ_data.outbox_patterns(p_types text[]) returns text[]
language sql immutable
return array(
  select case
    when right(t, 1) = '*' then regexp_replace(left(t, -1), '([\\_%])', '\\\1', 'g') || '%'
    else regexp_replace(t, '([\\_%])', '\\\1', 'g')
  end
  from unnest(p_types) t
);
