-- Returns what an applier read last at the places outside the database that a contract changes,
-- {slot: value}; null where there is nothing. A place that was not read, or could not be, is not in
-- the answer. An instance has the values of its template.
create or replace function writ_data.values_read(c writ_data.contract) returns jsonb
language sql stable
begin atomic
  select coalesce(jsonb_object_agg(v.slot, v.value), '{}')
  from writ_data.contract_value v
  where v.contract_id = coalesce(c.template_id, c.contract_id) and v.code is null;
end;
