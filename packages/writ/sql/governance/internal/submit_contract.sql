-- Validates and qualifies a contract as far as it gets: DRAFT → VALIDATED → ELIGIBLE. What can
-- never pass is rejected; what may pass later (health, a freeze, a missing escalation) stays
-- VALIDATED, and can be submitted again. Asks an applier to read the values outside the database.
-- The caller has locked the contract.
create or replace function writ_data.submit_contract(
  p_contract uuid,
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
as $$
declare
  c writ_data.contract;
  v_policy record;
  v_wrong record;
  v_rules jsonb;
  v_failed text;   -- rules that it does not pass
  v_never text;    -- those of them that no time and no decision changes
begin
  select * into c from writ_data.contract where contract_id = p_contract;
  v_policy := writ_data.governance_policy_of(c.tenant_id);

  -- Validate.

  if c.status = 'DRAFT' then
    v_wrong := writ_data.wrong_with(c.tenant_id, c.scope, c.steps, c.template, c.constraints);
    update writ_data.contract
    set
      policy_version = v_policy.version,
      validator_verdict = jsonb_strip_nulls(jsonb_build_object(
        'valid', v_wrong.code is null, 'code', v_wrong.code, 'detail', v_wrong.detail
      ))
    where contract_id = p_contract;
    if v_wrong.code is not null then
      perform writ_data.move_contract(
        p_contract, 'REJECTED', concat_ws(': ', v_wrong.code, v_wrong.detail), p_actor, p_at
      );
      return;
    end if;
    perform writ_data.move_contract(p_contract, 'VALIDATED', 'valid', p_actor, p_at);
  end if;

  -- Qualify.

  select * into c from writ_data.contract where contract_id = p_contract;
  v_rules := writ_data.eligibility(c, v_policy.document, p_at);
  select
    string_agg(r ->> 'rule', ', ' order by r ->> 'rule'),
    string_agg(r ->> 'rule', ', ') filter (
      where r ->> 'rule' in ('E-100', 'E-103', 'E-004', 'E-005')
    )
  into v_failed, v_never
  from jsonb_array_elements(v_rules) r
  where not (r ->> 'passed')::boolean;
  update writ_data.contract
  set eligibility_verdict = jsonb_build_object('eligible', v_failed is null, 'rules', v_rules)
  where contract_id = p_contract;
  if v_failed is null then
    perform writ_data.move_contract(p_contract, 'ELIGIBLE', 'eligible', p_actor, p_at);
    update writ_data.contract x
    set
      review_due_at = y.due,
      due_at = y.due - interval '2 days',
      not_after = date_trunc('milliseconds', y.due + writ_data.approval_window(c))
    from (
      select p_at
        + (v_policy.document ->> 'review_days')::double precision * interval '1 day' as due
    ) y
    where x.contract_id = p_contract;
  elsif v_never is not null then
    perform writ_data.move_contract(
      p_contract, 'REJECTED', 'not eligible: ' || v_never, p_actor, p_at
    );
    return;
  end if;
  perform writ_data.request_reads(c, p_actor, p_at);
end $$;
