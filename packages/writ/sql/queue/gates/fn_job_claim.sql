-- The signature of specification 002 §4, with a limit. Answers {lease_token, leased_until, jobs: [{…}]}.
-- Callers: writ_worker, writ_applier
create or replace function writ.fn_job_claim(
  p_kind text, p_executor text, p_lease_name text, p_lease_holder text, p_lease_ttl_seconds integer, p_limit integer default 1
) returns jsonb language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_claim jsonb := writ.fn_job_claim_many(array[p_kind], p_executor, p_lease_holder, p_lease_ttl_seconds, p_limit,
    -- What a rate allows is started with its claim.
    case when exists (select from writ_data.job_kind k where k.job_kind = p_kind and k.limit_rate is not null) then p_limit else 0 end, p_lease_name, p_alone => true);
begin
  if v_claim ? 'refused' or v_claim -> 'jobs' = '[]' then
    return v_claim;
  end if;
  return v_claim || jsonb_build_object('jobs', (
    select jsonb_agg(jsonb_build_object('job_id', j -> 0, 'job_kind', j -> 1, 'tenant_id', j -> 2, 'idempotency_key', coalesce(j ->> 3, j ->> 0),
      'attempt', j -> 4, 'execution_no', j -> 5, 'deadline_at', j -> 6, 'input', j #> '{7,0}', 'payload_ref', j -> 8,
      'safe_payload', case j -> 9 when 'null' then '{}' else j -> 9 end, 'correlation_id', j -> 10, 'priority', j -> 11,
      'max_attempts', j -> 12, 'parent_job_id', j -> 13, 'workflow_id', j -> 14) order by n)
    from jsonb_array_elements(v_claim -> 'jobs') with ordinality u(j, n)));
end $$;
