-- Somebody has asked for what they may not: a receipt in the stream of denials of the tenant, and the refusal.
create or replace function writ_data.deny(p_who writ_data.principal, p_right text, p_tenant text, p_code text, p_detail text, p_at timestamptz) returns jsonb language plpgsql as $$
begin
  perform writ_data.governance_receipt(p_tenant, 'access', writ_data.next_seq(p_tenant, 'access', 1), 'refuse', 'access_denied', jsonb_build_object('principal', p_who.principal_id, 'kind', p_who.kind, 'right', p_right, 'code', p_code), p_at);
  return writ_data.refusal(p_code, p_detail);
end $$;
