-- Stores the snapshots that can be true (checked_snapshots) and are newer than the stored ones. If
-- one of them raises, halves the list until that one is alone, and leaves it out.
-- Answers: the runs whose snapshots it stored.
create or replace function writ_data.store_snapshots(
  p_snapshots json,
  p_at timestamptz
) returns uuid[]
language plpgsql
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_stored uuid[];
  v_n integer := json_array_length(p_snapshots);
begin
  begin
    with newest as materialized (
      select distinct on (c.run_id) c.*
      from writ_data.checked_snapshots(p_snapshots) c
      order by c.run_id, c.last_seq desc
    ), stored as (
      insert into writ_data.run_snapshot as s (run_id, last_seq, status, snapshot, updated_at)
      select n.run_id, n.last_seq, n.status, n.snapshot, p_at
      from newest n
      where n.last_seq > n.stored_seq or n.last_seq >= n.missing
      on conflict (run_id) do update
      set last_seq = excluded.last_seq, status = excluded.status, snapshot = excluded.snapshot,
        -- A run that was given in parts is not at the end of its log yet.
        missing = case when s.missing is not null and exists (
            select from writ_data.run_event e
            where e.run_id = excluded.run_id and e.run_seq = excluded.last_seq + 1)
          then excluded.last_seq + 1 end,
        updated_at = excluded.updated_at
      returning s.run_id
    )
    select coalesce(array_agg(run_id), '{}') into v_stored from stored;
    return v_stored;
  exception when others then
    if writ_data.is_transient(sqlstate) then
      raise;
    elsif v_n = 1 then
      return '{}'::uuid[];
    end if;
  end;
  return writ_data.store_snapshots(
      (
        select json_agg(x.value order by x.n)
        from json_array_elements(p_snapshots) with ordinality x(value, n)
        where x.n <= v_n / 2
      ),
      p_at
    ) || writ_data.store_snapshots(
      (
        select json_agg(x.value order by x.n)
        from json_array_elements(p_snapshots) with ordinality x(value, n)
        where x.n > v_n / 2
      ),
      p_at
    );
end $$;
