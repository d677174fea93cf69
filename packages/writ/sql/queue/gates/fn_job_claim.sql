-- Claims jobs of one kind, in the signature of specification 002 §4, with a limit.
-- Callers: writ_worker, writ_applier
-- Answers: as fn_job_claim_many does, with each job as an object: {lease_token, leased_until, jobs:
--          [{job_id, job_kind, tenant_id, …}]}.
-- Refuses, locks: as fn_job_claim_many.
--
-- It answers json and not jsonb: an input is JSON that a producer wrote, and jsonb cannot hold all
-- of it (1e999999). One such job would make every claim of its kind raise.
create or replace function writ.fn_job_claim(
  p_kind text,
  p_executor text,
  p_lease_name text,
  p_lease_holder text,
  p_lease_ttl_seconds integer,
  p_limit integer default 1
) returns json
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rated boolean := exists (
    select from writ_data.job_kind k where k.job_kind = p_kind and k.limit_rate is not null
  );
  v_claim json;
  v_jobs json;
begin
  v_claim := writ.fn_job_claim_many(
    array[p_kind], p_executor, p_lease_holder, p_lease_ttl_seconds, p_limit,
    -- What a rate allows is started with its claim.
    case when v_rated then p_limit else 0 end,
    p_lease_name,
    p_alone => true
  );
  if v_claim ->> 'lease_token' is null then
    return v_claim;
  end if;

  select json_agg(json_build_object(
    'job_id', j -> 0,
    'job_kind', j -> 1,
    'tenant_id', j -> 2,
    'idempotency_key', coalesce(j ->> 3, j ->> 0),
    'attempt', j -> 4,
    'execution_no', j -> 5,
    'deadline_at', j -> 6,
    'input', j #> '{7,0}',
    'payload_ref', j -> 8,
    'safe_payload', case when j ->> 9 is null then '{}' else j -> 9 end,
    'correlation_id', j -> 10,
    'priority', j -> 11,
    'max_attempts', j -> 12,
    'parent_job_id', j -> 13,
    'workflow_id', j -> 14
  ) order by n)
  into v_jobs
  from json_array_elements(v_claim -> 'jobs') with ordinality u(j, n);
  return (
    select json_object_agg(c.key, case c.key when 'jobs' then v_jobs else c.value end)
    from json_each(v_claim) c
  );
end $$;
