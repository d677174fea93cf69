-- Records a health signal. It supersedes the one of the same scope and type.
-- Callers: writ_principal, writ_server
-- p_signal: {signal_type, scope, decision: CLEAN | BLOCKED | WARN | PENDING, reason, expires_at,
--          constraints}.
-- Answers: {signal_id}. A signal that supersedes BLOCKED or WARN leaves a receipt, which shows
--          when each of the two expires.
-- Refuses: invalid_signal, and what may() refuses (right: report).
create or replace function writ.fn_signal_record(
  p_key text,
  p_signal jsonb,
  p_tenant_id text default 'default'
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  m record;
  v_type text := p_signal ->> 'signal_type';
  v_scope text := p_signal ->> 'scope';
  v_expires timestamptz;
  v_stands record;
  v_id uuid;
begin
  m := writ_data.may(p_key, 'report', p_tenant_id);
  if m.refusal is not null then
    return m.refusal;
  elsif coalesce(p_signal ->> 'decision', '') not in ('CLEAN', 'BLOCKED', 'WARN', 'PENDING')
    or length(coalesce(v_scope, '')) not between 1 and 200
    or length(coalesce(v_type, '')) not between 1 and 200
    or coalesce(v_scope, '') is not nfc normalized
    or coalesce(v_type, '') is not nfc normalized
    or coalesce(p_signal ->> 'reason', '') = ''
    or octet_length((p_signal -> 'constraints')::text) > 16384
  then
    return writ_data.refusal('invalid_signal',
      'A signal has a signal_type, a scope, a decision (CLEAN, BLOCKED, WARN or PENDING) and a '
      'reason. Names have 200 characters at most, in the Unicode normal form NFC; constraints 16 '
      'KB.');
  end if;

  v_expires := writ_data.moment(p_signal ->> 'expires_at');
  select x.decision, x.reason, x.expires_at into v_stands
  from writ_data.governance_signal x
  where x.tenant_id = p_tenant_id and x.scope = v_scope and x.signal_type = v_type
    and x.superseded_at is null
  for no key update;
  v_id := writ_data.put_signal(
    p_tenant_id, v_type, v_scope, p_signal ->> 'decision', p_signal ->> 'reason',
    v_expires, (m.who).principal_id, v_now, p_signal -> 'constraints'
  );
  if v_stands.decision in ('BLOCKED', 'WARN') then
    perform writ_data.on_control_changed(
      p_tenant_id, 'health_signal', format('%s of %s', v_type, v_scope), to_jsonb(v_stands),
      jsonb_build_object(
        'decision', p_signal ->> 'decision', 'reason', left(p_signal ->> 'reason', 1000),
        'expires_at', v_expires
      ),
      (m.who).principal_id, v_now
    );
  end if;
  return jsonb_build_object('signal_id', v_id);
exception when data_exception or unique_violation then
  return writ_data.refusal('invalid_signal', sqlerrm);
end $$;
