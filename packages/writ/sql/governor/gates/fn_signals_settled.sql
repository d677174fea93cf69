-- What has become of signals, as far as that is known: [{g, n, receipt}, or {g, n, as: 'buffered'} while it waits in the buffer of a storm] for p_items [{g: governor, n: arrival_seq}].
-- Callers: writ_producer, writ_engine, readers
create or replace function writ.fn_signals_settled(p_items jsonb) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
begin
  return (select coalesce(jsonb_agg(jsonb_build_object('g', x.g, 'n', x.n) || case when r.entry is not null then jsonb_build_object('receipt', r.entry::jsonb) else '{"as": "buffered"}' end), '[]')
    from jsonb_to_recordset(p_items) x(g uuid, n bigint) join writ_data.governor g on g.governor_id = x.g and writ_data.visible(g.tenant_id)
    left join lateral (select r.entry from writ_data.governor_settled s join writ_data.receipt r on r.receipt_id = s.receipt_id and r.log_id = g.tenant_id where s.governor_id = x.g and s.arrival_seq = x.n) r on true
    -- A run in the buffer is [place in the mailbox, arrival_seq, how many].
    where r.entry is not null or exists (select from jsonb_array_elements(coalesce(g.data #> '{storm,buffer}', '[]')) b where x.n >= (b ->> 1)::bigint and x.n < (b ->> 1)::bigint + (b ->> 2)::bigint));
end $$;
