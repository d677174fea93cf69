-- Refuses what a principal may not do, with a receipt in the tenant's stream of denials. Above
-- governance.denials_per_minute the receipts stop: the clockwork then writes one that counts the
-- rest of the minute (count_denials).
create or replace function writ_data.deny(
  p_who writ_data.principal,
  p_right text,
  p_tenant text,
  p_code text,
  p_detail text,
  p_at timestamptz
) returns jsonb
language plpgsql
as $$
declare
  v_most integer := (writ_data.setting('governance.denials_per_minute'))::integer;
  v_written boolean;  -- this denial gets a receipt, as all before it in this minute did
begin
  insert into writ_data.denial as d (tenant_id, principal_id, minute, denials, receipts)
  values (p_tenant, p_who.principal_id, date_trunc('minute', p_at), 1, 1)
  on conflict (tenant_id, principal_id, minute) do update
  set denials = d.denials + 1,
    receipts = d.receipts + (d.receipts = d.denials and d.receipts < v_most)::integer
  returning d.receipts = d.denials into v_written;

  if v_written then
    perform writ_data.governance_receipt(
      p_tenant, 'access', writ_data.next_seq(p_tenant, 'access', 1), 'refuse', 'access_denied',
      jsonb_build_object(
        'principal', p_who.principal_id, 'kind', p_who.kind, 'right', p_right, 'code', p_code
      ),
      p_at
    );
  end if;
  return writ_data.refusal(p_code, p_detail);
end $$;
