-- Returns the lanes that a claim visits, by tenant, priority and age, with each tenant's share of
-- p_limit jobs. They are lanes of these kinds, from these priorities up, of at most 64 tenants that
-- have work: in the order of their names after p_after, then from the beginning; from anywhere if
-- p_after is null. `after` is the last of these tenants if there may be more. A tenant may have
-- thousands of lanes of a kind with limits per key, most of them closed for the moment; the claim
-- looks at some dozens of them, beginning at any key. Called by fn_job_claim_many, whose settings
-- forbid plans that flip.
create or replace function writ_data.choose_lanes(
  p_kinds text[],
  p_floors smallint[],
  p_alone boolean,
  p_after text,
  p_limit integer,
  p_keyed boolean,
  p_tenant text,
  out lanes bigint[],
  out heads bigint[],
  out firsts bigint[],
  out tenants text[],
  out kinds text[],
  out keys text[],
  out quotas integer[],
  out limited boolean[],
  out priorities smallint[],
  out after text
)
language plpgsql stable
as $$
declare
  v_weighted boolean;
  v_tenants integer;                -- how many tenants to look for
  v_count integer := 0;             -- tenants found
  v_seen integer := 0;              -- lanes found
  v_from text;
  v_upto text := '';
  v_chance double precision;
  look record;                      -- lanes of kinds with limits per key (lanes_by_key)

  -- The only lane that has work.
  v_lane bigint;
  v_head bigint;
  v_first bigint;
  v_tenant text;
  v_priority smallint;
  v_more boolean;
begin
  after := '';
  if p_tenant is not null then
    -- The caller may claim for one tenant only.
    look := writ_data.lanes_by_key(p_kinds, p_floors, p_alone, '', '', 1, p_tenant);
    lanes := look.lanes;
    heads := look.heads;
    firsts := look.firsts;
    tenants := look.tenants;
    kinds := look.kinds;
    keys := look.keys;
    limited := look.limited;
    priorities := look.priorities;
    quotas := array_fill(p_limit, array[coalesce(cardinality(lanes), 0)]);
    return;
  end if;

  if cardinality(p_kinds) = 1 and not p_keyed and p_floors is null and coalesce(p_after, '') = ''
  then
    -- The ordinary queue: one lane has work.
    select
      l.lane_id, l.head, f.seq, l.tenant_id, l.priority,
      exists (
        select from writ_data.lane o
        where o.job_kind = l.job_kind
          and o.lane_id <> l.lane_id
          and o.alone = l.alone
          and exists (
            select from writ_data.job_ready r where r.lane_id = o.lane_id and r.seq >= o.head
          )
      )
    into v_lane, v_head, v_first, v_tenant, v_priority, v_more
    from writ_data.lane l
    cross join lateral (
      select r.seq
      from writ_data.job_ready r
      where r.lane_id = l.lane_id and r.seq >= l.head
      order by r.seq
      limit 1
    ) f
    where l.job_kind = p_kinds[1] and l.alone = p_alone
    order by l.tenant_id
    limit 1;
    if not found then
      return;
    elsif not v_more then
      lanes := array[v_lane];
      heads := array[v_head];
      firsts := array[v_first];
      tenants := array[v_tenant];
      kinds := p_kinds;
      keys := '{""}';
      limited := '{f}';
      priorities := array[v_priority];
      quotas := array[p_limit];
      return;
    end if;
  end if;

  v_weighted := exists (select from writ_data.tenant_weight);

  -- Tenants of unequal weight, or at their limits, are not each visited in turn, so the claim looks
  -- at more of them.
  v_tenants := case when p_keyed or v_weighted then 64 else least(64, p_limit) end;
  if p_after is null then
    -- The caller does not say where to begin, so it begins anywhere.
    p_after := coalesce(
      (
        select l.tenant_id
        from writ_data.lane l
        where l.lane_id >= (select floor(random() * (max(m.lane_id) + 1)) from writ_data.lane m)
        order by l.lane_id
        limit 1
      ),
      ''
    );
  end if;

  -- Look for lanes after p_after, then from the beginning.
  v_from := p_after;
  if p_keyed then
    for v_look in 1 .. 8 loop
      look := writ_data.lanes_by_key(p_kinds, p_floors, p_alone, v_from, v_upto, 64);
      lanes := lanes || look.lanes;
      heads := heads || look.heads;
      firsts := firsts || look.firsts;
      tenants := tenants || look.tenants;
      kinds := kinds || look.kinds;
      keys := keys || look.keys;
      limited := limited || look.limited;
      priorities := priorities || look.priorities;
      v_count := v_count + look.tenants_found;
      if look.last is not null then
        v_from := look.last;
        after := look.last;
      else
        after := '';
        exit when v_upto <> '' or p_after = '';
        v_from := '';
        v_upto := p_after;
      end if;
      exit when v_count >= v_tenants;
    end loop;
  else
    for v_pass in 1 .. 2 loop
      select
        lanes || array_agg(c.lane_id),
        heads || array_agg(c.head),
        firsts || array_agg(c.seq),
        tenants || array_agg(c.tenant_id),
        kinds || array_agg(c.job_kind),
        keys || array_agg(c.limit_key),
        limited || array_agg(false),
        priorities || array_agg(c.priority),
        v_count + count(distinct c.tenant_id)
      into lanes, heads, firsts, tenants, kinds, keys, limited, priorities, v_count
      from (
        select x.*
        from unnest(p_kinds, p_floors) k(kind, floor)
        cross join lateral (
          select l.lane_id, l.head, f.seq, f.part, l.tenant_id, l.job_kind, l.limit_key, l.priority
          from writ_data.lane l
          cross join lateral (
            select r.seq, r.part
            from writ_data.job_ready r
            where r.lane_id = l.lane_id and r.seq >= l.head
            order by r.seq, r.part
            limit 1
          ) f
          where l.job_kind = k.kind
            and l.priority >= coalesce(k.floor, -32768)
            and l.tenant_id > case v_pass when 1 then p_after else '' end
            and l.alone = p_alone
            and (v_pass = 1 or l.tenant_id <= p_after)
          order by l.tenant_id, l.limit_key, l.priority desc
          limit v_tenants * 4
        ) x
        -- Jobs of one call may stand in two lanes after they went back.
        order by x.tenant_id, x.priority desc, x.seq, x.part
      ) c;
      if cardinality(lanes) - v_seen >= v_tenants * 4 then
        -- There may be more lanes of some kind than these. The claim visits no tenant after the one
        -- up to which it has seen all lanes.
        select min(m.last)
        into after
        from (
          select max(u.t) as last
          from unnest(kinds[v_seen + 1:], tenants[v_seen + 1:]) u(k, t)
          group by u.k
          having count(*) >= v_tenants * 4
        ) m;
        if after is not null then
          select max(u.n)
          into v_seen
          from unnest(tenants) with ordinality u(t, n)
          where u.t = choose_lanes.after;
          lanes := lanes[:v_seen];
          tenants := tenants[:v_seen];
          select count(distinct u.t) into v_count from unnest(tenants) u(t);
          exit;
        end if;

        after := '';
      end if;

      v_seen := coalesce(cardinality(lanes), 0);
      exit when p_after = '' or v_count >= v_tenants;
    end loop;

    if v_count = v_tenants then
      after := tenants[cardinality(tenants)];
    end if;
  end if;

  if v_count > v_tenants then
    -- This claim is for the first tenants; the next begins after them.
    select count(*) filter (where u.rank <= v_tenants)
    into v_seen
    from (
      select dense_rank() over (order by g.first) as rank
      from (
        select t, min(n) over (partition by t) as first from unnest(tenants) with ordinality x(t, n)
      ) g
    ) u;
    lanes := lanes[:v_seen];
    tenants := tenants[:v_seen];
    v_count := v_tenants;
    after := tenants[v_seen];
  end if;

  if v_count > 1 and v_weighted then
    -- The shares add up to the whole, and chance decides only about fractions, so that each tenant
    -- gets its share on average.
    v_chance := random();
    select array_agg(
      (floor(s.upto + v_chance) - floor(s.upto - s.part + v_chance))::integer order by u.n
    )
    into quotas
    from unnest(tenants) with ordinality u(t, n)
    join (
      select g.t, g.part, sum(g.part) over (order by g.first) as upto
      from (
        select
          d.t, d.first,
          p_limit * coalesce(w.weight, 1) / sum(coalesce(w.weight, 1)) over () as part
        from (
          select y.t, min(y.n) as first from unnest(tenants) with ordinality y(t, n) group by y.t
        ) d
        left join writ_data.tenant_weight w on w.tenant_id = d.t
      ) g
    ) s on s.t = u.t;
  elsif v_count > 1 then
    quotas := array_fill(
      ceil(p_limit::double precision / v_count)::integer,
      array[cardinality(lanes)]
    );
  elsif v_count = 1 then
    quotas := array_fill(p_limit, array[cardinality(lanes)]);
  end if;
end $$;
