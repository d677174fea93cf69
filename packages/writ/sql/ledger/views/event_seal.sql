-- Segments of the record, and where the receipt of each stands in _system.
-- Callers: writ_signer, readers
create or replace view writ.event_seal with (security_barrier) as
select
  s.segment,
  s.n_rows as rows,
  encode(s.root, 'hex') as root,
  s.leaves, s.sealed_at,
  s.to_id as last_batch,
  l.leaf_index
from writ_data.event_seal s
left join writ_data.ledger_leaf l on l.receipt_no = s.receipt_no
where (select writ.visible_tenant()) = '';
