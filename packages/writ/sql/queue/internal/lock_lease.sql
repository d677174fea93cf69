-- Locks a lease: to remove it, or so that commits of its jobs in flight can pass. A call that will
-- end all open jobs takes the strong lock from the start, and so waits for a commit before it
-- writes anything. If it took that lock later, it would wait for the commit while the commit waits
-- for the execution that the call has just written.
create or replace function writ_data.lock_lease(
  p_lease_token uuid,
  p_to_remove boolean
) returns writ_data.job_lease
language plpgsql
as $$
declare
  l writ_data.job_lease;
begin
  if p_to_remove then
    select * into l from writ_data.job_lease where lease_token = p_lease_token for update;
  else
    select * into l from writ_data.job_lease where lease_token = p_lease_token for no key update;
  end if;
  return l;
end $$;
