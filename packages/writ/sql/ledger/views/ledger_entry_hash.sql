-- The leaves of the logs alone.
-- Callers: writ_signer, readers
create or replace view writ.ledger_entry_hash with (security_barrier) as
select l.log_id, l.leaf_index, l.leaf_hash from writ_data.ledger_leaf l
where (select writ.visible_tenant()) in ('', l.log_id);
