-- Whether a signal is as checkIncoming() in src/governor/incoming.ts makes them: a governor decides
-- about nothing else. Its size is bounded, and so is every number in it.
create or replace function writ_data.signal_is_well_formed(
  p_id text,
  p_signal jsonb
) returns boolean
language sql immutable parallel safe
return case jsonb_typeof(p_signal) when 'object' then
  -- Lengths by themselves: a bounded repetition in a pattern costs twenty times as much.
  length(p_id) between 1 and 200 and p_id !~ '[^ -~]' and p_id = btrim(p_id)
  and p_signal @> jsonb_build_object('kind', 'signal', 'signal_id', p_id)
  and p_signal ->> 'source' in ('monitoring', 'logging', 'billing', 'custom')
  and p_signal ->> 'severity' in ('CRITICAL', 'HIGH', 'MEDIUM', 'LOW')
  and length(p_signal ->> 'type') <= 100 and p_signal ->> 'type' ~ '^[a-z][a-z0-9_.:-]*$'
  and case jsonb_typeof(p_signal -> 'observed_at') when 'number'
    then (p_signal ->> 'observed_at')::numeric between 0 and 8640000000000000 end
  and case jsonb_typeof(coalesce(p_signal -> 'value', '0')) when 'number'
    then abs(coalesce(p_signal ->> 'value', '0')::numeric) <= 9007199254740991 end
  and case jsonb_typeof(coalesce(p_signal -> 'threshold', '0')) when 'number'
    then abs(coalesce(p_signal ->> 'threshold', '0')::numeric) <= 9007199254740991 end
  and length(coalesce(p_signal ->> 'correlation_id', 'none')) between 1 and 200
  and jsonb_typeof(coalesce(p_signal -> 'metadata', '{}')) = 'object'
  and octet_length(p_signal::text) <= 32768
  and p_signal - '{kind,signal_id,source,type,severity,value,threshold,observed_at,correlation_id,metadata}'::text[] = '{}'
end;
