-- How many jobs each recorded call moved, fact by fact: throughput without looking at single jobs.
-- Read it by a range of batch_id, whose first 48 bits are its time; with xid, a reader that comes
-- again finds what it has not seen (pg_visible_in_snapshot). The figures cover all tenants, so with
-- writ.tenant set the view is empty.
-- Callers: processes, readers
create or replace view writ.v_queue_flow with (security_barrier) as
select
  b.batch_id, b.xid, b.at, f.event_type,
  f.last - f.first + 1 as jobs,
  b.subjects[f.first:f.last] as job_ids
from writ_data.event_batch b
cross join lateral unnest(b.types, b.first, b.last) f(event_type, first, last)
where f.last >= f.first and (select writ.visible_tenant()) = '';
