-- A position for readers outside, who keep it and give it back: [era/]xid/fact.
create or replace function writ_data.position_text(p_position writ_data.record_position)
returns text
language sql immutable
return concat_ws('/',
  nullif((p_position).era, '00000000-0000-0000-0000-000000000000'),
  (p_position).xid, (p_position).fact
);
