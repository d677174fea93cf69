-- Records in _system which key signs from now on, and which key it replaces. Both keys have signed
-- that statement; verifiers check the signatures.
-- Callers: writ_signer
-- Answers: {added}; false when the key signs already.
-- Refuses: actor_required, tenant_forbidden, invalid_argument, key_mismatch (p_replaces is not the
--          key that signs, or the key has signed before).
-- Locks:   the ledger's clockwork, so that only one of two concurrent calls adds the first key.
create or replace function writ.fn_ledger_key_add(
  p_key text,
  p_replaces text,
  p_signature_new text,
  p_signature_old text,
  p_actor text
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  v_last text;
begin
  if coalesce(btrim(p_actor), '') = '' or length(p_actor) > 200 then
    return writ_data.refusal('actor_required');
  elsif writ_data.caller_tenant() is not null then
    return writ_data.refusal('tenant_forbidden', 'The ledger is signed for all tenants.');
  elsif coalesce(p_key, '') !~ '^[^[:space:]+]+[+][0-9a-f]{8}[+][A-Za-z0-9+/]+={0,2}$'
    or coalesce(p_signature_new, '') !~ '^[A-Za-z0-9+/]+={0,2}$'
    or p_replaces is not null and coalesce(p_signature_old, '') !~ '^[A-Za-z0-9+/]+={0,2}$'
    or length(p_key) > 500 or length(p_signature_new) > 500 or length(p_signature_old) > 500 then
    return writ_data.refusal('invalid_argument', 'A key, and signatures of both keys, in base64.');
  end if;

  perform from writ_data.ledger_clockwork for update;
  v_last := (select k.key from writ_data.ledger_key k order by k.key_no desc limit 1);
  if v_last = p_key then
    return jsonb_build_object('added', false);
  elsif v_last is distinct from p_replaces then
    return writ_data.refusal('key_mismatch',
      coalesce('The ledger is signed with ' || v_last, 'No key is known yet.'));
  elsif exists (select from writ_data.ledger_key k where k.key = p_key) then
    return writ_data.refusal('key_mismatch', 'This key has signed before, and was replaced.');
  end if;

  insert into writ_data.ledger_key (key, added_at) values (p_key, v_now);
  perform writ_data.system_receipt('key_added', 'key', jsonb_build_object(
    'name', split_part(p_key, '+', 1), 'key', p_key, 'replaces', p_replaces,
    'signature_new', p_signature_new, 'signature_old', p_signature_old), v_now);
  perform writ_data.record('fn_ledger_key_add', p_actor, v_now, '{}', '{}', '{}', '{}',
    p_note => p_key);
  return jsonb_build_object('added', true);
end $$;
