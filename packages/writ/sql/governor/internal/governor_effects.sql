-- Does what follows from the decisions of a turn besides its receipts, or answers what is wrong.
--
-- Each of p_effects is {g, t, s: the governor, its tenant and product; event_id: of the event; at:
-- when it was, by the clock; ids_at: when, in the ids of its jobs; version: of the policy in force;
-- was: what the governor knew before the turn; effect}. An attempt
-- is a job, and the first one at an action uses up quota; a fence ends the job in flight; an alert
-- is for a person. All but the words of the effect follows from rows that the caller has locked.
create or replace function writ_data.governor_effects(
  p_effects jsonb[],
  p_actor text,
  p_at timestamptz
) returns text
language plpgsql
as $$
declare
  v_lacking text;              -- a tenant whose quota is used up
  v_flying jsonb := '{}'::jsonb;      -- what is in flight by now, by governor
  v_effect jsonb;
  v_was jsonb;
  v_cause text;
  v_wrong text;
  e jsonb;
begin
  -- Rows of quotas first, by tenant: two turns must not wait for each other in a circle.
  with used as (
    insert into writ_data.governor_quota as q (tenant_id, month, used)
    select u.e ->> 't', to_char(p_at at time zone 'UTC', 'YYYY-MM'), count(*)
    from unnest(p_effects) u(e)
    where u.e #>> '{effect,type}' = 'attempt' and u.e #>> '{effect,kind}' = 'action'
      and (u.e #>> '{effect,attempt}')::integer = 1 and u.e ->> 'g' is not null
    group by u.e ->> 't'
    order by u.e ->> 't'
    on conflict (tenant_id, month) do update set used = q.used + excluded.used
    returning q.tenant_id, q.used
  )
  select u.tenant_id into v_lacking
  from used u
  left join writ_data.entitlement t on t.tenant_id = u.tenant_id
  where t.tenant_id is null or u.used > t.quota_limit;
  if found then
    raise exception using errcode = 'WR001', message = 'governor_moved',
      detail = format('The quota of %s is used up.', v_lacking);
  end if;

  foreach e in array p_effects loop
    if e ->> 'g' is null then
      return 'An effect follows from an event of the turn.';
    end if;
    v_effect := e -> 'effect';
    v_was := nullif(coalesce(v_flying -> (e ->> 'g'), e #> '{was,in_flight}'), 'null');
    case v_effect ->> 'type'
      when 'attempt' then
        v_wrong := writ_data.governor_attempt(e, v_was, v_flying -> (e ->> 'g') -> 'earlier',
          p_actor, p_at);
        v_flying := jsonb_set(v_flying, array[e ->> 'g'], jsonb_build_object(
          'kind', v_effect -> 'kind', 'action_id', v_effect -> 'action_id',
          'attempt', v_effect -> 'attempt', 'job_id', v_effect -> 'job_id',
          'earlier', coalesce(v_was -> 'action_id', 'null')));
      when 'fence' then
        if (v_effect ->> 'job_id' = v_was ->> 'job_id') is not true then
          v_wrong := 'A fence is for the job in flight.';
        else
          perform writ_data.fence_job((v_was ->> 'job_id')::uuid, p_actor);
          delete from writ_data.governor_contract c
          where c.governor_id = (e ->> 'g')::uuid and c.action_id = v_was ->> 'action_id';
        end if;
      when 'escalate', 'calm' then
        -- The cause that the alert is named after stands now, or has gone.
        v_cause := lower(substr(v_effect ->> 'alert', 10));
        if (v_effect ->> 'alert' in ('GOVERNOR_ACTION_TIMEOUT', 'GOVERNOR_ROLLBACK_FAILED',
            'GOVERNOR_NONDETERMINISM', 'GOVERNOR_CRASH')) is not true
          or octet_length(v_effect ->> 'details') > 4096 then
          v_wrong := 'A governor raises alerts of its own only.';
        elsif v_effect ->> 'type' = 'escalate' then
          perform writ_data.raise_alert(v_effect ->> 'alert', 'P1', e ->> 't',
            'governor/' || (e ->> 'g'), v_effect -> 'details', p_actor, p_at);
        elsif not exists (select from writ_data.governor g
          where g.governor_id = (e ->> 'g')::uuid and g.data -> 'causes' ? v_cause) then
          perform writ_data.clear_alert(v_effect ->> 'alert', 'governor/' || (e ->> 'g'), p_actor,
            p_at);
        end if;
      else
        v_wrong := 'There is no such effect.';
    end case;
    if v_wrong is not null then
      return format('Governor %s: %s', e ->> 'g', v_wrong);
    end if;
  end loop;

  return null;
end $$;
