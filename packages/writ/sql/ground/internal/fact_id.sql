-- The id of a fact: its batch's id with the ordinal in the low 24 bits. Ordinal 16777215 sorts
-- behind every fact of the batch.
create or replace function writ_data.fact_id(p_batch_id uuid, p_ordinal bigint) returns uuid
language sql immutable
return (left(p_batch_id::text, 30) || lpad(to_hex(p_ordinal), 6, '0'))::uuid;
