-- Parses a number and brings it between 0 and a bound; null for null. NaN and infinity become the
-- bound.
create or replace function writ_data.clamped(p_number text, p_most bigint) returns numeric
language sql immutable
return case when p_number is not null then least(greatest(p_number::numeric, 0), p_most) end;
