-- What a decision of a governor does besides its receipts, in its transaction: {g: governor, t: tenant, type, …}. Quota is used up by the first attempt; an attempt is a job; a fence ends the one before; an alert is for a person.
create or replace function writ_data.governor_effect(p_effect jsonb, p_actor text, p_at timestamptz) returns void language plpgsql as $$
declare
  v_answer jsonb;
begin
  case p_effect ->> 'type'
    when 'quota' then
      insert into writ_data.governor_quota as q (tenant_id, month, used) values (p_effect ->> 't', p_effect ->> 'month', 1)
      on conflict (tenant_id, month) do update set used = q.used + 1 where coalesce(q.used < (p_effect ->> 'limit')::bigint, true);
      if not found then
        raise exception using errcode = 'WR001', message = 'governor_moved', detail = 'Another governor of the tenant has used up the quota.';
      end if;
    when 'attempt' then
      v_answer := writ_data.enqueue_alike(p_effect ->> 'job_kind', array[(p_effect ->> 'job_id')::uuid], json_build_array(p_effect -> 'input'), p_actor, p_effect ->> 't');
      if v_answer -> 'refused' not in ('[]', 'false') then
        raise exception using errcode = 'WR001', message = coalesce(v_answer ->> 'reason', v_answer #>> '{refused,0,reason}'), detail = format('Action %s could not be enqueued.', p_effect #>> '{input,action_id}');
      elsif v_answer -> 'duplicates' <> '[]' then
        -- Somebody has put a job of theirs under this id. Decided again, it has another.
        raise exception using errcode = 'WR001', message = 'governor_moved', detail = format('There is a job %s already.', p_effect ->> 'job_id');
      end if;
    when 'fence' then
      perform writ_data.fence_job((p_effect ->> 'job_id')::uuid, p_actor, p_at);
      delete from writ_data.governor_contract c where c.governor_id = (p_effect ->> 'g')::uuid and c.action_id = p_effect ->> 'action_id';
    when 'escalate' then
      perform writ_data.raise_alert(p_effect ->> 'alert', 'P1', p_effect ->> 't', 'governor/' || (p_effect ->> 'g'), p_effect -> 'details', p_actor, p_at);
    when 'calm' then
      perform writ_data.clear_alert(p_effect ->> 'alert', 'governor/' || (p_effect ->> 'g'), p_actor, p_at);
  end case;
end $$;
