-- Starts runs that were queued and that the caller has locked. Answers those that started. If one
-- of them cannot begin, they start one by one, and that one is cancelled with an alert.
create or replace function writ_data.start_queued(
  p_runs uuid[],
  p_actor text,
  p_at timestamptz
) returns uuid[]
language plpgsql
set enable_seqscan = off
as $$
declare
  v_started uuid[];
  v_run uuid;
begin
  begin
    update writ_data.run set status = 'RUNNING', start_after = null, moved_at = p_at
    where run_id = any (p_runs);
    v_started := array(select r from unnest(p_runs) r order by r);
    perform writ_data.begin_runs(v_started, 'fn_run_dequeue', p_actor, p_at);
    return v_started;
  exception when others then
    if writ_data.is_transient(sqlstate) then
      raise;
    end if;
  end;

  v_started := '{}';
  foreach v_run in array p_runs loop
    if cardinality(p_runs) > 1 then
      v_started := v_started || writ_data.start_queued(array[v_run], p_actor, p_at);
    else
      perform writ_data.append_events(array[v_run], array['RunCancelled'], array['RUN'], array['1'],
        array[null::integer], array['{"reason": "It cannot begin."}'::jsonb], null, null,
        'fn_run_dequeue', p_actor, p_at);
      update writ_data.run set status = 'CANCELLED', start_after = null, moved_at = p_at
      where run_id = v_run;
      perform writ_data.raise_alert('RUN_STUCK', 'P2', r.tenant_id, 'run/' || v_run,
        '{"code": "RUN_STUCK", "ended": true}', p_actor, p_at)
      from writ_data.run r where r.run_id = v_run;
    end if;
  end loop;
  return v_started;
end $$;
