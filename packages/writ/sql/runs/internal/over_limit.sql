-- Says which of these starts are more than their tenants may have, by their places in p_runs from 0
-- on: what becomes of each, and for one that starts later, when. Requests that were made before are
-- not starts. Starts of a tenant that is limited wait for each other here, so that none is counted
-- twice.
-- p_runs:  as fn_run_start_many has it. p_tenant: that of runs that name none.
-- p_bound: the only tenant that the caller may touch. The gate reads and locks no rule of others.
-- Raises:  25000 (require_read_committed), where a rule limits one of these runs.
-- Locks:   the rules of the tenants.
create or replace function writ_data.over_limit(
  p_runs jsonb,
  p_tenant text,
  p_bound text,
  p_at timestamptz,
  out places integer[],
  out policies text[],
  out times timestamptz[]
)
language plpgsql
set enable_seqscan = off
as $$
begin
  if not exists (select from writ_data.admission) then
    return;
  end if;

  perform from writ_data.admission a
  where a.tenant_id = '*' or a.tenant_id in (
    select coalesce(r ->> 'tenant', p_tenant) from jsonb_array_elements(p_runs) r
    where coalesce(r ->> 'tenant', p_tenant) = coalesce(p_bound, r ->> 'tenant', p_tenant))
  order by a.tenant_id
  for update;
  if not found then
    return;
  end if;
  perform writ_data.require_read_committed();

  with start as (
    select i.n - 1 as place, coalesce(i.run ->> 'tenant', p_tenant) as tenant,
      row_number() over (partition by coalesce(i.run ->> 'tenant', p_tenant) order by i.n) as nth
    from jsonb_array_elements(p_runs) with ordinality i(run, n)
    where coalesce(i.run ->> 'engine', 'native') = 'native'
      and coalesce(i.run ->> 'tenant', p_tenant) = coalesce(p_bound, i.run ->> 'tenant', p_tenant)
      and not (i.run ? 'request_id' and exists (
        select from writ_data.run_request q
        where q.request_sha256 = sha256(convert_to(json_build_array(
          coalesce(i.run ->> 'tenant', p_tenant), coalesce(i.run ->> 'project', 'default'),
          coalesce(i.run ->> 'environment', 'default'), i.run ->> 'plan_id',
          i.run ->> 'plan_version', i.run ->> 'request_id')::text, 'UTF8'))))
  ), tenant as materialized (
    select t.tenant, a.policy, a.max_running, a.max_pending, a.delay_ms,
      (select count(*) from (
        select from writ_data.run r
        where r.tenant_id = t.tenant and r.status in ('RUNNING', 'PAUSED')
        limit a.max_running) x) as running,
      (select count(*) from (
        select from writ_data.run r
        where r.tenant_id = t.tenant and r.status = 'PENDING' and r.engine = 'native'
        limit a.max_pending) x) as pending
    from (select distinct s.tenant from start s) t
    join lateral (
      select * from writ_data.admission x
      where x.tenant_id in (t.tenant, '*')
      order by x.tenant_id = '*' limit 1) a on true
  )
  -- A run that waits already comes first: a new one does not pass those that are queued.
  select array_agg(s.place),
    array_agg(case
      when t.policy = 'REJECT'
        or t.pending + s.nth - greatest(t.max_running - t.running, 0) > t.max_pending then 'REJECT'
      else t.policy end),
    array_agg(case when t.policy = 'DELAY' then p_at + t.delay_ms * interval '1 millisecond' end)
  into places, policies, times
  from start s join tenant t on t.tenant = s.tenant
  where t.running + s.nth > t.max_running or t.policy = 'QUEUE' and t.pending > 0;
end $$;
