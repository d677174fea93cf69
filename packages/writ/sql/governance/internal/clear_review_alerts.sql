-- Clears the alerts about a missing decision on a contract, when a person has decided.
create or replace function writ_data.clear_review_alerts(
  c writ_data.contract,
  p_who text,
  p_at timestamptz
) returns void
language plpgsql
as $$
begin
  if p_at >= c.review_due_at - interval '2 days' then
    perform writ_data.clear_alert(a, 'contract/' || c.contract_id, p_who, p_at)
    from unnest('{REVIEW_LATE,REVIEW_ESCALATED}'::text[]) a;
  end if;
end $$;
