-- Signals about health, with the names of the specification; those that stand have not been superseded and have not expired.
-- Callers: writ_principal, processes, readers
create or replace view writ.governance_signals as
select g.signal_id as id, g.tenant_id, g.signal_type, g.scope, g.decision, g.reason, g.constraints, g.recorded_by, g.recorded_at, g.expires_at, g.superseded_by, g.superseded_at, g.superseded_at is null and coalesce(g.expires_at > writ.now(), true) as stands
from writ_data.governance_signal g where (select writ.visible_tenant()) in ('', g.tenant_id);
