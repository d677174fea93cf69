-- Every version of the policies of governors. One without a document: the policy was withdrawn.
-- The view has the order of its lists: LIMIT alone does not reach through a security barrier.
-- Callers: writ_principal, processes, readers
create or replace view writ.governor_policy with (security_barrier) as
select
  g.tenant_id,
  g.sku_id,
  p.governor_id,
  p.version,
  p.policy_id,
  p.shadow,
  p.document,
  encode(p.hash, 'hex') as hash,
  p.published_by,
  p.published_at
from writ_data.governor_policy p
join writ_data.governor g on g.governor_id = p.governor_id
where (select writ.visible_tenant() = '') or g.tenant_id = (select writ.visible_tenant())
order by p.governor_id desc, p.version desc;
