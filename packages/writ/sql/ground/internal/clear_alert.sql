-- Ends an alert that no longer holds: in its row, and as a fact in the record.
create or replace function writ_data.clear_alert(
  p_code text,
  p_subject text,
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
as $$
declare
  v_id uuid;
begin
  update writ_data.alert
  set cleared_at = p_at, cleared_by = p_actor
  where code = p_code and subject = p_subject and cleared_at is null
  returning alert_id
  into v_id;
  if found then
    perform writ_data.record(
      'alert', p_actor, p_at, array[v_id], array['system.alert_cleared'], array[1], array[1],
      jsonb_build_object('code', p_code, 'subject', p_subject)
    );
  end if;
end $$;
