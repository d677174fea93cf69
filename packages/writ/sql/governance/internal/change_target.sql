-- Changes a capability or a value, and locks its row, if it is as expected: by its value, or, for a
-- rollback, by its version. Answers what was found, and both versions; `as_expected` says whether
-- it was written. JSON null: no value.
create or replace function writ_data.change_target(
  p_tenant text,
  p_type text,
  p_target text,
  p_key text,
  p_expected jsonb,
  p_expected_version bigint,
  p_value jsonb,
  p_actor text,
  p_at timestamptz,
  out as_expected boolean,
  out was jsonb,
  out found_version bigint,
  out written_version bigint
)
language plpgsql
as $$
begin
  if starts_with(p_type, 'capability_') then
    select to_jsonb(c.lifecycle), c.version
    into was, found_version
    from writ_data.capability c
    where c.tenant_id = p_tenant and c.capability_name = p_target
    for no key update;
  else
    perform from writ_data.configuration_scope s
    where s.tenant_id = p_tenant and s.scope = p_target
    for key share;
    select v.value, v.version
    into was, found_version
    from writ_data.configuration v
    where v.tenant_id = p_tenant and v.scope = p_target and v.key = p_key
    for no key update;
  end if;

  was := coalesce(was, 'null');
  found_version := coalesce(found_version, 0);
  as_expected := case
    when p_expected_version is null then was = p_expected
    else found_version = p_expected_version
  end;
  if not as_expected then
    return;
  end if;
  written_version := nextval('writ_data.target_version') + 1;
  if starts_with(p_type, 'capability_') then
    update writ_data.capability
    set
      lifecycle = p_value #>> '{}',
      version = written_version,
      updated_by = p_actor,
      updated_at = p_at
    where tenant_id = p_tenant and capability_name = p_target;
  elsif p_value = 'null' then
    delete from writ_data.configuration
    where tenant_id = p_tenant and scope = p_target and key = p_key;
    written_version := 0;
  else
    insert into writ_data.configuration (
      tenant_id, scope, key, value, version, updated_by, updated_at
    ) values (p_tenant, p_target, p_key, p_value, written_version, p_actor, p_at)
    on conflict (tenant_id, scope, key)
      do update set
        value = excluded.value,
        version = excluded.version,
        updated_by = excluded.updated_by,
        updated_at = excluded.updated_at;
  end if;

  perform writ_data.tell_flags();
end $$;
