-- What the label of a step says of its effect key: nothing, or `,N` after N accepted RETRY_STEP
-- signals asked for a new key. Every other attempt has the key of the one before.
create or replace function writ_data.step_effect(
  p_run uuid,
  p_step_id text
) returns text
language plpgsql stable
set enable_seqscan = off
as $$
begin
  return (
    select ',' || nullif(count(*), 0)
    from writ_data.run_event e
    where e.run_id = p_run and e.step_id = 'RUN' and e.event_type = 'SignalAccepted'
      and e.data ->> 'type' = 'RETRY_STEP' and e.data ->> 'stepId' = p_step_id
      and e.data -> 'newEffectKey' = 'true');
end $$;
