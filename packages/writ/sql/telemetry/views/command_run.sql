-- Who called which gate, through which database login, when, on how many jobs. A reader of one
-- tenant sees the calls that moved its jobs and runs: how many of those, and the note only where
-- the call was about nothing else.
-- Its union stands inside a query, because PostgreSQL ignores security_barrier on a plain union.
-- Callers: processes, readers
create or replace view writ.command_run with (security_barrier) as
select x.*
from (
  select
    batch_id as run_id, at, command, actor, cardinality(subjects) as jobs, note, login, request_id
  from writ_data.event_batch
  where (select writ.visible_tenant()) = ''
  union all
  select
    b.batch_id, b.at, b.command, b.actor, own.jobs,
    case when own.jobs = cardinality(b.subjects) then b.note end, b.login,
    b.request_id
  from writ_data.event_batch b
  cross join lateral (
    select count(*)::integer as jobs
    from unnest(b.subjects) s(id)
    where exists (
      select from writ_data.job j
      where j.job_id = s.id and j.tenant_id = (select writ.visible_tenant())
    ) or exists (
      select from writ_data.run r
      where r.run_id = s.id and r.tenant_id = (select writ.visible_tenant())
    )
  ) own
  where (select writ.visible_tenant()) <> '' and own.jobs > 0
) x;
