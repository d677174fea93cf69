-- The signals that wait for a governor, in runs: the first places of each run, in the mailbox and
-- among the signals, and its length.
create or replace function writ_data.held_signals(
  p_data jsonb,
  p_waiting jsonb
) returns table (mail_seq bigint, arrival_seq bigint, n bigint)
language sql immutable
begin atomic
  select (r.run ->> 0)::bigint, (r.run ->> 1)::bigint, (r.run ->> 2)::bigint
  from (
    select b.run
    from jsonb_array_elements(case jsonb_typeof(p_data #> '{storm,buffer}')
      when 'array' then p_data #> '{storm,buffer}' else '[]' end) b(run)
    union all
    select q.pending -> 'held'
    from jsonb_array_elements(coalesce(p_waiting -> 'queue', '[]')
      || coalesce(p_waiting -> 'postponed', '[]')) q(pending)
    where q.pending ? 'held'
  ) r;
end;
