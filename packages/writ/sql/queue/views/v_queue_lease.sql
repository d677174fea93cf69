-- Leases as workers hold them: how many jobs of each are open, and until when. The figures are of
-- all tenants, so with writ.tenant set there are none.
-- Callers: processes, readers
create or replace view writ.v_queue_lease with (security_barrier) as
select lease_name, holder, claimed_at, leased_until, cardinality(job_ids) as jobs, open_jobs,
  coalesce(start_upto[cardinality(start_upto)], 0) as started_upto
from writ_data.job_lease where (select writ.visible_tenant()) = '';
