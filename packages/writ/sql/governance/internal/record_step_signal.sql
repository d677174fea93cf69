-- Records the health signal of a step. A step cannot talk health up: it raises (WR001) health_block
-- where a worse signal of the same type stands, which only a report may supersede.
create or replace function writ_data.record_step_signal(
  g writ_data.governance_job,
  c writ_data.contract,
  p_step_no integer,
  p_parameters jsonb,
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
as $$
declare
  v_type text := p_parameters ->> 'signal_type';
  v_scope text := coalesce(p_parameters ->> 'scope', 'SYSTEM');
  v_decision text := coalesce(p_parameters ->> 'decision', 'EXECUTING');
  v_stands text;
begin
  select x.decision into v_stands
  from writ_data.governance_signal x
  where x.tenant_id = c.tenant_id and x.scope = v_scope and x.signal_type = v_type
    and x.superseded_at is null and coalesce(x.expires_at > p_at, true)
  for no key update;
  if v_stands = 'BLOCKED' and v_decision <> 'BLOCKED'
    or v_stands = 'WARN' and v_decision not in ('BLOCKED', 'WARN')
  then
    raise exception using errcode = 'WR001', message = 'health_block',
      detail = format('The signal %s of %s is %s.', v_type, v_scope, v_stands),
      column = p_step_no::text;
  end if;

  perform writ_data.put_signal(
    c.tenant_id, v_type, v_scope, v_decision,
    replace(
      replace(
        coalesce(
          p_parameters ->> 'reason', 'Job {job_id} executing contract {contract_id}'
        ),
        '{job_id}', g.job_id::text
      ),
      '{contract_id}', c.contract_id::text
    ),
    null, p_actor, p_at
  );
end $$;
