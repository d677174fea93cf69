-- Events that governors have handled, in order, each with everything that its decision read:
-- `content` comes from the mailbox, `added` is the rest.
-- Callers: processes, readers
create or replace view writ.governor_event with (security_barrier) as
select
  g.tenant_id, g.sku_id, e.governor_id, e.event_seq, e.at, e.kind, e.from_state, e.state,
  e.mail_seq,
  m.at as arrived_at,
  m.arrival_seq, m.content,
  case jsonb_typeof(e.added::jsonb)
    when 'number' then jsonb_build_object('from', 'mailbox', 'decide', e.added::jsonb)
    else e.added::jsonb
  end as added
from writ_data.governor_event e
join writ_data.governor g on g.governor_id = e.governor_id
left join writ_data.governor_mail m on m.governor_id = e.governor_id and m.mail_seq = e.mail_seq
where (select writ.visible_tenant()) in ('', g.tenant_id);
