-- Returns evidence as a receipt holds it: its JSON, or, if that is long, its hash. The row of the
-- step has all of it.
create or replace function writ_data.evidence_text(p_evidence jsonb) returns text
language sql immutable
return case
  when octet_length(coalesce(p_evidence, '{}')::text) <= 16000 then coalesce(p_evidence, '{}')::text
  else jsonb_build_object(
    'sha256', encode(sha256(convert_to(p_evidence::text, 'UTF8')), 'hex')
  )::text
end;
