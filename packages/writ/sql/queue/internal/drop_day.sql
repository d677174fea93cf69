-- Drops one day of a table that is kept by the day.
-- Answers: what it dropped, for the record; null if there was nothing to gain.
create or replace function writ_data.drop_day(p_table text, p_day date) returns text
language plpgsql
as $$
declare
  v_name text := p_table || to_char(p_day, '_YYYYMMDD');
  v_kept bigint;
begin
  if p_table <> 'job' then
    execute format('drop table writ_data.%I', v_name);
    return v_name;
  end if;
  v_kept := writ_data.retire_day(p_day);
  return case when v_kept >= 0 then format('%s (%s kept)', v_name, v_kept) end;
end $$;
