-- internal
-- The lanes that a claim visits (of these kinds, from these priorities up), by tenant, priority and age, with each tenant's share of p_limit jobs: up to 64 tenants that have work, in the order of
-- their names from p_after on and then from the beginning. Of a kind with limits per key a tenant may have thousands of lanes, most of them
-- closed for the moment: of those a few dozen are looked at, beginning anywhere. Called by the claim, whose settings forbid plans that flip.
create or replace function writ_data.choose_lanes(p_kinds text[], p_floors smallint[], p_alone boolean, p_after text, p_limit integer, p_keyed boolean,
  out lanes bigint[], out heads bigint[], out firsts bigint[], out tenants text[], out kinds text[], out keys text[], out quotas integer[], out limited boolean[],
  out after text
) language plpgsql stable as $$
declare
  v_tenants integer := least(64, p_limit); v_count integer; v_weighted boolean; v_sum double precision; v_least double precision; v_priorities smallint[];
  v_lane bigint; v_head bigint; v_first bigint; v_tenant text; v_more boolean;
begin
  if cardinality(p_kinds) = 1 and not p_keyed and p_floors is null and p_after = '' then
    -- The ordinary queue: one lane.
    select l.lane_id, l.head, f.seq, l.tenant_id, exists (select from writ_data.lane o where o.job_kind = l.job_kind and o.lane_id <> l.lane_id)
    into v_lane, v_head, v_first, v_tenant, v_more
    from writ_data.lane l
    cross join lateral (select r.seq from writ_data.job_ready r where r.lane_id = l.lane_id and r.seq >= l.head order by r.seq limit 1) f
    where l.job_kind = p_kinds[1] and l.alone = p_alone order by l.tenant_id limit 1;
    if not found then
      return;
    elsif not v_more then
      lanes := array[v_lane]; heads := array[v_head]; firsts := array[v_first]; tenants := array[v_tenant]; kinds := p_kinds; keys := '{""}'; limited := '{f}';
      quotas := array[p_limit]; after := '';
      return;
    end if;
  end if;
  if p_keyed then
    select * into lanes, heads, firsts, tenants, kinds, keys, v_priorities, limited, v_count, v_weighted
    from writ_data.lanes_by_key(p_kinds, p_floors, p_alone, p_after, '', v_tenants);
    if p_after <> '' and coalesce(v_count, 0) < v_tenants then
      select lanes || x.lanes, heads || x.heads, firsts || x.firsts, tenants || x.tenants, kinds || x.kinds, keys || x.keys, limited || x.limited,
        coalesce(v_count, 0) + x.tenants_found
      into lanes, heads, firsts, tenants, kinds, keys, limited, v_count
      from writ_data.lanes_by_key(p_kinds, p_floors, p_alone, '', p_after, v_tenants - coalesce(v_count, 0)) x;
    end if;
    v_weighted := exists (select from writ_data.tenant_weight);
  else
    for v_pass in 1 .. 2 loop
      select lanes || array_agg(c.lane_id), heads || array_agg(c.head), firsts || array_agg(c.seq), tenants || array_agg(c.tenant_id), kinds || array_agg(c.job_kind),
        keys || array_agg(c.limit_key), limited || array_agg(false), coalesce(v_count, 0) + count(distinct c.tenant_id), exists (select from writ_data.tenant_weight)
      into lanes, heads, firsts, tenants, kinds, keys, limited, v_count, v_weighted
      from (
        select x.* from unnest(p_kinds, p_floors) k(kind, floor) cross join lateral (
          select l.lane_id, l.head, f.seq, l.tenant_id, l.job_kind, l.limit_key, l.priority
          from writ_data.lane l
          cross join lateral (select r.seq from writ_data.job_ready r where r.lane_id = l.lane_id and r.seq >= l.head order by r.seq limit 1) f
          where l.job_kind = k.kind and l.priority >= coalesce(k.floor, -32768) and l.tenant_id > case v_pass when 1 then p_after else '' end and l.alone = p_alone
            and (v_pass = 1 or l.tenant_id <= p_after)
          order by l.tenant_id, l.limit_key, l.priority desc limit v_tenants * 4) x
        order by x.tenant_id, x.priority desc, x.seq) c;
      exit when p_after = '' or v_count >= v_tenants;
    end loop;
  end if;
  after := '';
  if v_count > v_tenants or v_count = v_tenants and v_count > 1 or v_count = 1 and v_tenants = 1 then
    -- There may be more of them: this claim is for the first, the next begins after those.
    if v_count > v_tenants then
      select count(*) filter (where u.rank <= v_tenants) into v_count
      from (select dense_rank() over (order by g.first) as rank from (select t, min(n) over (partition by t) as first from unnest(tenants) with ordinality x(t, n)) g) u;
      lanes := lanes[:v_count]; tenants := tenants[:v_count];
      v_count := v_tenants;
    end if;
    after := tenants[cardinality(tenants)];
  end if;
  if v_count > 1 and v_weighted then
    select sum(coalesce(w.weight, 1)), max(coalesce(w.weight, 1)) into v_sum, v_least
    from (select distinct t from unnest(tenants) t) u left join writ_data.tenant_weight w on w.tenant_id = u.t;
    if p_limit >= 4 * v_count then
      select array_agg(greatest(1, ceil(p_limit * coalesce(w.weight, 1) / v_sum)::integer) order by u.n) into quotas
      from unnest(tenants) with ordinality u(t, n) left join writ_data.tenant_weight w on w.tenant_id = u.t;
    else
      -- Too few jobs to be divided by weight: who has less of it is visited less often instead.
      select array_agg(case when v.visited then greatest(1, p_limit / v_count) else 0 end order by u.n) into quotas
      from unnest(tenants) with ordinality u(t, n)
      join (select d.t, coalesce(w.weight, 1) = v_least or random() < coalesce(w.weight, 1) / v_least as visited
        from (select distinct t from unnest(tenants) t) d left join writ_data.tenant_weight w on w.tenant_id = d.t) v on v.t = u.t;
    end if;
  elsif v_count > 1 then
    quotas := array_fill(ceil(p_limit::double precision / v_count)::integer, array[cardinality(lanes)]);
  elsif v_count = 1 then
    quotas := array_fill(p_limit, array[cardinality(lanes)]);
  end if;
end $$;
