-- Locks a contract, checks whether the caller may activate it, and breaks the glass if requested.
-- p_glass: {reason, document, signature, scheme} to break it. Answers the principal, or the final
-- answer: a refusal, or the job of an earlier call. A refusal has not broken the glass.
create or replace function writ_data.ready_to_activate(
  p_key text,
  p_contract uuid,
  p_job uuid,
  p_glass jsonb,
  p_at timestamptz,
  out actor text,
  out answer jsonb
)
language plpgsql
as $$
declare
  c writ_data.contract;
  m record;
  v_breaks boolean := p_glass is not null;
  v_right text := 'activate';
  v_reason text := btrim(p_glass ->> 'reason');
begin
  select * into c
  from writ_data.contract
  where contract_id = p_contract and writ_data.visible(tenant_id)
  for no key update;
  if not found then
    answer := writ_data.refusal('contract_not_found', p_contract::text);
    return;
  end if;
  if v_breaks then
    v_right := 'break_glass';
  end if;
  m := writ_data.may(p_key, v_right, c.tenant_id);
  actor := (m.who).principal_id;
  answer := case
    when m.refusal is not null then m.refusal
    when c.job_id = p_job then jsonb_build_object(
      'contract_id', p_contract, 'job_id', p_job,
      'run_id', (select g.run_id from writ_data.governance_job g where g.job_id = p_job)
    )
    when c.status in ('ACTIVE', 'COMPLETED') or c.job_id is not null
      then writ_data.refusal('already_activated', c.job_id::text)
    when c.status in ('FAILED', 'REJECTED', 'EXPIRED')
      then writ_data.refusal('contract_terminal', format('It is %s.', c.status))
    when c.template is not null then writ_data.refusal(
      'invalid_transition', 'It is a template: its instances are activated.'
    )
    when v_breaks and length(coalesce(v_reason, '')) <= 10 then writ_data.refusal(
      'reason_required', 'More than ten characters, for those who will ask.'
    )
    when length(v_reason) > 1000 then writ_data.refusal(
      'invalid_argument', 'A reason to break the glass has 1000 characters at most.'
    )
    when not v_breaks and c.status <> 'APPROVED'
      or v_breaks and c.status not in ('ELIGIBLE', 'APPROVED')
      then writ_data.refusal('invalid_transition', format(
        case
          when c.status = 'ELIGIBLE' then 'It is %s: not enough have approved it.'
          when c.status in ('DRAFT', 'VALIDATED')
            then 'It is %s: it has to be submitted and approved first.'
          else 'It is %s.'
        end, c.status
      ))
  end;
  if answer is not null then
    return;
  elsif v_breaks then
    answer := writ_data.break_glass(c, m.who, v_reason, p_glass, p_at);
  elsif p_at > least(c.window_end, c.not_after) then
    perform writ_data.void_contract(p_contract, 'window_elapsed', actor, p_at);
    answer := writ_data.refusal(
      'window_elapsed', format('Its window ended %s.', least(c.window_end, c.not_after))
    );
  end if;
end $$;
