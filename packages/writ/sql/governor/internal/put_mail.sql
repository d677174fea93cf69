-- Puts one thing into each of several mailboxes. Locks their rows, in order. Wakes the drivers, so
-- use it only for rare mail.
create or replace function writ_data.put_mail(
  p_governors uuid[],
  p_contents jsonb[],
  p_at timestamptz
) returns void
language plpgsql
as $$
begin
  perform writ_data.open_governor_month(p_at);
  perform from writ_data.governor_inbox b
  where b.governor_id = any (p_governors)
  order by b.governor_id
  for no key update;
  with counted as (
    update writ_data.governor_inbox b
    set mails = b.mails + 1, last_at = greatest(b.last_at, date_trunc('milliseconds', p_at))
    from unnest(p_governors, p_contents) u(id, content)
    where b.governor_id = u.id
    returning b.governor_id, b.mails, b.last_at, u.content
  ), put as (
    insert into writ_data.governor_mail (governor_id, mail_seq, at, content)
    select c.governor_id, c.mails, c.last_at, c.content
    from counted c
  )
  insert into writ_data.governor_due (due_at, governor_id)
  select date_trunc('milliseconds', p_at), c.governor_id
  from counted c;

  perform pg_notify('governor_due', '');
end $$;
