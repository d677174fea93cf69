-- Makes the partitions of the coming days (queue.partition.days_ahead). Records
-- system.partitions_low when fewer than three days are left, because without a partition for its
-- day no job can be enqueued. Ids carry the real time, whatever writ.now() answers.
-- Answers: how many it made.
-- Locks:   the partitioned tables, against other changes of their partitions only. It waits a fifth
--          of a second for them; the clockwork calls it again in a minute.
create or replace function writ_data.keep_partitions(p_actor text, p_at timestamptz)
returns integer
language plpgsql
set lock_timeout = '200ms'
as $$
declare
  v_today date := (clock_timestamp() at time zone 'UTC')::date;
  v_ahead integer := (writ_data.setting('queue.partition.days_ahead'))::integer;
  v_made integer := 0;
  v_days integer;
begin
  if not writ_data.day_stands(v_today + v_ahead) then
    begin
      select count(*) filter (where writ_data.make_partition(t, v_today + n)) into v_made
      from unnest(writ_data.day_tables()) t
      cross join generate_series(0, v_ahead) n;
    exception when lock_not_available or duplicate_table or unique_violation then
      v_made := 0;                  -- another session is making them, or in a minute again
    end;
  end if;

  select count(*) into v_days
  from generate_series(1, v_ahead) n
  where writ_data.day_stands(v_today + n);
  if v_days < 3 then
    perform writ_data.record(
      'fn_job_tick', p_actor, p_at,
      array['00000000-0000-0000-0000-000000000000'::uuid],
      array['system.partitions_low'], array[1], array[1],
      jsonb_build_object('days_ahead', v_days)
    );
  end if;
  return v_made;
end $$;
