-- Marks the job of an action COMMITTED, for the applier that holds it.
-- Callers: writ_applier
-- Answers, raises and locks: see writ_data.commit_job. Raises WR001 not_an_action for any other
--          job.
create or replace function writ.fn_governor_commit(
  p_job_id uuid,
  p_lease_token uuid,
  p_actor text default null
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (
    select from writ_data.job j
    where j.job_id = p_job_id and starts_with(j.job_kind, 'governor.')
      and writ_data.visible(j.tenant_id)
  ) then
    raise exception using errcode = 'WR001', message = 'not_an_action',
      detail = format('Job %s carries no action of a governor out.', p_job_id);
  end if;
  return writ_data.commit_job(p_job_id, p_lease_token, p_actor, true);
end $$;
