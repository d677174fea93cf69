-- Formats an event for a destination as a JSON array: id, type, subject, tenant, milliseconds since
-- 1970, actor, number in its run, step, logical attempt, engine's attempt, data, and its place in a
-- trace if it has one. Types, steps and attempts have no character that JSON would escape. An event
-- that belongs to no run has p_details, as its call recorded them; where these have codes, the code
-- of this subject, as the view event_outbox shows it.
create or replace function writ_data.outbox_event(
  p_id uuid,
  p_type text,
  p_subject uuid,
  p_tenant text,
  p_at timestamptz,
  p_actor text,
  p_seq integer,
  p_step text,
  p_attempt text,
  p_engine_attempt integer,
  p_data jsonb,
  p_details jsonb,
  p_trace text
) returns text
language sql stable
return concat(
  '["', p_id, '","', p_type, '","', p_subject, '",', coalesce(to_json(p_tenant)::text, 'null'), ',',
  (date_part('epoch', p_at) * 1000)::bigint, ',', to_json(p_actor), ',',
  case
    when p_seq is null
      then concat(
        'null,null,null,null,',
        case
          when p_details ? 'each' then coalesce(p_details -> 'each' -> p_subject::text, '{}')
          when p_details ? 'codes'
            then jsonb_strip_nulls(jsonb_build_object(
              'code', p_details -> 'codes' -> p_subject::text
            ))
          else coalesce(p_details, '{}')
        end
      )
    else concat(
      p_seq, ',"', p_step, '","', p_attempt, '",', coalesce(p_engine_attempt::text, 'null'), ',',
      p_data
    )
  end,
  ',"' || p_trace || '"', ']'
);
