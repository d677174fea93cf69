-- Reads the events that a governor has handled, for a replay.
-- Callers: readers
-- Answers: the events after p_after, in order, up to p_limit (1 to 10000), each as one JSON
--          document with all that its decision read. An event whose mail was dropped with its
--          month is null.
create or replace function writ.fn_governor_events(
  p_governor_id uuid,
  p_after bigint,
  p_limit integer
) returns table (event_seq bigint, document text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
begin
  -- As text, because an answer may contain JSON that jsonb cannot store. Only the event that first
  -- handles a mail has its time of arrival; an event that was postponed does not.
  return query
    select
      e.event_seq,
      '{"event_seq":' || e.event_seq || ',"at":' || (extract(epoch from e.at) * 1000)::bigint
      || case when e.mail_seq is null then '' else ',"mail_seq":' || e.mail_seq end
      || case
        when e.mail_seq is null or e.added::jsonb ->> 'from' <> 'mailbox' then ''
        else ',"arrived_at":' || (extract(epoch from m.at) * 1000)::bigint
      end
      || case
        when e.mail_seq is null or e.kind in ('crash', 'mismatch') then ''
        else ',"content":' || (m.content || case
          when m.arrival_seq is null then '{}'
          else jsonb_build_object('kind', 'signal', 'arrival_seq', m.arrival_seq)
        end)::text
      end
      || ',' || case
        when e.added like '{%' then substr(e.added, 2)
        else '"decide":' || coalesce(e.added, '1') || ',"from":"mailbox"}'
      end
    from (
      select x.event_seq, x.at, x.kind, x.mail_seq, x.added
      from writ_data.governor_event x
      join writ_data.governor g
        on g.governor_id = x.governor_id and writ_data.visible(g.tenant_id)
      where x.governor_id = p_governor_id and x.event_seq > p_after
      order by x.event_seq
      limit least(greatest(coalesce(p_limit, 1000), 1), 10000)
    ) e
    left join writ_data.governor_mail m
      on m.governor_id = p_governor_id and m.mail_seq = e.mail_seq
    order by e.event_seq;
end $$;
