-- Merges the signals that a host could not deliver, and wrote to its spool, during an outage.
-- Callers: writ_engine
-- Answers: {merged}. A repeated entry changes nothing. The gate ignores an entry that is malformed
--          or has a future time. It tells each governor that an entry addresses, or that has an
--          action in flight, about the outage.
-- Refuses: invalid_argument.
-- Locks:   the mailboxes of those governors.
--
-- p_entries is [{seq, tenant, sku, signal_id, at}], in order.
create or replace function writ.fn_governor_outage(
  p_host text,
  p_entries jsonb,
  p_from timestamptz,
  p_to timestamptz
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  v_now timestamptz := writ.now();
  v_tenant text := writ_data.caller_tenant();
  v_to timestamptz := least(p_to, v_now);
  v_from timestamptz := least(p_from, v_to);
  v_first timestamptz;             -- of the entries
  v_begins boolean;                -- this is the first that the host tells of an outage
  v_seqs bigint[];
  v_tenants text[];
  v_skus text[];
  v_signals text[];
  v_ats timestamptz[];
  v_n integer;
  v_governors uuid[];
begin
  if (length(p_host) between 1 and 200) is not true then
    return writ_data.refusal('invalid_argument', 'host');
  elsif (
    jsonb_typeof(p_entries) = 'array' and jsonb_array_length(p_entries) <= 10000
  ) is not true then
    return writ_data.refusal('invalid_argument', 'entries: a list of up to 10000');
  elsif (v_from > v_now - interval '400 days' and isfinite(v_to)) is not true then
    return writ_data.refusal('invalid_argument', 'from and to');
  end if;

  -- Check each entry before casting its fields.
  select min(c.at), array_agg(c.seq), array_agg(c.tenant), array_agg(c.sku), array_agg(c.signal_id),
    array_agg(c.at)
  into v_first, v_seqs, v_tenants, v_skus, v_signals, v_ats
  from (
    select (e.entry ->> 'seq')::bigint as seq, e.entry ->> 'tenant' as tenant,
      e.entry ->> 'sku' as sku, e.entry ->> 'signal_id' as signal_id,
      writ_data.moment(e.entry ->> 'at') as at
    from (select x.entry from jsonb_array_elements(p_entries) x(entry) offset 0) e
    where e.entry ->> 'seq' ~ '^[0-9]{1,15}$'
      and length(e.entry ->> 'tenant') between 1 and 200
      and length(e.entry ->> 'sku') between 1 and 200
      and length(e.entry ->> 'signal_id') between 1 and 200
      and writ_data.as_moment(e.entry ->> 'at') is not null
    offset 0
  ) c
  where c.at between v_now - interval '400 days' and v_now + interval '1 minute'
    and coalesce(v_tenant, c.tenant) = c.tenant;

  -- A host sends the lines of an outage one by one. Only the first looks for governors with an
  -- action in flight, because that search reads all governors.
  v_begins := not exists (
    select from writ_data.governor_outage o
    where o.host = p_host and o.at >= v_first - interval '1 minute' and o.at < v_first);
  insert into writ_data.governor_outage
    (host, at, spool_seq, tenant_id, sku_id, signal_id, merged_at)
  select p_host, u.at, u.seq, u.tenant, u.sku, u.signal_id, v_now
  from unnest(v_seqs, v_tenants, v_skus, v_signals, v_ats) u(seq, tenant, sku, signal_id, at)
  on conflict do nothing;
  get diagnostics v_n = row_count;

  if v_n > 0 or p_entries = '[]' then
    select array_agg(distinct g.governor_id) into v_governors
    from unnest(v_tenants, v_skus) u(tenant, sku)
    join writ_data.governor g on g.tenant_id = u.tenant and g.sku_id = u.sku
    where not coalesce(g.data -> 'causes' ? 'outage', false);
    if v_begins then
      v_governors := array(
        select unnest(v_governors)
        union
        select g.governor_id
        from writ_data.governor g
        where jsonb_typeof(g.data -> 'in_flight') = 'object'
          and coalesce(v_tenant, g.tenant_id) = g.tenant_id
          and not coalesce(g.data -> 'causes' ? 'outage', false));
    end if;
    if cardinality(v_governors) > 0 then
      perform writ_data.put_mail(v_governors, array_fill(jsonb_build_object('kind', 'outage',
        'from', (extract(epoch from v_from) * 1000)::bigint,
        'to', (extract(epoch from v_to) * 1000)::bigint), array[cardinality(v_governors)]), v_now);
    end if;
  end if;
  return jsonb_build_object('merged', v_n);
end $$;
