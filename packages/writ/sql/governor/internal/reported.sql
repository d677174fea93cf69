-- What an applier reports about an attempt, as the event that a governor reads; null if it is no
-- report. Fields that a report does not have are left out.
create or replace function writ_data.reported(
  p_report jsonb
) returns jsonb
language plpgsql immutable
as $$
declare
  v_result jsonb := p_report -> 'result';
begin
  if p_report ->> 'kind' = 'acknowledged' then
    if p_report ? 'reference'
      and (length(p_report ->> 'reference') between 1 and 200) is not true then
      return null;
    end if;
    return jsonb_strip_nulls(jsonb_build_object('kind', 'acknowledged',
      'reference', p_report ->> 'reference'));
  end if;

  if (p_report ->> 'kind' = 'result' and jsonb_typeof(p_report -> 'ok') = 'boolean'
      and coalesce(p_report ->> 'failure_reason', 'timeout') in ('timeout', 'service_error',
        'permission_denied', 'unreachable', 'handler_error', 'rejected')
      and coalesce(p_report ->> 'response_code', '100') ~ '^[1-5][0-9]{2}$'
      and coalesce(p_report ->> 'baseline', 'unknown') in ('restored', 'not_restored', 'unknown')
      and length(coalesce(p_report ->> 'error_message', 'none')) between 1 and 1000
      and coalesce(jsonb_typeof(v_result), 'object') = 'object'
      and coalesce(octet_length(v_result::text), 0) <= 65536) is not true then
    return null;
  elsif exists (
    select from jsonb_each(coalesce(v_result, '{}')) r
    where r.key !~ '^[A-Za-z][A-Za-z0-9_.-]{0,63}$'
      or jsonb_typeof(r.value) not in ('string', 'number', 'boolean')
      or length(r.value #>> '{}') > 1000
  ) or (select count(*) from jsonb_object_keys(coalesce(v_result, '{}'))) > 20 then
    return null;
  end if;
  return jsonb_strip_nulls(jsonb_build_object('kind', 'result', 'ok', p_report -> 'ok',
    'failure_reason', p_report ->> 'failure_reason',
    'response_code', (p_report ->> 'response_code')::integer,
    'error_message', p_report ->> 'error_message', 'baseline', p_report ->> 'baseline',
    'result', v_result));
end $$;
