-- How many runs of a tenant may go on at once, and what happens to further ones.
-- Callers: processes, readers
create or replace view writ.admission with (security_barrier) as
select a.tenant_id, a.policy, a.max_running, a.max_pending, a.delay_ms, a.put_by, a.put_at
from writ_data.admission a
where (select writ.visible_tenant()) in ('', a.tenant_id);
