-- What is wrong with the numbers and names of a kind, or null. NaN compares as larger than every
-- number, so a bound above refuses it.
create or replace function writ_data.wrong_with_kind(p_kind writ_data.job_kind) returns text
language sql immutable
return case
  when p_kind.event_domain not in (
    'iu', 'birth_registry', 'governance', 'tac', 'kg', 'system', 'dot', 'health', 'piece'
  ) then 'event_domain is not a domain.'
  when btrim(p_kind.source_system) = '' or length(p_kind.source_system) > 200
    then 'source_system has 1 to 200 characters.'
  when p_kind.max_attempts < 1 then 'max_attempts is a whole number from 1 to 32767.'
  when not p_kind.backoff_base_s between 0 and 2592000
    then 'backoff_base_s is a number of seconds from 0 to 2592000.'
  when not p_kind.backoff_cap_s between 0 and 2592000
    then 'backoff_cap_s is a number of seconds from 0 to 2592000.'
  when not p_kind.timeout_s between 0.001 and 2592000
    then 'timeout_s is a number of seconds from 0.001 to 2592000.'
  when not p_kind.limit_concurrency between 1 and 1000000
    then 'limit_concurrency is a whole number from 1 to 1000000.'
  when not p_kind.limit_rate between 1e-6 and 1e6
    then 'limit_rate is a number of starts per second from 0.000001 to 1000000.'
  when not p_kind.limit_burst between 1 and 1e6 then 'limit_burst is a number from 1 to 1000000.'
end;
