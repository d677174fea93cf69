-- Returns the root of an RFC 6962 tree from the roots of its complete subtrees, the largest first.
-- The root of an empty tree is the hash of nothing.
create or replace function writ_data.tree_root(p_frontier bytea) returns bytea
language plpgsql immutable
as $$
declare
  v_root bytea := substring(p_frontier from octet_length(p_frontier) - 31);
begin
  if p_frontier = '' then
    return sha256('');
  end if;
  for i in reverse octet_length(p_frontier) / 32 - 2 .. 0 loop
    v_root := sha256(decode('01', 'hex') || substring(p_frontier from 32 * i + 1 for 32) || v_root);
  end loop;
  return v_root;
end $$;
