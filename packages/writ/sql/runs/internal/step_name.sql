-- Returns the name of a step in the log: its id; for an element of a list, followed by its number;
-- for a compensation, preceded by undo:.
create or replace function writ_data.step_name(
  p_run uuid,
  p_step_id text,
  p_step smallint,
  p_place integer,
  p_attempt smallint,
  p_undo boolean
) returns text
language sql stable
return concat(
  case when p_undo then 'undo:' end,
  p_step_id,
  case
    when p_place is not null
      then (
        select format('[%s]', i.item)
        from writ_data.run_item i
        where i.run_id = p_run
          and i.step_no = p_step
          and i.attempt = p_attempt
          and i.place = p_place
      )
  end
);
