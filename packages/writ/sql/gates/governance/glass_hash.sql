-- What somebody signs who breaks the glass: SHA-256 of "writ break glass 1|contract|content|reason", content and reason as their hashes in hexadecimal.
create or replace function writ_data.glass_hash(p_contract uuid, p_content text, p_reason text) returns bytea language sql immutable
  return sha256(convert_to(concat_ws('|', 'writ break glass 1', p_contract, encode(sha256(convert_to(p_content, 'UTF8')), 'hex'), encode(sha256(convert_to(p_reason, 'UTF8')), 'hex')), 'UTF8'));
