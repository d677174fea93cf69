-- Of an array of snapshots, those that can be true: each is of a run that is there, names its
-- tenant, is not ahead of the run's log nor behind the stored one, has every event up to its own,
-- and has the status that those events say. Anything else in the array is left out.
create or replace function writ_data.checked_snapshots(p_snapshots json)
returns table (
  run_id uuid,
  tenant_id text,
  last_seq integer,
  status text,
  snapshot json,
  stored_seq integer,
  missing integer
)
language plpgsql stable
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
begin
  return query
    with given as materialized (
      select case when o."runId" ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
          then o."runId" end::uuid as run,
        case when o."lastEventSeq" ~ '^[0-9]{1,9}$' then o."lastEventSeq" end::integer as seq,
        o."tenantId" as tenant, o.status as status, a.value as document
      from (
        select x.value from json_array_elements(p_snapshots) x(value)
        where octet_length(x.value::text) <= 16777216
          -- A text with a NUL character, or half of a pair, raises when it is read.
          and (
            position(chr(92) || 'u' in x.value::text) = 0
            or writ_data.as_jsonb(x.value) is not null
          )
        offset 0
      ) a
      cross join lateral json_to_record(
        case when json_typeof(a.value) = 'object' then a.value else '{}' end
      ) o("runId" text, "tenantId" text, status text, "lastEventSeq" text)
    )
    select g.run, r.tenant_id, g.seq, g.status, g.document, coalesce(s.last_seq, 0), s.missing
    from given g
    cross join lateral (
      select x.tenant_id from writ_data.run x where x.run_id = g.run offset 0) r
    left join lateral (
      select x.last_seq, x.status, x.missing from writ_data.run_snapshot x
      where x.run_id = g.run offset 0) s on true
    cross join lateral (
      select count(*) as events,
        (array_agg(case x.event_type
            when 'RunApproved' then 'APPROVED' when 'RunStarted' then 'RUNNING'
            when 'RunPaused' then 'PAUSED' when 'RunResumed' then 'RUNNING'
            when 'RunCompleted' then 'COMPLETED' when 'RunFailed' then 'FAILED'
            when 'RunCancelled' then 'CANCELLED' end
          order by x.run_seq desc)
          filter (where x.event_type in ('RunApproved', 'RunStarted', 'RunPaused', 'RunResumed',
            'RunCompleted', 'RunFailed', 'RunCancelled')))[1] as moved
      from writ_data.run_event x
      where x.run_id = g.run and x.run_seq > coalesce(s.last_seq, 0) and x.run_seq <= g.seq) e
    where g.tenant = r.tenant_id
      and g.seq >= coalesce(s.last_seq, 0)
      and e.events = g.seq - coalesce(s.last_seq, 0)
      and g.status = coalesce(e.moved, s.status, 'PENDING');
end $$;
