-- Fails a governance job, and does what follows from that in the same transaction. A forward job
-- with something to undo gets its rollback job; one without is ROLLED_BACK at once. A rollback job
-- that failed leaves both jobs ROLLBACK_FAILED, with an incident, and the holds in place.
-- The run has ended before, so none of its steps can still happen.
-- The caller has locked the contract and the job.
create or replace function writ_data.fail_governance_job(
  p_job uuid,
  p_event text,
  p_reason text,
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
as $$
declare
  g writ_data.governance_job;
  v_undo jsonb;
  v_rollback uuid := writ_data.uuidv7();
begin
  select * into g from writ_data.governance_job where job_id = p_job;
  perform writ_data.move_governance_job(p_job, array['FAILED'], p_event, p_reason, p_actor, p_at);

  if g.kind = 'rollback' then
    perform writ_data.rollback_failed(p_job, p_reason, p_actor, p_at);
    return;
  end if;

  v_undo := writ_data.steps_to_undo(p_job);
  if v_undo is null then
    perform writ_data.move_governance_job(
      p_job, array['ROLLED_BACK'], 'nothing_to_undo', p_reason, p_actor, p_at
    );
    perform writ_data.close_contracts(
      array[g.contract_id], 'FAILED', array[p_reason], p_actor, p_at
    );
    return;
  end if;

  perform writ_data.start_governance_jobs(
    array[v_rollback], array[g.contract_id], 'rollback', array[p_job], array[v_undo],
    array[g.state_before], 'rollback_created', p_reason, p_actor, p_at
  );
  update writ_data.governance_job
  set rollback_job_id = v_rollback, rollback_reason = p_reason
  where job_id = p_job;
  perform writ_data.move_governance_job(
    p_job, array['ROLLBACK_PENDING'], 'rollback_needed', p_reason, p_actor, p_at
  );

  if (
    select count(*) from writ_data.governance_job x
    where x.tenant_id = g.tenant_id and x.kind = 'rollback'
      and x.created_at > p_at - interval '1 hour'
  ) > 5 then
    perform writ_data.raise_alert(
      'ROLLBACKS_MANY', 'P2', g.tenant_id, 'tenant/' || g.tenant_id,
      jsonb_build_object('last', v_rollback), p_actor, p_at
    );
  end if;
end $$;
