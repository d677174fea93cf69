-- view: workflow_admin, dot_executor, writ_auditor
-- How many jobs each recorded call moved, fact by fact: throughput without looking at jobs one by one. Read it by a range of batch_id, whose first
-- 48 bits are its time; xid tells a reader who comes again what he has not seen (pg_visible_in_snapshot). The figures are of all tenants, so with
-- writ.tenant set there are none.
create or replace view writ.v_queue_flow as
select b.batch_id, b.xid, b.at, b.types[r.i] as event_type, b.last[r.i] - b.first[r.i] + 1 as jobs, b.subjects[b.first[r.i]:b.last[r.i]] as job_ids
from writ_data.event_batch b cross join lateral generate_subscripts(b.types, 1) r(i)
where b.last[r.i] >= b.first[r.i] and coalesce(current_setting('writ.tenant', true), '') = '';
