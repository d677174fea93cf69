-- Tells governors that their host finds the ledger slow or unreachable.
-- Callers: writ_engine
-- Answers: {told}: how many governors. The gate skips governors that know of the failure, or have
--          an unread mail about it.
-- Refuses: invalid_argument.
-- Locks:   the mailboxes of the governors.
create or replace function writ.fn_governor_tell(
  p_governors uuid[],
  p_failure jsonb
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  v_now timestamptz := writ.now();
  v_tenant text := writ_data.caller_tenant();
  v_cause text := p_failure ->> 'cause';
  v_content jsonb;
  v_ids uuid[];
begin
  if ((v_cause, p_failure ->> 'failure_type') in
      (('ledger', 'timeout'), ('ledger', 'read_error'), ('slo', 'receipt_slow'))) is not true then
    return writ_data.refusal('invalid_argument', 'cause and failure_type');
  elsif (length(p_failure ->> 'message') between 1 and 1000) is not true then
    return writ_data.refusal('invalid_argument', 'message');
  elsif cardinality(p_governors) > 100000 then
    return writ_data.refusal('invalid_argument', 'governors');
  end if;

  v_content := jsonb_build_object('kind', 'health_failed', 'failure', jsonb_build_object(
    'cause', v_cause, 'component', 'ledger', 'failure_type', p_failure ->> 'failure_type',
    'message', p_failure ->> 'message'));
  select array_agg(g.governor_id) into v_ids
  from unnest(p_governors) u(id)
  join writ_data.governor g on g.governor_id = u.id
  where coalesce(v_tenant, g.tenant_id) = g.tenant_id
    and not coalesce(g.data -> 'causes' ? v_cause, false)
    and not exists (
      select from writ_data.governor_mail m
      where m.governor_id = g.governor_id and m.mail_seq > g.mail_done and m.at >= g.mail_at
        and m.content ->> 'kind' = 'health_failed');

  if v_ids is not null then
    perform writ_data.put_mail(v_ids, array_fill(v_content, array[cardinality(v_ids)]), v_now);
  end if;
  return jsonb_build_object('told', coalesce(cardinality(v_ids), 0));
end $$;
