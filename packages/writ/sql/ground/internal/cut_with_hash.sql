-- A text of at most p_most characters: a longer one is cut, and ends with the SHA-256 of all of it.
create or replace function writ_data.cut_with_hash(p_text text, p_most integer) returns text
language sql immutable
return case
  when length(p_text) > p_most then concat(
    left(p_text, p_most - 80), ' … sha256 ', encode(sha256(convert_to(p_text, 'UTF8')), 'hex')
  )
  else p_text
end;
