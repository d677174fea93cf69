-- Returns the first key of a document, at any depth, that metadata may not have; null if there is
-- none. It checks labels; what the job works on is its input.
create or replace function writ_data.forbidden_key(p_document jsonb) returns text
language sql immutable
begin atomic
  with recursive part(value) as (
    select p_document
    union all
    select child.value
    from part
    cross join lateral (
      select e.value
      from jsonb_each(case jsonb_typeof(part.value) when 'object' then part.value else '{}' end) e
      union all
      select a.value
      from jsonb_array_elements(
        case jsonb_typeof(part.value) when 'array' then part.value else '[]' end
      ) a
    ) child
  )
  select k.key
  from part
  cross join lateral jsonb_object_keys(
    case jsonb_typeof(part.value) when 'object' then part.value else '{}' end
  ) k(key)
  where k.key in (
    'body', 'content', 'raw', 'vector', 'embedding', 'secret', 'token', 'password', 'ssn',
    'personal_data'
  )
  limit 1;
end;
