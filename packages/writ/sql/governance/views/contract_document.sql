-- The documents that were signed, byte by byte.
-- Callers: writ_principal, processes, readers
create or replace view writ.contract_document with (security_barrier) as
select d.contract_id, c.tenant_id, encode(d.hash, 'hex') as hash, d.document, d.kept_at
from writ_data.contract_document d
join writ_data.contract c on c.contract_id = d.contract_id
where (select writ.visible_tenant()) in ('', c.tenant_id);
