-- The database was away, and a host has written down which signals it could not take: p_entries is [{seq, tenant, sku, signal_id, at}], in order. Each governor that was addressed, or has something in flight, hears of it. Told again it changes nothing. Answers {merged}.
-- Callers: writ_engine
create or replace function writ.fn_governor_outage(p_host text, p_entries jsonb, p_from timestamptz, p_to timestamptz) returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
declare
  v_now timestamptz := writ.now(); v_n integer; v_first timestamptz := (select min(e.at) from jsonb_to_recordset(p_entries) e(at timestamptz)); v_begins boolean; v_governors uuid[];
begin
  -- Lines come one by one: those with something in flight are looked for at the first of an outage, and that is a look at all governors.
  v_begins := not exists (select from writ_data.governor_outage o where o.host = left(p_host, 200) and o.at >= v_first - interval '1 minute' and o.at < v_first);
  insert into writ_data.governor_outage (host, at, spool_seq, tenant_id, sku_id, signal_id, merged_at)
  select left(p_host, 200), e.at, e.seq, left(e.tenant, 200), left(e.sku, 200), left(e.signal_id, 200), v_now from jsonb_to_recordset(p_entries) e(seq bigint, tenant text, sku text, signal_id text, at timestamptz) where writ_data.visible(e.tenant) on conflict do nothing;
  get diagnostics v_n = row_count;
  if v_n > 0 or p_entries = '[]' then
    select array_agg(distinct g.governor_id) into v_governors from jsonb_to_recordset(p_entries) e(tenant text, sku text) join writ_data.governor g on g.tenant_id = e.tenant and g.sku_id = e.sku where writ_data.visible(g.tenant_id) and not coalesce(g.data -> 'causes' ? 'outage', false);
    if v_begins then
      v_governors := array(select unnest(v_governors) union select g.governor_id from writ_data.governor g where jsonb_typeof(g.data -> 'in_flight') = 'object' and writ_data.visible(g.tenant_id) and not coalesce(g.data -> 'causes' ? 'outage', false));
    end if;
    perform writ_data.put_mail(v_governors, array_fill(jsonb_build_object('kind', 'outage', 'from', (extract(epoch from p_from) * 1000)::bigint, 'to', (extract(epoch from p_to) * 1000)::bigint), array[cardinality(v_governors)]), v_now) where cardinality(v_governors) > 0;
  end if;
  return jsonb_build_object('merged', v_n);
end $$;
