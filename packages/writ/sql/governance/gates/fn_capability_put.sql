-- Makes capabilities and configuration known, or changes how governance treats them.
-- Callers: writ_principal, writ_server
-- p_items: 1 to 1000 of {capability_name, domain, lifecycle, monitored, frozen, disqualified} or
--          {scope, owner_capability, values}, with 4 MB at most, and 16 KB each beside the values.
--          A call sets lifecycle and values only for a new capability or scope. Applications read
--          an existing one, so only a contract changes its lifecycle or values, or adds a value.
--          While a contract holds a scope or a capability, nothing may loosen what the contract's
--          job is checked against: the owner of a scope; and of a capability that is held or owns
--          a held scope, its domain, `monitored`, and `disqualified` unless it gets another text.
-- Answers: {put}. Each change leaves a receipt with its principal and login.
-- Refuses: change_needs_a_contract, target_held, invalid_target, value_not_canonical, and what
--          may() refuses (right: operate). A refused call changes nothing.
-- Locks:   the scopes and capabilities, against activations and steps that look at them.
create or replace function writ.fn_capability_put(
  p_key text,
  p_items jsonb,
  p_tenant_id text default 'default'
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := writ.now();
  m record;
  v_who text;
  v_item jsonb;
  v_name text;
  v_before jsonb;
  v_after jsonb;
  v_n integer := 0;
  v_detail text;
begin
  m := writ_data.may(p_key, 'operate', p_tenant_id);
  if m.refusal is not null then
    return m.refusal;
  elsif jsonb_typeof(p_items) is distinct from 'array'
    or jsonb_array_length(p_items) not between 1 and 1000
  then
    return writ_data.refusal('invalid_target', 'One to a thousand items are put at once.');
  elsif octet_length(p_items::text) > 4194304 then
    return writ_data.refusal('invalid_target', 'All items together have 4 MB at most.');
  elsif exists (
    select from jsonb_array_elements(p_items) i where octet_length((i - 'values')::text) > 16384
  ) then
    return writ_data.refusal('invalid_target', 'An item has 16 KB at most beside its values.');
  end if;
  v_detail := writ_data.inexact_number(p_items);
  if v_detail is not null then
    return writ_data.refusal('value_not_canonical', v_detail);
  elsif exists (
    select from jsonb_array_elements(p_items) i
    cross join jsonb_object_keys(
      case jsonb_typeof(i -> 'values') when 'object' then i -> 'values' else '{}' end
    ) k
    where k is not nfc normalized
  ) then
    return writ_data.refusal(
      'invalid_target', 'A key of a value is not in the Unicode normal form NFC.'
    );
  end if;
  v_who := (m.who).principal_id;

  for v_item in select jsonb_array_elements(p_items) loop
    v_n := v_n + 1;
    v_name := coalesce(v_item ->> 'scope', v_item ->> 'capability_name');
    v_before := null;
    if v_item ? 'scope' then
      select jsonb_build_object('owner_capability', s.owner_capability)
      into v_before
      from writ_data.configuration_scope s
      where s.tenant_id = p_tenant_id and s.scope = v_name
      for update;
      v_after := writ_data.put_scope(p_tenant_id, v_item, v_before is null, v_who, v_now);
    else
      -- Only the call that inserts it has no value before: verification refuses a second one.
      insert into writ_data.capability as c (
        tenant_id, capability_name, domain, lifecycle, monitored, frozen, disqualified,
        updated_by, updated_at
      ) values (
        p_tenant_id, v_name, coalesce(v_item ->> 'domain', 'default'),
        coalesce(v_item ->> 'lifecycle', 'DISABLED'),
        coalesce((v_item ->> 'monitored')::boolean, false), v_item ->> 'frozen',
        v_item ->> 'disqualified', v_who, v_now
      )
      on conflict do nothing
      returning to_jsonb(c) - '{tenant_id,version,updated_by,updated_at}'::text[] into v_after;
      if not found then
        select to_jsonb(c) - '{tenant_id,version,updated_by,updated_at}'::text[]
        into v_before
        from writ_data.capability c
        where c.tenant_id = p_tenant_id and c.capability_name = v_name
        for update; -- after the steps that have seen it unfrozen
        if v_before ->> 'lifecycle' <> v_item ->> 'lifecycle' then
          raise exception using errcode = 'WR001', message = 'change_needs_a_contract',
            detail = v_name;
        elsif v_before ->> 'domain' <> v_item ->> 'domain'
          or v_before ->> 'monitored' = 'true' and not (v_item ->> 'monitored')::boolean
          or v_before ->> 'disqualified' is not null
            and v_item ? 'disqualified' and v_item ->> 'disqualified' is null
        then
          v_detail := writ_data.held_target(p_tenant_id, v_name);
          if v_detail is not null then
            raise exception using errcode = 'WR001', message = 'target_held',
              detail = format('%s: the health of %s decides whether the change may go on.',
                v_detail, v_name);
          end if;
        end if;
        update writ_data.capability c
        set domain = coalesce(v_item ->> 'domain', c.domain),
          monitored = coalesce((v_item ->> 'monitored')::boolean, c.monitored),
          frozen = case when v_item ? 'frozen' then v_item ->> 'frozen' else c.frozen end,
          disqualified = case when v_item ? 'disqualified' then v_item ->> 'disqualified'
            else c.disqualified end
        where c.tenant_id = p_tenant_id and c.capability_name = v_name
        returning to_jsonb(c) - '{tenant_id,version,updated_by,updated_at}'::text[] into v_after;
      end if;
    end if;
    if v_after is distinct from v_before then
      perform writ_data.on_control_changed(
        p_tenant_id, case when v_item ? 'scope' then 'configuration_scope' else 'capability' end,
        v_name, v_before, v_after, v_who, v_now
      );
    end if;
  end loop;

  perform writ_data.tell_flags();
  perform writ_data.record('fn_capability_put', v_who, v_now, '{}', '{}', '{}', '{}', p_items);
  return jsonb_build_object('put', v_n);
exception
  when integrity_constraint_violation or data_exception then
    return writ_data.refusal('invalid_target', sqlerrm);
  when sqlstate 'WR001' then
    get stacked diagnostics v_detail = pg_exception_detail;
    return writ_data.refusal(sqlerrm, v_detail);
end $$;
