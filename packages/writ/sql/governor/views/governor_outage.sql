-- Signals that hosts wrote down because the database was away.
-- Callers: readers
create or replace view writ.governor_outage with (security_barrier) as
select o.host, o.at, o.spool_seq, o.tenant_id, o.sku_id, o.signal_id, o.merged_at
from writ_data.governor_outage o
where (select writ.visible_tenant()) in ('', o.tenant_id);
