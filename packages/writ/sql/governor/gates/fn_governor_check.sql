-- Reads the bounds, entitlements and quotas that tell a governor whether it may act.
-- Callers: writ_engine
-- Answers: {bounds: the limits from the settings, tenants: {tenant: {entitlement, quota, recent}}}.
--          recent, with p_recent: how many signals the tenant sent within the window.
-- Refuses: invalid_argument.
create or replace function writ.fn_governor_check(
  p_tenants text[],
  p_recent boolean default false
) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  v_now timestamptz := writ.now();
  v_tenant text := writ_data.caller_tenant();
  v_window interval := (writ_data.setting('governor.storm_window_ms'))::integer
    * interval '1 millisecond';
begin
  if cardinality(p_tenants) > 10000 then
    return writ_data.refusal('invalid_argument', 'at most 10000 tenants');
  end if;
  return jsonb_build_object('bounds', writ_data.governor_bounds(), 'tenants', (
    select jsonb_object_agg(t, jsonb_build_object(
      'entitlement', writ_data.entitlement_of(t),
      'quota', writ_data.quota_of(t, v_now) || coalesce((
        select jsonb_build_object('limit', e.quota_limit)
        from writ_data.entitlement e
        where e.tenant_id = t), '{}'),
      'recent', case when p_recent then coalesce((
        select sum(b.arrivals - coalesce(w.arrival_seq, b.arrivals + 1) + 1)
        from writ_data.governor o
        join writ_data.governor_inbox b on b.governor_id = o.governor_id
        left join lateral (
          select m.arrival_seq
          from writ_data.governor_mail m
          where m.governor_id = o.governor_id and m.mail_seq >= b.window_mail
            and m.arrival_seq is not null
            and m.at > v_now - v_window and m.at <= v_now + v_window
          order by m.mail_seq
          limit 1
        ) w on true
        where o.tenant_id = t), 0) end))
    from unnest(p_tenants) t
    where t is not null and coalesce(v_tenant, t) = t));
end $$;
