-- What is wrong with a plan, in words; null if nothing is. Kinds have to be registered; reserved
-- ones are for plans that Writ makes itself, p_own.
create or replace function writ_data.wrong_with_plan(
  p_plan jsonb,
  p_own boolean
) returns text
language plpgsql stable
as $$
declare
  v_steps jsonb := p_plan -> 'steps';
  v_wrong text;
begin
  if jsonb_typeof(p_plan) is distinct from 'object'
    or p_plan - '{schemaVersion,planId,planVersion,onFailure,steps}'::text[] <> '{}'
    or p_plan -> 'schemaVersion' is distinct from '1'
    or coalesce(p_plan ->> 'planId', '') !~ '^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$'
    or coalesce(p_plan ->> 'planVersion', '') !~ '^[A-Za-z0-9][A-Za-z0-9_.+-]{0,39}$' then
    return 'A plan has a schemaVersion of 1, a planId, a planVersion, steps, and no other fields.';
  elsif coalesce(p_plan -> 'onFailure', '"fail"') not in ('"fail"', '"pause"') then
    return 'onFailure is fail or pause.';
  elsif jsonb_typeof(v_steps) is distinct from 'array'
    or jsonb_array_length(v_steps) not between 1 and writ_data.plan_limit('steps') then
    return format('A plan has 1 to %s steps.', writ_data.plan_limit('steps'));
  elsif jsonb_path_exists(p_plan, 'strict $.**{201}') then
    return 'A plan is nested at most 200 deep.';
  end if;

  select format('Step %s %s.', w.n, w.wrong) into v_wrong
  from (
    select s.n, writ_data.wrong_with_step(s.step) as wrong
    from jsonb_array_elements(v_steps) with ordinality s(step, n)) w
  where w.wrong is not null
  order by w.n limit 1;
  if v_wrong is not null then
    return v_wrong;
  end if;

  with step as materialized (
    select s.n, s.step ->> 'id' as id, s.step ->> 'type' as type, s.step ->> 'kind' as kind,
      s.step #>> '{compensate,kind}' as undo, coalesce(s.step -> 'after', '[]') as after
    from jsonb_array_elements(v_steps) with ordinality s(step, n)
  ), kind as (
    select s.id, k.kind
    from step s cross join lateral (values (s.kind), (s.undo)) k(kind)
    where k.kind is not null or s.type in ('job', 'each') and s.kind is null
  )
  select coalesce(
    (select format('Two steps are called %s.', id) from step group by id having count(*) > 1
      limit 1),
    (select format('Step %s comes after one that is not before it.', s.id)
      from step s cross join lateral jsonb_array_elements(s.after) a(id)
      where jsonb_typeof(a.id) <> 'string'
        or not exists (select from step b where b.id = a.id #>> '{}' and b.n < s.n)
      order by s.n limit 1),
    (select format('Step %s is a job of kind %s, which is reserved.', k.id, k.kind) from kind k
      where writ_data.reserved_kind(k.kind) and not p_own limit 1),
    (select format('Step %s is a job of kind %s, which nobody has registered.', k.id,
        coalesce(left(k.kind, 200), 'none'))
      from kind k
      where not exists (select from writ_data.job_kind j where j.job_kind = k.kind) limit 1))
  into v_wrong;
  return v_wrong;
end $$;
