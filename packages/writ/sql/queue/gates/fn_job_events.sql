-- Reads the facts of one job in order, as writ.event_outbox shows them.
-- Callers: processes, readers
-- Answers: [{id, event_type, occurred_at, actor_ref, safe_payload}]; none for a job that is not
--          there or is of another tenant.
-- Locks:   none.
--
-- It reads only batches of the job's lifetime that name the job, which the view cannot do.
create or replace function writ.fn_job_events(
  p_job_id uuid,
  p_tenant_id text default null
) returns jsonb
language sql security definer
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(
    jsonb_agg(
      jsonb_build_object(
        'id', f.id,
        'event_type', f.event_type,
        'occurred_at', f.at,
        'actor_ref', f.actor,
        'safe_payload', case
          when f.details ? 'each' then coalesce(f.details -> 'each' -> j.job_id::text, '{}')
          when f.details ? 'codes' then jsonb_strip_nulls(
            jsonb_build_object('code', f.details -> 'codes' -> j.job_id::text))
          else coalesce(f.details, '{}')
        end
      ) order by f.at, f.id
    ),
    '[]'
  )
  from writ_data.job j
  cross join lateral (
    select b.at, b.actor, b.details, b.types[r.i] as event_type,
      (
        left(b.batch_id::text, 30)
        || lpad(
          to_hex(
            s.subject - b.first[r.i] + 1
            + coalesce(
              (
                select sum(greatest(0, b.last[x] - b.first[x] + 1))
                from generate_series(1, r.i - 1) x
              ),
              0
            )::integer
          ),
          6, '0'
        )
      )::uuid as id
    from writ_data.event_batch b
    cross join lateral (select array_positions(b.subjects, j.job_id) as at_places) p
    cross join lateral generate_subscripts(b.types, 1) r(i)
    cross join lateral unnest(p.at_places) s(subject)
    where b.batch_id >= writ_data.uuid_floor(j.enqueued_at - interval '1 minute')
      and j.job_id = any (b.subjects)
      and s.subject between b.first[r.i] and b.last[r.i]
  ) f
  where j.job_id = p_job_id and j.tenant_id = coalesce(p_tenant_id, j.tenant_id)
    and writ_data.visible(j.tenant_id)
$$;
