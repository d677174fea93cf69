-- Stores what an applier has read outside the database for a contract, and commits the queue job
-- that asked for it. A newer read of a place replaces the older one.
-- Callers: writ_applier
-- p_values: 0 to 1000 of {slot, value}, or {slot, code, detail} where it could not be read. Each is
--          judged by itself: a value that is missing, larger than 64 KB or not canonical is stored
--          as such an error, and a place that no step of the job's type changes is ignored.
-- Answers: {contract_id, stored}. The gate stamps the time.
-- Refuses: actor_required, invalid_argument, job_not_found, lease_lost, job_not_started.
-- Locks:   the lease in key-share mode, then the request of the read.
create or replace function writ.fn_contract_read_done(
  p_job_id uuid,
  p_lease_token uuid,
  p_values jsonb,
  p_actor text
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  v_tenant text := writ_data.caller_tenant();
  v_contract uuid;
  v_type text;         -- the step type whose places were read
  v_code text;
  v_now timestamptz;
  v_stored integer;
begin
  -- Validate.

  if length(coalesce(btrim(p_actor), '')) not between 1 and 200 then
    return writ_data.refusal('actor_required', 'An actor has 1 to 200 characters.');
  elsif jsonb_typeof(p_values) is distinct from 'array' or jsonb_array_length(p_values) > 1000
    or octet_length(p_values::text) > 4194304
  then
    return writ_data.refusal(
      'invalid_argument', 'A thousand values are stored at once at most, of 4 MB together.'
    );
  end if;

  -- Lock, then check.

  perform from writ_data.job_lease l where l.lease_token = p_lease_token for key share;
  select r.contract_id, r.step_type into v_contract, v_type
  from writ_data.job j
  join writ_data.contract c
    on c.contract_id = writ_data.uuid_in(j.input::jsonb, 'contract') and c.tenant_id = j.tenant_id
  join writ_data.contract_read r on r.contract_id = c.contract_id and r.job_id = j.job_id
  where j.job_id = p_job_id and j.job_kind = 'governance.read.' || r.step_type
    and coalesce(v_tenant, j.tenant_id) = j.tenant_id
  for no key update of r;
  if not found then
    return writ_data.refusal('job_not_found', 'The queue job is no read of a contract.');
  end if;
  v_code := writ_data.lease_fault(p_job_id, p_lease_token);
  if v_code = 'already_committed' then
    return jsonb_build_object('contract_id', v_contract, 'stored', 0);
  elsif v_code is not null then
    return writ_data.refusal(v_code, p_job_id::text);
  end if;
  v_now := writ.now();

  -- Write, and record.

  insert into writ_data.contract_value (
    contract_id, slot, value, code, detail, job_id, login, read_at
  )
  select
    v_contract, w.slot, case when w.code is null then w.value end, w.code, left(w.detail, 1000),
    p_job_id, session_user, v_now
  from (
    select distinct on (s.slot)
      s.slot, x.item -> 'value' as value, f.code, f.detail
    from jsonb_array_elements(p_values) with ordinality x(item, n)
    join writ_data.contract c on c.contract_id = v_contract
    join writ_data.outside_slots(c.steps) s
      on to_jsonb(s.slot) = x.item -> 'slot' and s.step_type = v_type
    cross join lateral (select writ_data.inexact_number(x.item -> 'value') as inexact) y
    cross join lateral (
      select
        case
          when x.item ? 'code'
            then coalesce(nullif(left(x.item ->> 'code', 100), ''), 'handler_error')
          when not x.item ? 'value' then 'target_not_read'
          when octet_length((x.item -> 'value')::text) > 65536 then 'payload_too_large'
          when y.inexact is not null then 'value_not_canonical'
        end as code,
        case
          when x.item ? 'code' then x.item ->> 'detail'
          when not x.item ? 'value' then 'The applier has sent no value.'
          when octet_length((x.item -> 'value')::text) > 65536
            then 'A value outside the database has 64 KB at most.'
          else y.inexact
        end as detail
    ) f
    order by s.slot, x.n
  ) w
  on conflict (contract_id, slot) do update
  set
    value = excluded.value,
    code = excluded.code,
    detail = excluded.detail,
    job_id = excluded.job_id,
    login = excluded.login,
    read_at = excluded.read_at;
  get diagnostics v_stored = row_count;
  perform writ_data.commit_leased(
    array[p_job_id], array[p_lease_token], array[null::text], v_now
  );
  perform writ_data.record(
    'fn_contract_read_done', p_actor, v_now, array[p_job_id], array['dot.job.committed'],
    array[1], array[1]
  );
  return jsonb_build_object('contract_id', v_contract, 'stored', v_stored);
end $$;
