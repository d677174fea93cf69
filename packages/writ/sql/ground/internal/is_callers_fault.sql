-- Says whether an error may be the caller's fault: from deep inside functions of its own, a caller
-- can leave a gate as little of the stack as it likes. Such an error moves no row of others. The
-- row stays as it is until an engine of all tenants meets it.
create or replace function writ_data.is_callers_fault(p_sqlstate text) returns boolean
language plpgsql stable
as $$
begin
  return p_sqlstate = '54001'
    and not (writ_data.caller_has('writ_engine') and writ_data.caller_tenant() is null);
end $$;
