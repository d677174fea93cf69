-- Returns what is wrong with the template of a contract, if anything. {params: {name: bounds},
-- pre: {slot: bounds}, activations, cooldown_sec, expires_in_sec}; bounds are {min, max} for
-- numbers or {in: [...]}. pre has bounds for every slot: an undo restores nothing else.
create or replace function writ_data.wrong_with_template(p_content jsonb) returns text
language sql immutable
return case
  when jsonb_typeof(p_content -> 'template') is distinct from 'object'
    or (p_content -> 'template')
      - '{params,pre,activations,cooldown_sec,expires_in_sec}'::text[] <> '{}'
    then 'A template has params, pre, activations, cooldown_sec and expires_in_sec.'
  when coalesce(p_content #>> '{template,activations}', '') !~ '^[1-9][0-9]{0,5}$'
    or coalesce(p_content #>> '{template,expires_in_sec}', '') !~ '^[1-9][0-9]{0,8}$'
    or coalesce(p_content #>> '{template,cooldown_sec}', '0') !~ '^[0-9]{1,8}$'
    then 'A template says how often it may be activated (activations), how long'
      ' (expires_in_sec), and after which pause again (cooldown_sec).'
  when exists (
    select from jsonb_each(
      coalesce(p_content #> '{template,params}', '{}')
        || coalesce(p_content #> '{template,pre}', '{}')
    ) b
    where jsonb_typeof(b.value) <> 'object'
      or not (
        b.value ? 'min' and b.value ? 'max' and jsonb_typeof(b.value -> 'min') = 'number'
          and jsonb_typeof(b.value -> 'max') = 'number'
        or jsonb_typeof(b.value -> 'in') = 'array'
      )
  ) then 'Bounds are {min, max}, or {in: [...]}.'
  when jsonb_path_exists(p_content #> '{template,params}', 'lax $.**."$param"')
    then 'Bounds are values; they have no parameters.'
  else coalesce(
    writ_data.wrong_with_params(
      p_content -> 'steps', coalesce(p_content #> '{template,params}', '{}')
    ),
    (
      select format('A template says in pre what may stand at %s before.', min(s.slot))
      from writ_data.slots(p_content -> 'steps') s
      where not coalesce(p_content #> '{template,pre}', '{}') ? s.slot
      having count(*) > 0
    )
  )
end;
