-- Shows the reviews of contracts, with the signatures of approvals and the verdicts on them. A
-- signature without a verdict does not count yet.
-- Callers: writ_principal, processes, readers
create or replace view writ.contract_review with (security_barrier) as
select
  r.contract_id, c.tenant_id, r.review_no, r.action, r.by, r.reason,
  encode(r.hash, 'hex') as hash, r.scheme, encode(r.signature, 'hex') as signature,
  encode(r.public_key, 'hex') as public_key, r.at,
  v.verdict, v.login as verified_by, v.trust, v.at as verified_at
from writ_data.contract_review r
join writ_data.contract c on c.contract_id = r.contract_id
left join writ_data.contract_verdict v
  on v.contract_id = r.contract_id and v.review_no = r.review_no
where (select writ.visible_tenant()) in ('', c.tenant_id);
