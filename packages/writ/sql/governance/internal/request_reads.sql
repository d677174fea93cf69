-- Asks appliers to read the places outside the database that a contract changes, in the caller's
-- transaction: one queue job for each step type, which only a worker with that type takes. What is
-- asked and not answered yet is not asked again. The caller has locked the contract.
-- Raises if a queue job cannot be enqueued.
create or replace function writ_data.request_reads(
  c writ_data.contract,
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
as $$
declare
  v_every interval :=
    (writ_data.setting('governance.read.interval_ms'))::integer * interval '1 millisecond';
  t record;
  v_job uuid;
  v_due timestamptz;
  v_answer jsonb;
begin
  for t in
    select s.step_type, 'governance.read.' || s.step_type as kind, r.job_id, r.due_at
    from (select distinct x.step_type from writ_data.outside_slots(c.steps) x) s
    left join writ_data.contract_read r
      on r.contract_id = c.contract_id and r.step_type = s.step_type
    order by s.step_type
  loop
    continue when t.job_id is not null and writ_data.read_is_open(t.job_id);
    v_job := writ_data.uuidv7();
    -- A clock that was set back delays it by one interval at most.
    v_due := case
      when t.job_id is null then p_at
      else greatest(p_at, least(t.due_at, p_at) + v_every)
    end;
    insert into writ_data.contract_read (
      contract_id, step_type, job_id, requested_by, requested_at, due_at
    )
    values (c.contract_id, t.step_type, v_job, p_actor, p_at, v_due)
    on conflict (contract_id, step_type) do update
    set
      job_id = excluded.job_id,
      requested_by = excluded.requested_by,
      requested_at = excluded.requested_at,
      due_at = excluded.due_at;
    -- As the workers with the type define it, of which none may have started yet.
    insert into writ_data.job_kind (
      job_kind, max_attempts, backoff_base_s, backoff_cap_s, timeout_s, registered_by
    )
    values (t.kind, 10, 0.2, 30, 300, p_actor)
    on conflict do nothing;
    v_answer := writ_data.enqueue_jobs(
      jsonb_build_array(jsonb_build_object(
        'id', v_job, 'kind', t.kind, 'process_after', v_due,
        'input', jsonb_build_object('contract', c.contract_id)
      )),
      p_actor, c.tenant_id
    );
    if v_answer ->> 'enqueued' is distinct from '1' then
      raise exception using errcode = 'WR001',
        message = coalesce(v_answer ->> 'reason', v_answer #>> '{refused,0,reason}'),
        detail = format('A read of contract %s could not be enqueued.', c.contract_id);
    end if;
  end loop;
end $$;
