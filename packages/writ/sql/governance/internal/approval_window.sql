-- Returns how long after its approval a contract may be activated, or a template's instances.
create or replace function writ_data.approval_window(c writ_data.contract) returns interval
language sql immutable
return coalesce(
  (c.template ->> 'expires_in_sec')::integer * interval '1 second',
  c.window_hours * interval '1 hour'
);
