-- What a driver wants to store about a governor and must not, or null. p_policy: the one in force, as
-- the governor names it; p_was: what it knew; p_data and p_waiting: null where they stay.
create or replace function writ_data.wrong_with_governor(
  p_governor_id uuid,
  p_tenant text,
  p_sku text,
  p_policy jsonb,
  p_was jsonb,
  p_data jsonb,
  p_waiting jsonb,
  p_ms bigint
) returns text
language plpgsql stable
set enable_seqscan = off
as $$
begin
  return case
    when p_data ->> 'tenant_id' <> p_tenant or p_data ->> 'sku_id' <> p_sku
      or not p_data ?& '{tenant_id,sku_id,policy,causes,queue}' then
      format('Governor %s is taken for another.', p_governor_id)
    when coalesce(coalesce(p_data, p_was) -> 'policy', 'null') <> p_policy then
      format('Governor %s has another policy.', p_governor_id)
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
