-- Reads the receipts that settled signals.
-- Callers: writ_producer, writ_engine, readers
-- Answers: [{g, n, receipt}, or {g, n, as: 'buffered'} while the signal waits in the buffer of a
--          storm] for p_items [{g: governor, n: arrival_seq}]. The answer omits other signals.
-- Refuses: invalid_argument, if p_items is not a list of up to 10000.
create or replace function writ.fn_signals_settled(p_items jsonb) returns jsonb
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
begin
  if (jsonb_typeof(p_items) = 'array' and jsonb_array_length(p_items) <= 10000) is not true then
    return writ_data.refusal('invalid_argument', 'a list of up to 10000 signals');
  end if;

  return (
    select coalesce(
      jsonb_agg(jsonb_build_object('g', x.g, 'n', x.n) || case
        when r.entry is not null then jsonb_build_object('receipt', r.entry::jsonb)
        else '{"as": "buffered"}'
      end),
      '[]'
    )
    from (
      select
        writ_data.uuid_in(i.item, 'g') as g,
        case when i.item ->> 'n' ~ '^[0-9]{1,18}$' then (i.item ->> 'n')::bigint end as n
      from jsonb_array_elements(p_items) i(item)
      offset 0
    ) x
    join writ_data.governor g on g.governor_id = x.g and writ_data.visible(g.tenant_id)
    left join lateral (
      select t.entry
      from writ_data.governor_settled s
      join writ_data.receipt t on t.receipt_id = s.receipt_id and t.log_id = g.tenant_id
      where s.governor_id = x.g and s.arrival_seq = x.n
    ) r on true
    where r.entry is not null
      -- A run in the buffer is [place in the mailbox, arrival_seq, how many].
      or exists (
        select from jsonb_array_elements(coalesce(g.data #> '{storm,buffer}', '[]')) b
        where x.n >= (b ->> 1)::bigint and x.n < (b ->> 1)::bigint + (b ->> 2)::bigint
      )
  );
end $$;
