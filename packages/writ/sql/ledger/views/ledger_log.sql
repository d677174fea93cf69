-- The logs: how many receipts each has, and its root.
-- Callers: writ_signer, readers
create or replace view writ.ledger_log with (security_barrier) as
select l.log_id, l.epoch, l.size, encode(l.root, 'hex') as root, l.grown_at
from writ_data.ledger_log l
where (select writ.visible_tenant()) in ('', l.log_id);
