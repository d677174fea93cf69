-- Signed checkpoints that have been published.
-- Callers: writ_signer, readers
create or replace view writ.ledger_checkpoint as
select c.checkpoint_no, c.log_id, c.epoch, c.size, encode(c.root, 'hex') as root, c.note, c.at from writ_data.ledger_checkpoint c
where (select writ.visible_tenant()) in ('', c.log_id);
