-- Returns lanes with work, of kinds with limits, of the next p_tenants tenants whose names come
-- after p_after and, unless p_upto is empty, not after p_upto. Of each kind and tenant it returns
-- some dozens, beginning at any key, so that every key has its turn though most of them may be at
-- their limit. With p_tenant, it returns lanes of that tenant alone. `last` is the name after which
-- the next call continues; null if there is none.
create or replace function writ_data.lanes_by_key(
  p_kinds text[],
  p_floors smallint[],
  p_alone boolean,
  p_after text,
  p_upto text,
  p_tenants integer,
  p_tenant text default null,
  out lanes bigint[],
  out heads bigint[],
  out firsts bigint[],
  out tenants text[],
  out kinds text[],
  out keys text[],
  out limited boolean[],
  out priorities smallint[],
  out tenants_found integer,
  out last text
)
language plpgsql stable
as $$
declare
  v_names text[];
  v_pivot text := md5(random()::text);
begin
  if p_tenant is not null then
    v_names := array[p_tenant];
  else
    with recursive next as (
      select
        (
          select min(x.tenant_id)
          from unnest(p_kinds, p_floors) k(kind, floor)
          cross join lateral (
            select l.tenant_id
            from writ_data.lane l
            where l.job_kind = k.kind
              and l.priority >= coalesce(k.floor, -32768)
              and l.tenant_id > p_after
              and l.alone = p_alone
            order by l.tenant_id
            limit 1
          ) x
        ) as tenant,
        1 as n
      union all
      select
        (
          select min(x.tenant_id)
          from unnest(p_kinds, p_floors) k(kind, floor)
          cross join lateral (
            select l.tenant_id
            from writ_data.lane l
            where l.job_kind = k.kind
              and l.priority >= coalesce(k.floor, -32768)
              and l.tenant_id > next.tenant
              and l.alone = p_alone
            order by l.tenant_id
            limit 1
          ) x
        ),
        n + 1
      from next
      where next.tenant is not null and n < p_tenants
    )
    select array_agg(tenant order by n)
    into v_names
    from next
    where tenant is not null and (p_upto = '' or tenant <= p_upto);
    last := v_names[p_tenants];
  end if;

  select
    array_agg(c.lane_id),
    array_agg(c.head),
    array_agg(c.seq),
    array_agg(c.tenant_id),
    array_agg(c.job_kind),
    array_agg(c.limit_key),
    array_agg(c.limited),
    array_agg(c.priority),
    count(distinct c.tenant_id)
  into lanes, heads, firsts, tenants, kinds, keys, limited, priorities, tenants_found
  from (
    select
      u.n, l.*, f.seq, f.part,
      k.limit_concurrency is not null or k.limit_rate is not null as limited
    from unnest(v_names) with ordinality u(t, n)
    cross join unnest(p_kinds, p_floors) kk(kind, floor)
    join writ_data.job_kind k on k.job_kind = kk.kind
    cross join lateral (
      (
        select *
        from writ_data.lane x
        where x.job_kind = kk.kind
          and x.priority >= coalesce(kk.floor, -32768)
          and x.tenant_id = u.t
          and x.alone = p_alone
          and x.limit_key = ''
        order by x.priority desc
        limit 32
      )
      union all
      -- Hash order, so every starting point is equally likely, whatever the keys look like.
      (
        select y.*
        from (
          (
            select *
            from writ_data.lane x
            where x.job_kind = kk.kind
              and x.priority >= coalesce(kk.floor, -32768)
              and x.tenant_id = u.t
              and x.alone = p_alone
              and x.limit_key <> ''
              and md5(x.limit_key) >= v_pivot
            order by md5(x.limit_key), x.priority desc
            limit 64
          )
          union all
          (
            select *
            from writ_data.lane x
            where x.job_kind = kk.kind
              and x.priority >= coalesce(kk.floor, -32768)
              and x.tenant_id = u.t
              and x.alone = p_alone
              and x.limit_key <> ''
              and md5(x.limit_key) < v_pivot
            order by md5(x.limit_key), x.priority desc
            limit 64
          )
        ) y
        limit 64
      )
    ) l
    cross join lateral (
      select r.seq, r.part
      from writ_data.job_ready r
      where r.lane_id = l.lane_id and r.seq >= l.head
      order by r.seq, r.part
      limit 1
    ) f
    order by u.n, l.priority desc, f.seq, f.part
  ) c;
end $$;
