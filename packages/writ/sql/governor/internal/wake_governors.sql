-- Replaces the wake-ups of governors that have come by the times that a driver names. A governor
-- without a time keeps none, unless there is something left to do.
--
-- p_wakes is [{id, at}], in milliseconds, at most ten seconds ahead. Where something is left to do,
-- a driver waits for an answer (askingMs in src/governor/turn.ts): one second at most, and again
-- and again for at most ten seconds without an event of the governor. After that it stays due, so
-- that no driver keeps the others from it. p_after is the hint of fn_governors_take. Governors that
-- another driver holds, or of another tenant than p_tenant, are passed over.
create or replace function writ_data.wake_governors(
  p_wakes jsonb,
  p_tenant text,
  p_after timestamptz,
  p_now timestamptz
) returns void
language plpgsql
as $$
declare
  v_ids uuid[];
begin
  select array_agg(l.governor_id) into v_ids
  from (
    select g.governor_id
    from writ_data.governor g
    where g.governor_id = any (array(
        select x.id from jsonb_to_recordset(p_wakes) x(id uuid) limit 5000))
      and coalesce(p_tenant, g.tenant_id) = g.tenant_id
    order by g.governor_id
    for no key update skip locked
  ) l;

  with wake as materialized (
    select x.id, case when count(x.at) > 0
      then to_timestamp(greatest(min(x.at), 0) / 1000::float8) end as at
    from jsonb_to_recordset(p_wakes) x(id uuid, at bigint)
    where x.id = any (v_ids)
    group by x.id
  ), gone as (
    delete from writ_data.governor_due d
    where d.due_at between p_after and p_now and d.governor_id = any (v_ids)
    returning d.governor_id, d.since
  ), woken as (
    select
      w.id, w.at,
      g.due_at <= p_now or g.waiting -> 'queue' <> '[]' or b.mails > g.mail_done as left_over,
      -- An event since then ends the wait.
      (
        select min(o.since) from gone o
        where o.governor_id = w.id and o.since >= g.last_at
      ) as since
    from wake w
    join writ_data.governor g on g.governor_id = w.id
    join writ_data.governor_inbox b on b.governor_id = w.id
    offset 0
  )
  insert into writ_data.governor_due (due_at, governor_id, since)
  select
    case
      when w.left_over is not true then least(w.at, p_now + interval '10 seconds')
      when w.at is null or w.since < p_now - interval '10 seconds'
        then date_trunc('milliseconds', p_now)
      else least(w.at, p_now + interval '1 second')
    end,
    w.id,
    case when w.left_over then coalesce(w.since, p_now) end
  from woken w
  where w.at is not null or w.left_over;
end $$;
