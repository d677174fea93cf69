-- Decides what becomes of a row that made the clockwork raise: an error that another try may not
-- meet (a lock, a serialization failure, no memory, the queue switched off) leaves it for the next
-- tick; any other one raises the alert CLOCKWORK_SET_ASIDE.
-- Answers: whether the caller has to set the row aside.
create or replace function writ_data.set_aside(
  p_subject text,                   -- job/…, run/… or clockwork/…
  p_tenant text,
  p_sqlstate text,
  p_error text,
  p_actor text,
  p_at timestamptz
) returns boolean
language plpgsql
as $$
begin
  if writ_data.is_transient(p_sqlstate) or p_error = 'job_substrate_disabled' then
    return false;
  end if;
  perform writ_data.raise_alert(
    'CLOCKWORK_SET_ASIDE', 'P1', p_tenant, p_subject,
    jsonb_build_object('sqlstate', p_sqlstate, 'error', left(p_error, 500)), p_actor, p_at
  );
  return true;
end $$;
