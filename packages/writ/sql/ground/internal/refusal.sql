-- Builds a refusal. The codes are those of the registry in src/errors/.
create or replace function writ_data.refusal(
  p_reason text,
  p_detail text default null
) returns jsonb
language sql immutable
return jsonb_strip_nulls(jsonb_build_object(
  'refused', true,
  'reason', p_reason,
  'detail', p_detail
));
