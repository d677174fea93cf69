-- What is wrong with the template of a contract, if anything. {params: {name: bounds}, pre: {slot: bounds}, activations, cooldown_sec, expires_in_sec}; bounds are {min, max} for numbers or {in: [...]}. Its steps name parameters as {"$param": name} in place of a new value, and each of them is bounded.
create or replace function writ_data.wrong_with_template(p_content jsonb) returns text language sql immutable
  return case
    when jsonb_typeof(p_content -> 'template') is distinct from 'object' or (p_content -> 'template') - '{params,pre,activations,cooldown_sec,expires_in_sec}'::text[] <> '{}' then 'A template has params, pre, activations, cooldown_sec and expires_in_sec.'
    when coalesce(p_content #>> '{template,activations}', '') !~ '^[1-9][0-9]{0,5}$' or coalesce(p_content #>> '{template,expires_in_sec}', '') !~ '^[1-9][0-9]{0,8}$' or coalesce(p_content #>> '{template,cooldown_sec}', '0') !~ '^[0-9]{1,8}$'
      then 'A template says how often it may be activated (activations), how long (expires_in_sec), and after which pause again (cooldown_sec).'
    when exists (select from jsonb_each(coalesce(p_content #> '{template,params}', '{}') || coalesce(p_content #> '{template,pre}', '{}')) b where jsonb_typeof(b.value) <> 'object' or not (b.value ? 'min' and b.value ? 'max' and jsonb_typeof(b.value -> 'min') = 'number' and jsonb_typeof(b.value -> 'max') = 'number' or jsonb_typeof(b.value -> 'in') = 'array'))
      then 'Bounds are {min, max}, or {in: [...]}.'
    when exists (select from jsonb_path_query(p_content -> 'steps', 'lax $.**."$param"') r where not coalesce(p_content #> '{template,params}', '{}') ? (r #>> '{}')) then 'A parameter has no bounds.'
  end;
