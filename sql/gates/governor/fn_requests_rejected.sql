-- A listener has turned requests away that were no signals: p_codes is {code: how often}. One receipt in the log _system, and nothing of the requests. Answers {rejected}.
-- Callers: writ_engine
create or replace function writ.fn_requests_rejected(p_host text, p_codes jsonb, p_from timestamptz, p_to timestamptz) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_codes jsonb := (select jsonb_object_agg(c.key, c.value) from (select x.key, x.value from jsonb_each(p_codes) x where x.key ~ '^[A-Za-z][A-Za-z0-9_.-]{0,63}$' and x.value::text ~ '^[1-9][0-9]{0,14}$' order by x.key limit 20) c);
  v_n bigint := (select sum(c.value::text::bigint) from jsonb_each(v_codes) c);
begin
  if v_n is null then
    return '{"rejected": 0}';
  end if;
  perform writ_data.system_receipt('requests_rejected', 'requests', jsonb_build_object('host', left(p_host, 200), 'rejected', v_n, 'codes', v_codes,
    'from', to_char(p_from at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'to', to_char(p_to at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')), writ.now());
  return jsonb_build_object('rejected', v_n);
end $$;
