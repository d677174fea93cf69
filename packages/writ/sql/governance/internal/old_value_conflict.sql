-- Describes the first step whose old_value differs from the value in place, or from the value that
-- the steps before it will have written; null if there is none. A step without old_value expects
-- nothing. JSON null: no value.
create or replace function writ_data.old_value_conflict(p_tenant text, p_steps jsonb) returns text
language plpgsql stable
as $$
begin
  if not jsonb_path_exists(p_steps, '$[*].parameters.old_value') then
    return null;
  end if;
  return (
    select format(
      'Step %s expects %s at %s, where %s stands.', x.step_no, left(x.expected::text, 200), x.slot,
      left(x.stands::text, 200)
    )
    from (
      select
        s.step_no, s.slot, o.expected,
        coalesce(
          (
            select b.value
            from writ_data.slots(p_steps) b
            where b.slot = s.slot and b.step_no < s.step_no
            order by b.step_no desc
            limit 1
          ),
          (
            select v.value
            from writ_data.configuration v
            where v.tenant_id = p_tenant and v.scope = s.target and v.key = s.key
          ),
          'null'
        ) as stands
      from writ_data.slots(p_steps) s
      cross join lateral (
        select p_steps #> array[(s.step_no - 1)::text, 'parameters', 'old_value'] as expected
      ) o
      where s.step_type = 'config_update' and o.expected is not null
    ) x
    where x.stands <> x.expected
    order by x.step_no
    limit 1
  );
end $$;
