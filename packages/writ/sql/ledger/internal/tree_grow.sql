-- Adds leaves to an RFC 6962 tree of p_size leaves. p_frontier holds the roots of its complete
-- subtrees, the largest first, and p_leaves the new leaf hashes, both as one value without
-- separators. Answers the new frontier, and at nodes[k] the new complete subtrees of 256^k leaves,
-- of which the first has the number p_size / 256^k. It takes one statement per level: hashes stand
-- side by side in one value, so a pair is a slice of it.
create or replace function writ_data.tree_grow(
  p_size bigint,
  p_frontier bytea,
  p_leaves bytea,
  out frontier bytea,
  out nodes bytea[]
)
language plpgsql immutable
as $$
declare
  v_row bytea := p_leaves;
  v_size bigint := p_size;
  v_level integer := 0;
  v_kept bytea := ''::bytea;
  v_odd boolean;
begin
  frontier := p_frontier;
  nodes := '{}';
  loop
    if v_level > 0 and v_level % 8 = 0 then
      nodes := nodes || v_row;
    end if;
    exit when v_row = '';
    if v_size % 2 = 1 then
      v_row := substring(frontier from octet_length(frontier) - 31) || v_row;
      frontier := substring(frontier from 1 for octet_length(frontier) - 32);
    end if;
    v_odd := octet_length(v_row) % 64 = 32;
    if v_odd then
      v_kept := substring(v_row from octet_length(v_row) - 31) || v_kept;
    end if;
    v_row := coalesce(
      (
        select string_agg(
          sha256(decode('01', 'hex') || substring(v_row from 64 * i + 1 for 64)),
          ''::bytea order by i
        )
        from generate_series(0, octet_length(v_row) / 64 - 1) i
      ),
      ''
    );

    v_size := v_size / 2;
    v_level := v_level + 1;
  end loop;

  frontier := frontier || v_kept;
end $$;
