-- Public keys that sign or have signed, the newest last.
-- Callers: writ_signer, readers
create or replace view writ.ledger_key as
select k.key_no, k.key, k.added_at from writ_data.ledger_key k;
