-- Every version of the policies of governors. One without a document: the policy was withdrawn.
-- Callers: writ_principal, processes, readers
create or replace view writ.governor_policy as
select g.tenant_id, g.sku_id, p.governor_id, p.version, p.policy_id, p.shadow, p.document, encode(p.hash, 'hex') as hash, p.published_by, p.published_at
from writ_data.governor_policy p join writ_data.governor g on g.governor_id = p.governor_id
where (select writ.visible_tenant()) in ('', g.tenant_id);
