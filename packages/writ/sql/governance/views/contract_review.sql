-- What was said about contracts, with the signatures of approvals.
-- Callers: writ_principal, processes, readers
create or replace view writ.contract_review as
select r.contract_id, c.tenant_id, r.review_no, r.action, r.by, r.reason, encode(r.hash, 'hex') as hash, encode(r.signature, 'hex') as signature, encode(r.public_key, 'hex') as public_key, r.at
from writ_data.contract_review r join writ_data.contract c on c.contract_id = r.contract_id where (select writ.visible_tenant()) in ('', c.tenant_id);
