-- Whether a contract is the instance of a template that an attempt at an action has activated: its
-- id follows from the action and the attempt, as instanceId() in src/governor/actuators/contract.ts
-- has it.
create or replace function writ_data.is_instance(
  p_contract_id uuid,
  p_action_id text,
  p_first integer,
  p_last integer
) returns boolean
language sql immutable
begin atomic
  select exists (
    select from generate_series(p_first, p_last) n
    cross join lateral (
      select
        encode(sha256(convert_to('governor|' || p_action_id || '|' || n, 'UTF8')), 'hex') as hex
    ) h
    where concat(left(h.hex, 12), '8', substr(h.hex, 14, 3), '8', substr(h.hex, 18, 15))::uuid
      = p_contract_id);
end;
