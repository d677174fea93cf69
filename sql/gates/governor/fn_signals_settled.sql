-- gate: workflow_admin, dot_executor, writ_auditor
-- The receipts that have settled signals, as far as they are: [{g, n, receipt}] for p_items [{g: governor, n: arrival_seq}].
create or replace function writ.fn_signals_settled(p_items jsonb) returns jsonb
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off as $$
begin
  return (select coalesce(jsonb_agg(jsonb_build_object('g', x.g, 'n', x.n, 'receipt', r.entry::jsonb)), '[]')
    from jsonb_to_recordset(p_items) x(g uuid, n bigint) join writ_data.governor g on g.governor_id = x.g and writ_data.visible(g.tenant_id)
    join writ_data.governor_settled s on s.governor_id = x.g and s.arrival_seq = x.n join writ_data.receipt r on r.receipt_id = s.receipt_id and r.log_id = g.tenant_id);
end $$;
