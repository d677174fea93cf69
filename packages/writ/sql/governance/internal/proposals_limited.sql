-- Returns null, or a refusal that says when an agent may propose another contract. Other principals
-- have no such limit. It locks the agent's row, to count concurrent calls exactly.
create or replace function writ_data.proposals_limited(
  p_who writ_data.principal,
  p_at timestamptz
) returns jsonb
language plpgsql
as $$
declare
  v_hourly integer;
  v_open_most integer;
  v_times timestamptz[];
  v_open integer;
begin
  if p_who.kind <> 'agent' then
    return null;
  end if;
  perform from writ_data.principal p
  where p.principal_id = p_who.principal_id
  for no key update;
  v_hourly := (writ_data.setting('governance.agent.proposals_per_hour'))::integer;
  v_open_most := (writ_data.setting('governance.agent.open_contracts'))::integer;

  v_times := array(
    select c.created_at from writ_data.contract c
    where c.created_by = p_who.principal_id and c.on_behalf_of is not null
      -- A later one is of a time when the clock was ahead.
      and c.created_at between p_at - interval '1 hour' and p_at + interval '1 hour'
    order by c.created_at desc limit v_hourly
  );
  if cardinality(v_times) >= v_hourly then
    return writ_data.refusal('proposals_limited', format(
      '%s has proposed %s contracts in the last hour. It may propose again at %s.',
      p_who.principal_id, v_hourly,
      to_char(
        (v_times[v_hourly] + interval '1 hour') at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'
      )
    ));
  end if;

  select count(*) into v_open
  from writ_data.contract c
  where c.created_by = p_who.principal_id and c.on_behalf_of is not null
    and c.status not in ('COMPLETED', 'FAILED', 'REJECTED', 'EXPIRED');
  if v_open >= v_open_most then
    return writ_data.refusal('proposals_limited', format(
      '%s has %s contracts open. It may propose again when one of them has ended.',
      p_who.principal_id, v_open
    ));
  end if;
  return null;
end $$;
