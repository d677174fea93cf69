-- Governors, one per tenant and product: their state, and its causes.
-- Callers: writ_principal, processes, readers
create or replace view writ.governor with (security_barrier) as
select
  g.governor_id, g.tenant_id, g.sku_id,
  coalesce(g.state, 'boot') as state,
  to_timestamp((g.data ->> 'since')::bigint / 1000.0) as state_since,
  g.data -> 'causes' as causes,
  g.data -> 'refusals' as refusals,
  g.data -> 'in_flight' as in_flight,
  coalesce(jsonb_array_length(g.data -> 'queue'), 0) as queued_actions,
  g.data -> 'over' as over_threshold,
  g.data -> 'entitlement' as entitlement,
  (g.data #>> '{policy,version}')::integer as policy_version,
  (g.data #>> '{policy,shadow}')::boolean as shadow,
  b.arrivals as signals,
  coalesce(
    (select sum((r ->> 2)::bigint) from jsonb_array_elements(g.data #> '{storm,buffer}') r),
    0
  )::bigint as buffered,
  coalesce(
    (select sum((r #>> '{held,2}')::bigint) from jsonb_array_elements(g.waiting -> 'postponed') r),
    0
  )::bigint as postponed,
  b.mails - g.mail_done as in_mailbox,
  g.events, g.receipts, g.due_at,
  g.waiting -> 'timers' as timers,
  g.last_at, g.created_by, g.created_at,
  g.data #>> '{policy,policy_id}' as policy_id,
  g.data -> 'cooling' as cooling,
  g.data -> 'awaiting_baseline' as awaiting_baseline,
  (g.data #>> '{bounds,attempts}')::integer as attempts,
  g.crash,
  case
    when b.mails > g.mail_done
      then (
        select m.at
        from writ_data.governor_mail m
        where m.governor_id = g.governor_id and m.mail_seq = g.mail_done + 1 and m.at >= g.mail_at
      )
  end as mail_since
from writ_data.governor g
join writ_data.governor_inbox b on b.governor_id = g.governor_id
where (select writ.visible_tenant()) in ('', g.tenant_id);
