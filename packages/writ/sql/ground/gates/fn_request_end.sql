-- Keeps the answer of a call that fn_request_begin has begun in the same transaction.
-- Callers: processes, writ_principal, writ_server, writ_admin
-- Answers: p_answer. A refusal is not kept, so the same call may be tried again.
-- Raises:  WR001 invalid_once if the caller has begun no such request, or it has an answer.
create or replace function writ.fn_request_end(
  p_key text,
  p_tenant_id text,
  p_once text,
  p_answer jsonb
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  v_who text := coalesce(writ_data.on_caller_named(p_key), '');
begin
  if p_answer -> 'refused' = 'true' then
    delete from writ_data.request r
    where r.login = session_user and r.principal_id = v_who
      and r.tenant_id = coalesce(p_tenant_id, '') and r.once = p_once and r.answer is null;
    return p_answer;
  elsif octet_length(p_answer::text) > 65536 then
    raise exception using
      errcode = 'WR001',
      message = 'invalid_once',
      detail = 'The answer of this call is too large to be kept.';
  end if;

  update writ_data.request r
  set answer = coalesce(p_answer, 'null')
  where r.login = session_user and r.principal_id = v_who
    and r.tenant_id = coalesce(p_tenant_id, '') and r.once = p_once and r.answer is null;
  if not found then
    raise exception using
      errcode = 'WR001',
      message = 'invalid_once',
      detail = 'No request has begun under this key.';
  end if;
  return coalesce(p_answer, 'null');
end $$;
