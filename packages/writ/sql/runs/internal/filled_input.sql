-- The input that a template gives to a step of a run. A template may repeat a large value many
-- times, so its result has the bound that every input has.
-- Raises:  WR001 payload_too_large.
create or replace function writ_data.filled_input(
  p_template jsonb,
  p_run uuid,
  p_plan integer,
  p_input jsonb,
  p_item jsonb
) returns jsonb
language plpgsql stable
as $$
declare
  v_input jsonb := writ_data.fill(p_template, p_run, p_plan, p_input, p_item);
begin
  if octet_length(v_input::text) > (writ_data.setting('queue.payload.max_bytes'))::integer then
    raise exception using
      errcode = 'WR001',
      message = 'payload_too_large',
      detail = format(
        'The input of a step, filled in from its template, has %s bytes; '
        'queue.payload.max_bytes allows %s.',
        octet_length(v_input::text), writ_data.setting('queue.payload.max_bytes'));
  end if;
  return v_input;
end $$;
