-- Which of these kinds a worker may claim, and from which priority up; in the given order. A
-- worker, known by its name or by the name of its lease, that nobody has limited may claim all of
-- them. A subscription limits no reserved kind: it leaves no receipt, so it must not keep changes,
-- verifications and rollbacks from their applier.
create or replace function writ_data.subscribed_kinds(
  p_holder text,
  p_lease_name text,
  p_kinds text[]
) returns table (job_kind text, priority_floor smallint)
language plpgsql stable
rows 10
as $$
begin
  if not exists (
    select from writ_data.job_subscription s
    where s.executor_id = any (array[p_holder, p_lease_name])
  ) then
    return query select k.kind, (-32768)::smallint from unnest(p_kinds) k(kind);
    return;
  end if;

  return query
  select k.kind, coalesce(min(s.priority_floor), -32768)::smallint
  from unnest(p_kinds) with ordinality k(kind, n)
  join writ_data.job_kind d on d.job_kind = k.kind
  cross join lateral (select writ_data.reserved_kind(d.job_kind) as reserved) w
  left join writ_data.job_subscription s
    on not w.reserved
    and s.executor_id = any (array[p_holder, p_lease_name])
    and coalesce(s.job_kind, d.job_kind) = d.job_kind
    and coalesce(s.event_domain, d.event_domain) = d.event_domain
  where w.reserved or s.executor_id is not null
  group by k.kind, k.n
  order by k.n;
end $$;
