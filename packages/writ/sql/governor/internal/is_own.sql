-- Whether an action that a governor says it knows is one of these attempts of its own.
create or replace function writ_data.is_own(
  p_action jsonb,
  p_attempts jsonb[]
) returns boolean
language sql immutable
return exists (
  select from unnest(p_attempts) a(attempt)
  where a.attempt ->> 'job_id' = p_action ->> 'job_id'
    and a.attempt ->> 'action_id' = p_action ->> 'action_id'
    and a.attempt ->> 'kind' = p_action ->> 'kind'
    and a.attempt ->> 'attempt' = p_action ->> 'attempt');
