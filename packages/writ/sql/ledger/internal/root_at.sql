-- Returns the root that a log had when it had p_size leaves; null if it has never been so large.
create or replace function writ_data.root_at(p_log text, p_size bigint) returns bytea
language plpgsql stable
as $$
declare
  v_frontier bytea := ''::bytea;
  v_level integer := 8;
  v_unit bigint;
  v_from bigint;
  v_hashes bytea;
begin
  if p_size < 0
    or p_size > coalesce((select size from writ_data.ledger_log where log_id = p_log), 0)
  then
    return null;
  end if;

  -- As many of the largest subtrees as there are, then of the next smaller ones for the rest.
  v_level := 56;
  v_from := 0;
  while v_level >= 0 loop
    v_unit := 1::bigint << v_level;
    if p_size / v_unit > v_from / v_unit then
      if v_level > 0 then
        select string_agg(hash, ''::bytea order by node_index)
        into v_hashes
        from writ_data.ledger_node
        where log_id = p_log
          and level = v_level
          and node_index >= v_from / v_unit
          and node_index < p_size / v_unit;
      else
        select string_agg(leaf_hash, ''::bytea order by leaf_index)
        into v_hashes
        from writ_data.ledger_leaf
        where log_id = p_log and leaf_index >= v_from and leaf_index < p_size;
      end if;

      v_frontier := v_frontier || (writ_data.tree_grow(0, '', v_hashes)).frontier;
      v_from := p_size / v_unit * v_unit;
    end if;
    v_level := v_level - 8;
  end loop;

  return writ_data.tree_root(v_frontier);
end $$;
