-- Returns which steps of a governance job a step of its run does: s3 is the third, s3-5 the third
-- to the fifth. RUN is none.
create or replace function writ_data.steps_of(
  p_step_id text,
  out first integer,
  out last integer
)
language sql immutable
begin atomic
  select
    case when p_step_id ~ '^s[0-9]' then split_part(substr(p_step_id, 2), '-', 1)::integer end,
    case when p_step_id ~ '^s[0-9]' then split_part(substr(p_step_id, 2), '-', -1)::integer end;
end;
