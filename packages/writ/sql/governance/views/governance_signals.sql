-- Signals about health, with the names of the specification; those that stand have not been
-- superseded and have not expired. In the order of lists, as system_contracts.
-- Callers: writ_principal, processes, readers
create or replace view writ.governance_signals with (security_barrier) as
select
  g.signal_id as id, g.tenant_id, g.signal_type, g.scope, g.decision, g.reason, g.constraints,
  g.recorded_by, g.recorded_at, g.expires_at, g.superseded_by, g.superseded_at,
  g.superseded_at is null and (g.expires_at is null or g.expires_at > writ.now()) as stands
from writ_data.governance_signal g
where (select writ.visible_tenant() = '') or g.tenant_id = (select writ.visible_tenant())
order by g.signal_id desc;
