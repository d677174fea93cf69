-- What a definition says about a kind, without who registered it and when.
create or replace function writ_data.definition_of(p_kind writ_data.job_kind) returns jsonb
language sql immutable
return to_jsonb(p_kind) - '{job_kind,registered_by,registered_at,former}'::text[];
