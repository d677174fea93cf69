-- Evaluates the eligibility rules of a contract, those that block first: [{rule, passed, detail}].
-- An instance of a template is held to its template's own limits instead of E-006, and E-104 blocks
-- it only if something is unhealthy.
create or replace function writ_data.eligibility(
  c writ_data.contract,
  p_policy jsonb,
  p_at timestamptz
) returns jsonb
language plpgsql stable
as $$
declare
  v_names text[];
  v_unhealthy text;
  v_frozen text;
  v_blocked text;
  v_similar uuid;
begin
  v_names := array(
    select distinct coalesce(o.owner_capability, s.target)
    from writ_data.slots(c.steps) s
    left join writ_data.configuration_scope o on o.tenant_id = c.tenant_id and o.scope = s.target
  );

  select string_agg(format('%s is %s', h.capability, h.status), ', ')
  into v_unhealthy
  from unnest(v_names) u(name)
  cross join lateral writ_data.health_of(c.tenant_id, p_only => u.name) h
  where (h.status = 'UNHEALTHY' or h.status <> 'HEALTHY' and c.template_id is null);

  select string_agg(x.capability_name, ', ')
  into v_frozen
  from writ_data.capability x
  where x.tenant_id = c.tenant_id and x.capability_name = any (v_names) and x.frozen is not null;
  select string_agg(distinct g.scope, ', ')
  into v_blocked
  from writ_data.governance_signal g
  where g.tenant_id = c.tenant_id
    and g.scope = any (v_names || c.scope)
    and g.decision = 'BLOCKED'
    and g.superseded_at is null
    and coalesce(g.expires_at > p_at, true);
  if c.template_id is null then
    select x.contract_id
    into v_similar
    from writ_data.contract x
    where x.tenant_id = c.tenant_id
      and x.scope_hash = c.scope_hash
      and x.contract_id <> c.contract_id
      and x.status not in ('REJECTED', 'EXPIRED', 'DRAFT')
      and x.contract_id is distinct from c.parent_contract_id
      and x.created_at
        between p_at - make_interval(secs => (p_policy ->> 'similar_within_sec')::double precision)
        and p_at + make_interval(secs => (p_policy ->> 'similar_within_sec')::double precision)
    limit 1;
  end if;

  return (
    select jsonb_agg(
      jsonb_strip_nulls(jsonb_build_object('rule', r.rule, 'passed', r.passed, 'detail', r.detail))
      order by r.n
    )
    from (
      values
        (1, 'E-100', c.confidence >= 0.30, format('confidence is %s', c.confidence)),
        (
          2, 'E-101',
          c.risk_level <> 'critical' or c.escalated_by is not null,
          case
            when c.risk_level = 'critical'
              then coalesce('escalated by ' || c.escalated_by, 'critical risk has to be escalated')
          end
        ),
        (3, 'E-102', v_frozen is null, v_frozen),
        (
          4, 'E-103',
          not exists (
            select from jsonb_array_elements(c.steps) s
            where s ->> 'target' = 'SYSTEM' and s ->> 'step_type' not in ('signal_record', 'soak')
          ),
          null
        ),
        (5, 'E-104', v_unhealthy is null, v_unhealthy),
        (6, 'E-001', c.confidence >= 0.70, format('confidence is %s', c.confidence)),
        (
          7, 'E-002',
          (writ_data.wrong_with(c.tenant_id, c.scope, c.steps, c.template, c.constraints)).code
            is null,
          (writ_data.wrong_with(c.tenant_id, c.scope, c.steps, c.template, c.constraints)).detail
        ),
        (8, 'E-003', v_blocked is null, v_blocked),
        (
          9, 'E-004',
          exists (
            select from jsonb_array_elements(c.steps) s
            where s ->> 'step_type' not in ('signal_record', 'soak')
          ),
          null
        ),
        (10, 'E-005', p_policy -> 'sources' ? c.source, c.source),
        (11, 'E-006', v_similar is null, v_similar::text)
    ) r(n, rule, passed, detail)
  );
end $$;
