-- Returns whether the data of an event holds references alone: artifacts are {uri, kind, sha256,
-- sizeBytes, expiresAt}, no text is longer than 4 KB, and no key stands for a body.
create or replace function writ_data.references_only(p_data jsonb) returns boolean
language sql immutable
return octet_length(p_data::text) <= 65536
  and writ_data.forbidden_key(p_data) is null
  and not exists (
    select from jsonb_path_query(p_data, 'strict $.**') v
    where jsonb_typeof(v) = 'string' and octet_length(v #>> '{}') > 4096
  )
  and (
    p_data -> 'artifacts' is null
    or jsonb_typeof(p_data -> 'artifacts') = 'array'
      and not exists (
        select from jsonb_array_elements(p_data -> 'artifacts') a
        where jsonb_typeof(a) <> 'object'
          or a - '{uri,kind,sha256,sizeBytes,expiresAt}'::text[] <> '{}'
          or jsonb_typeof(a -> 'uri') is distinct from 'string'
          or a ->> 'uri' like 'data:%'
          or jsonb_typeof(a -> 'kind') is distinct from 'string'
      )
  );
