-- Writes a receipt for a change of a control: a setting, a principal, a login, an owner,
-- monitoring, a freeze, a probe, a policy or an entitlement. p_tenant null: the control belongs to
-- the deployment. A value that is too long is cut and ends with its hash, so that every change
-- shows.
create or replace function writ_data.on_control_changed(
  p_tenant text,
  p_control text,      -- what kind of thing
  p_name text,         -- which one
  p_was jsonb,         -- null: there was none
  p_now jsonb,         -- null: there is none any more
  p_by text,
  p_at timestamptz
) returns bigint
language plpgsql
as $$
declare
  v_log text := coalesce(p_tenant, '_system');
  v_context jsonb;
begin
  v_context := jsonb_strip_nulls(jsonb_build_object(
    'control', p_control,
    'name', left(p_name, 500),
    'was', writ_data.cut_with_hash(p_was::text, 8192),
    'now', writ_data.cut_with_hash(p_now::text, 8192),
    'by', left(p_by, 200),
    'login', session_user,
    'stream', 'controls',
    'stream_seq', writ_data.next_seq(v_log, 'controls', 1)));

  return (writ_data.append_receipts(
    array[writ_data.canonical(jsonb_build_object(
      'receipt_id', gen_random_uuid(),
      'timestamp', to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'sku_id', case when p_tenant is null then 'writ' else 'governance' end,
      'tenant_id', v_log,
      'status', 'accept',
      'reason', 'control_changed',
      'context', v_context))],
    p_at))[1];
end $$;
