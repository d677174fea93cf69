-- The receipts in the order of their logs. Of those that have been archived and dropped, the hash
-- alone.
-- Callers: writ_signer, readers
create or replace view writ.ledger_entry with (security_barrier) as
select l.log_id, l.leaf_index, l.leaf_hash, r.receipt_id, r.stream, r.stream_seq, r.at, r.entry
from writ_data.ledger_leaf l left join writ_data.receipt r on r.receipt_no = l.receipt_no
where (select writ.visible_tenant()) in ('', l.log_id);
