-- Returns the refusal of a signature that cannot be one, or null. Whether it is a signature of the
-- document is for an applier to find out.
create or replace function writ_data.wrong_with_signature(
  p_document text,
  p_signature text,
  p_scheme text
) returns jsonb
language sql immutable
return case
  when coalesce(p_signature, '') !~* '^[0-9a-f]{128}$' then writ_data.refusal(
    'invalid_argument', 'It is signed: 64 bytes in hexadecimal.'
  )
  when p_scheme is distinct from 'ed25519' then writ_data.refusal(
    'invalid_argument', 'The scheme of a signature is ed25519.'
  )
  when p_document is null or octet_length(p_document) > 4194304 then writ_data.refusal(
    'invalid_document', 'The document that was signed comes with it, in 4 MB at most.'
  )
end;
