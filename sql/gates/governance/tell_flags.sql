-- Tells whoever follows flags, when this transaction commits, that a capability or a scope of a tenant has changed. Who misses it finds out by the fingerprint (fn_flags).
create or replace function writ_data.tell_flags(p_tenant text, p_target text) returns void language sql
begin atomic
  select pg_notify('flags_changed', json_build_array(p_tenant, p_target)::text);
end;
