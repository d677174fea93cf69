-- Returns the reason why a driver must not store these data of a governor, or null. p_policy: the
-- one in force, as the governor names it; p_was: what it knew; p_data and p_waiting: null where
-- they stay; p_sent: the attempts that this turn sends, in their order.
create or replace function writ_data.wrong_with_governor(
  p_governor_id uuid,
  p_tenant text,
  p_sku text,
  p_policy jsonb,
  p_was jsonb,
  p_data jsonb,
  p_waiting jsonb,
  p_sent jsonb[],
  p_ms bigint
) returns text
language plpgsql stable
set enable_seqscan = off
as $$
declare
  v_data jsonb := coalesce(p_data, p_was);
  v_own jsonb[] := p_sent || array[   -- its attempts: of this turn, and those that it knew
    p_was -> 'in_flight', p_was -> 'awaiting_baseline', p_was #> '{given_up,action}'];
begin
  return case
    when p_data ->> 'tenant_id' <> p_tenant or p_data ->> 'sku_id' <> p_sku
      or not p_data ?& '{tenant_id,sku_id,policy,causes,queue}' then
      format('Governor %s is taken for another.', p_governor_id)
    when coalesce(v_data -> 'policy', 'null') <> p_policy then
      format('Governor %s has another policy.', p_governor_id)
    -- Effects of later turns rest on these: a fence, and a further attempt that uses up no quota.
    when v_data -> 'in_flight' <> 'null' and not writ_data.is_own(v_data -> 'in_flight',
        array[coalesce(p_sent[cardinality(p_sent)], p_was -> 'in_flight')])
      or v_data -> 'awaiting_baseline' <> 'null'
        and not writ_data.is_own(v_data -> 'awaiting_baseline', v_own)
      or v_data -> 'given_up' <> 'null'
        and not writ_data.is_own(v_data #> '{given_up,action}', v_own) then
      format('Governor %s knows an action that it has not sent.', p_governor_id)
    when pg_column_size(p_data) > 4194304 or pg_column_size(p_waiting) > 4194304 then
      format('Governor %s knows too much.', p_governor_id)
    when writ_data.first_due(p_waiting) > to_timestamp(p_ms / 1000.0) + interval '400 days' then
      format('A timer of governor %s is too far ahead.', p_governor_id)
    -- A run is unbroken, in the mailbox and among the signals, if its ends are where it says.
    when exists (
      select from writ_data.held_signals(p_data, p_waiting) h
      where h.n not between 1 and 10000
        or not exists (select from writ_data.governor_mail m where m.governor_id = p_governor_id
          and m.mail_seq = h.mail_seq and m.arrival_seq = h.arrival_seq)
        or not exists (select from writ_data.governor_mail m where m.governor_id = p_governor_id
          and m.mail_seq = h.mail_seq + h.n - 1 and m.arrival_seq = h.arrival_seq + h.n - 1)
    ) then
      format('A signal that waits for governor %s is not where it is said to be.', p_governor_id)
  end;
end $$;
