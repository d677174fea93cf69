-- Counts requests that a listener rejected because they were not signals.
-- Callers: writ_engine
-- Answers: {rejected}. Writes one receipt in the log _system, with the login and without any
--          content of the requests.
-- Refuses: invalid_argument; tenant_forbidden, because the log is that of the deployment.
-- Locks:   the stream of these receipts.
--
-- p_codes is {code: how often}. The gate ignores malformed codes, and all after the first twenty.
create or replace function writ.fn_requests_rejected(
  p_host text,
  p_codes jsonb,
  p_from timestamptz,
  p_to timestamptz
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_to timestamptz := least(p_to, v_now);
  v_from timestamptz := least(p_from, v_to);
  v_form text := 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"';
  v_codes jsonb;
  v_n bigint;
begin
  if writ_data.caller_tenant() is not null then
    return writ_data.refusal('tenant_forbidden', 'Requests are counted for all tenants.');
  elsif (length(p_host) between 1 and 200) is not true then
    return writ_data.refusal('invalid_argument', 'host');
  elsif (jsonb_typeof(p_codes) = 'object' and octet_length(p_codes::text) <= 65536) is not true then
    return writ_data.refusal('invalid_argument', 'codes');
  elsif (v_from > v_now - interval '400 days' and isfinite(v_to)) is not true then
    return writ_data.refusal('invalid_argument', 'from and to');
  end if;

  select jsonb_object_agg(c.key, c.value), sum(c.value::text::bigint) into v_codes, v_n
  from (
    select x.key, x.value
    from jsonb_each(p_codes) x
    where x.key ~ '^[A-Za-z][A-Za-z0-9_.-]{0,63}$' and x.value::text ~ '^[1-9][0-9]{0,11}$'
    order by x.key
    limit 20
  ) c;
  if v_n is null then
    return '{"rejected": 0}'::jsonb;
  end if;

  perform writ_data.system_receipt('requests_rejected', 'requests', jsonb_build_object(
    'host', p_host, 'login', session_user, 'rejected', v_n, 'codes', v_codes,
    'from', to_char(v_from at time zone 'UTC', v_form),
    'to', to_char(v_to at time zone 'UTC', v_form)), v_now);
  return jsonb_build_object('rejected', v_n);
end $$;
