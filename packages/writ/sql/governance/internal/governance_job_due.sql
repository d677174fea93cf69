-- Moves a governance job whose time has come: its audit is late, its window or its duration over.
-- The caller has locked the contract.
create or replace function writ_data.governance_job_due(
  p_job uuid,
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
as $$
declare
  g writ_data.governance_job;
begin
  select * into g
  from writ_data.governance_job x
  where x.job_id = p_job and x.due_at <= p_at
  for no key update;
  if not found then
    return;
  elsif g.status = 'AUDIT_PENDING' then
    perform writ_data.settle_audits(
      array[g.job_id], 'INCONCLUSIVE', array['the audit has taken too long'],
      array['[]'::jsonb], array['{}'::jsonb], array[null::jsonb], null, p_actor,
      coalesce(g.completed_at, p_at), p_at
    );
    return;
  end if;

  update writ_data.governance_job set due_at = null where job_id = p_job;
  if g.status in ('PENDING', 'RUNNING') then
    perform writ_data.lock_runs(array[g.run_id]);
    if (
      select r.ending is null and r.status in ('RUNNING', 'PAUSED')
      from writ_data.run r where r.run_id = g.run_id
    ) then
      perform writ_data.begin_ending(
        g.run_id,
        case g.status when 'PENDING' then 'FAILED' else 'CANCELLED' end,
        case g.status
          when 'PENDING' then jsonb_build_object('rootCause', jsonb_build_object(
            'stepId', 's1', 'errorCode', 'window_elapsed', 'errorMessage', 'window_elapsed'
          ))
          else jsonb_build_object(
            'reason', case
              when p_at < g.started_at + g.max_duration_ms * interval '1 millisecond'
                then 'Its window has ended.'
              else 'It has taken longer than it may.'
            end,
            'because', 'duration_exceeded',
            'undo', false
          )
        end,
        null, p_actor, p_at
      );
    end if;
  end if;
end $$;
