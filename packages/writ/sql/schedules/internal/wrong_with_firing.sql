-- What is wrong with one item of fn_schedule_fire, or null.
create or replace function writ_data.wrong_with_firing(p_item jsonb, p_at timestamptz) returns text
language plpgsql stable
as $$
declare
  v_next_tick timestamptz;
  v_move_to timestamptz;
  v_ticks timestamptz[];
begin
  if jsonb_typeof(p_item) is distinct from 'object' then
    return 'It is an object.';
  end if;
  select i.next_tick, i.move_to, i.ticks
  into v_next_tick, v_move_to, v_ticks
  from jsonb_to_record(p_item) i(
    tenant text, schedule text, version integer, next_tick timestamptz, move_to timestamptz,
    ticks timestamptz[]
  )
  where i.version is not null;

  return case
    when v_next_tick is null or v_move_to is null or v_ticks is null
      then 'It has version, next_tick, ticks and move_to.'
    when cardinality(v_ticks) > 1000 then 'It has at most 1,000 ticks.'
    when v_move_to <= v_next_tick or v_move_to > p_at + interval '100 years'
      or extract(second from v_move_to) <> 0
      then 'It moves to a whole minute after next_tick, within a hundred years.'
    when exists (
      select from unnest(v_ticks) t(tick)
      where t.tick is null or t.tick > p_at or t.tick < v_next_tick or t.tick >= v_move_to
        or extract(second from t.tick) <> 0
    )
      then 'Ticks are whole minutes, not before next_tick, not after now, and before move_to.'
  end;
exception when data_exception or datatype_mismatch then
  return left(sqlerrm, 500);
end $$;
