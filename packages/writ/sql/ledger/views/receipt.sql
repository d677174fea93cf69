-- Receipts as they were written, whether or not they are in their log yet.
-- Callers: writ_signer, readers
create or replace view writ.receipt with (security_barrier) as
select
  r.receipt_id, r.log_id, r.stream, r.stream_seq, r.at, r.entry::jsonb as receipt, r.entry,
  l.leaf_index
from writ_data.receipt r
left join writ_data.ledger_leaf l on l.receipt_no = r.receipt_no
where (select writ.visible_tenant()) in ('', r.log_id);
