-- Wakes workers that wait for one of these kinds. Answers whether there were any. NOTIFY takes a
-- global lock at commit and so ends group commit. Therefore it is sent only when a worker has
-- declared itself idle, and no worker relies on it.
create or replace function writ_data.wake(p_kinds text[], p_at timestamptz) returns boolean
language plpgsql
as $$
begin
  if not exists (
    select from writ_data.queue_worker w where w.idle_until > p_at and w.kinds && p_kinds
  )
    or not (writ_data.setting('queue.notify.enabled'))::boolean
  then
    return false;
  end if;
  perform pg_notify('queue_wake_' || d.event_domain, '')
  from (
    select distinct k.event_domain from writ_data.job_kind k where k.job_kind = any (p_kinds)
  ) d;
  return true;
end $$;
