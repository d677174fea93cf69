-- Roots of complete subtrees of 256, 65536, … leaves.
-- Callers: writ_signer, readers
create or replace view writ.ledger_node with (security_barrier) as
select n.log_id, n.level, n.node_index, n.hash from writ_data.ledger_node n
where (select writ.visible_tenant()) in ('', n.log_id);
