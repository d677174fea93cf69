-- What an approval signs: SHA-256 of "writ approval 1|contract|content|policy|pre-state", the hashes in hexadecimal. Anybody can make it again from what an export holds.
create or replace function writ_data.approval_hash(p_contract uuid, p_content text, p_policy integer, p_pre_state text) returns bytea language sql immutable
  return sha256(convert_to(concat_ws('|', 'writ approval 1', p_contract, encode(sha256(convert_to(p_content, 'UTF8')), 'hex'), p_policy, encode(sha256(convert_to(p_pre_state, 'UTF8')), 'hex')), 'UTF8'));
