-- Whether a signal is as checkIncoming() in src/governor/incoming.ts makes them: a governor decides
-- about nothing else. Its size is bounded, and so is every number in it.
--
-- PostgreSQL puts this expression in the place of each call, because all functions in it are
-- immutable. One that is not, such as jsonb_build_object, would make a call three times as dear.
create or replace function writ_data.signal_is_well_formed(
  p_id text,
  p_signal jsonb
) returns boolean
language sql immutable parallel safe
return case jsonb_typeof(p_signal) when 'object' then
  -- Lengths by themselves: a bounded repetition in a pattern costs twenty times as much.
  length(p_id) between 1 and 200 and p_id !~ '^ |[^ -~]| $'
  and p_signal ->> 'kind' = 'signal'
  and p_signal ->> 'signal_id' = p_id
  and p_signal ->> 'source' in ('monitoring', 'logging', 'billing', 'custom')
  and p_signal ->> 'severity' in ('CRITICAL', 'HIGH', 'MEDIUM', 'LOW')
  and length(p_signal ->> 'type') <= 100 and p_signal ->> 'type' ~ '^[a-z][a-z0-9_.:-]*$'
  -- Only a number lies between two numbers.
  and p_signal -> 'observed_at' between '0' and '8640000000000000'
  and coalesce(p_signal -> 'value' between '-9007199254740991' and '9007199254740991', true)
  and coalesce(p_signal -> 'threshold' between '-9007199254740991' and '9007199254740991', true)
  and (not p_signal ? 'correlation_id' or jsonb_typeof(p_signal -> 'correlation_id') = 'string'
    and length(p_signal ->> 'correlation_id') between 1 and 200)
  and (not p_signal ? 'instance' or jsonb_typeof(p_signal -> 'instance') = 'string'
    and length(p_signal ->> 'instance') between 1 and 100)
  -- Without metadata the other bounds keep it short.
  and (not p_signal ? 'metadata' or jsonb_typeof(p_signal -> 'metadata') = 'object'
    and octet_length(p_signal::text) <= 32768)
  and p_signal - '{kind,signal_id,source,type,severity,value,threshold}'::text[]
    - '{observed_at,correlation_id,instance,metadata}'::text[] = '{}'
end;
