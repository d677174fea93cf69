-- Decides whether to set aside a row that made the clockwork raise. After a transient error (a
-- lock, a serialization failure, no memory, the queue switched off), or one that may be the
-- caller's fault, the next tick tries the row again. Any other error raises the alert
-- CLOCKWORK_SET_ASIDE.
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
  if writ_data.is_transient(p_sqlstate) or p_error = 'job_substrate_disabled'
    or writ_data.is_callers_fault(p_sqlstate)
  then
    return false;
  end if;
  perform writ_data.raise_alert(
    'CLOCKWORK_SET_ASIDE', 'P1', p_tenant, p_subject,
    jsonb_build_object('sqlstate', p_sqlstate, 'error', left(p_error, 500)), p_actor, p_at
  );
  return true;
end $$;
