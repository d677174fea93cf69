-- Signed checkpoints that have been published.
-- Callers: writ_signer, readers
create or replace view writ.ledger_checkpoint with (security_barrier) as
select c.checkpoint_no, c.log_id, c.epoch, c.size, encode(c.root, 'hex') as root, c.note, c.at
from writ_data.ledger_checkpoint c
where (select writ.visible_tenant()) in ('', c.log_id)
-- For those who ask for the newest: a barrier keeps their order and limit from the table.
order by c.checkpoint_no desc;
