-- Versions of plans, as the bytes that are hashed.
-- Callers: processes, readers
create or replace view writ.plan as
select p.plan_id, p.plan_version, encode(p.sha256, 'hex') as sha256, octet_length(p.document) as size_bytes, p.document, p.registered_by, p.registered_at from writ_data.plan p;
