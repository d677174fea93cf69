-- Whether an error is transient: a deadlock, a lack of memory or disk, a server that stops. Any
-- other error comes again with the same row, so the caller sets that row aside.
create or replace function writ_data.is_transient(p_sqlstate text) returns boolean
language sql immutable
return left(p_sqlstate, 2) in ('08', '25', '40', '53', '57', '58') or p_sqlstate = '55P03';
