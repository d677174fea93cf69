-- Stores signed checkpoints before their publication.
-- Callers: writ_signer
-- p_checkpoints: [{log, epoch, size, root, note}]. If one tree is not a tree of its log, or a note
--          names another size or root, the gate stores none. A note must have the form of one that
--          the key which signs has signed for that epoch; verifiers check the signature itself.
-- Answers: {recorded}: how many are new.
-- Refuses: actor_required, tenant_forbidden, checkpoint_mismatch (with the log), invalid_argument
--          (more than 10,000 checkpoints).
create or replace function writ.fn_ledger_checkpoint_record(
  p_checkpoints jsonb,
  p_actor text
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key text[];                     -- name, id, and the key
  v_wrong text;
  v_n integer;
begin
  if coalesce(btrim(p_actor), '') = '' or length(p_actor) > 200 then
    return writ_data.refusal('actor_required');
  elsif writ_data.caller_tenant() is not null then
    return writ_data.refusal('tenant_forbidden', 'The ledger is signed for all tenants.');
  elsif jsonb_typeof(p_checkpoints) is distinct from 'array' then
    return writ_data.refusal('checkpoint_mismatch', 'not an array');
  elsif jsonb_array_length(p_checkpoints) > 10000 then
    return writ_data.refusal('invalid_argument', 'A call records at most 10,000 checkpoints.');
  elsif exists (
    select from jsonb_to_recordset(p_checkpoints) c(log text) group by c.log having count(*) > 1
  ) then
    return writ_data.refusal('checkpoint_mismatch', 'one checkpoint of each log');
  end if;

  v_key := string_to_array(
    (select k.key from writ_data.ledger_key k order by k.key_no desc limit 1), '+'
  );

  -- A note has one line each for origin, size and root, then the signatures: the name of the key,
  -- and in base64 four bytes of its id and 64 of the signature.
  select coalesce(left(c.log, 200), 'none') into v_wrong
  from jsonb_to_recordset(p_checkpoints)
    c(log text, epoch integer, size bigint, root text, note text)
  left join writ_data.ledger_log l on l.log_id = c.log
  where l.log_id is null or l.epoch is distinct from c.epoch
    or coalesce(octet_length(c.note), 10001) > 10000
    or encode(writ_data.root_at(c.log, c.size), 'hex') is distinct from c.root
    or split_part(c.note, E'\n', 2) is distinct from c.size::text
    or split_part(c.note, E'\n', 3)
      is distinct from encode(writ_data.root_at(c.log, c.size), 'base64')
    or not starts_with(c.note, v_key[1] || '/')
    or not right(split_part(c.note, E'\n', 1), -length(v_key[1])) like '/%/' || c.epoch
    or not exists (
      select
      from regexp_split_to_table(split_part(c.note, E'\n\n', 2), E'\n') line
      cross join lateral decode(right(line, -length(v_key[1]) - 3), 'base64') signature
      where starts_with(line, '— ' || v_key[1] || ' ')
        and octet_length(signature) = 68 and left(encode(signature, 'hex'), 8) = v_key[2])
    or v_key is null
  limit 1;
  if found then
    return writ_data.refusal('checkpoint_mismatch', v_wrong);
  end if;

  insert into writ_data.ledger_checkpoint (log_id, epoch, size, root, note, at)
  select c.log, c.epoch, c.size, decode(c.root, 'hex'), c.note, writ.now()
  from rows from (
    jsonb_to_recordset(p_checkpoints)
      as (log text, epoch integer, size bigint, root text, note text)
  ) with ordinality c(log, epoch, size, root, note, n)
  where not exists (
    select from writ_data.ledger_checkpoint k
    where k.log_id = c.log and k.size = c.size and k.note = c.note)
  order by c.n;
  get diagnostics v_n = row_count;
  return jsonb_build_object('recorded', v_n);
exception when data_exception then
  return writ_data.refusal('checkpoint_mismatch', left(sqlerrm, 200));
end $$;
