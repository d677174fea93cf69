-- Records a signal about health: {signal_type, scope, decision: CLEAN | BLOCKED | WARN | PENDING, reason, expires_at, constraints}. It supersedes the one of the same scope and type. Answers {signal_id}.
-- Callers: writ_principal, writ_server
create or replace function writ.fn_signal_record(p_key text, p_signal jsonb, p_tenant_id text default 'default') returns jsonb
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  m record;
begin
  m := writ_data.may(p_key, 'report', p_tenant_id);
  if m.refusal is not null then
    return m.refusal;
  elsif coalesce(p_signal ->> 'decision', '') not in ('CLEAN', 'BLOCKED', 'WARN', 'PENDING') or coalesce(p_signal ->> 'scope', '') = '' or coalesce(p_signal ->> 'signal_type', '') = '' or coalesce(p_signal ->> 'reason', '') = '' then
    return writ_data.refusal('invalid_signal', 'A signal has a signal_type, a scope, a decision (CLEAN, BLOCKED, WARN or PENDING) and a reason.');
  end if;
  return jsonb_build_object('signal_id', writ_data.put_signal(p_tenant_id, p_signal ->> 'signal_type', p_signal ->> 'scope', p_signal ->> 'decision', p_signal ->> 'reason', (p_signal ->> 'expires_at')::timestamptz, (m.who).principal_id, writ.now(), p_signal -> 'constraints'));
exception when data_exception then
  return writ_data.refusal('invalid_signal', sqlerrm);
end $$;
