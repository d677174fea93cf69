-- Makes the months of mailboxes and events that are to come, and drops one that is past its
-- retention. It waits for no lock longer than a tenth of a second: what cannot be had now is for
-- the next turn, and months are made two ahead. Anything else that fails raises the alert
-- GOVERNORS_NOT_KEPT and stops nothing.
create or replace function writ_data.keep_governors(
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
set lock_timeout = '100ms'
as $$
declare
  v_today date := (clock_timestamp() at time zone 'UTC')::date;
  v_keep interval := (writ_data.setting('governor.retention.events_days'))::integer
    * interval '1 day';
  v_old text;       -- the first month past its retention
  v_table text;
begin
  select min(right(c.relname, 6)) into v_old
  from pg_class c
  where c.relnamespace = 'writ_data'::regnamespace and c.relname ~ '^governor_event_[0-9]{6}$'
    and (to_date(right(c.relname, 6), 'YYYYMM') + interval '1 month') at time zone 'UTC'
      < p_at - v_keep;

  if to_regclass(
      'writ_data.governor_event' || to_char(v_today + interval '2 months', '_YYYYMM')
    ) is null
    or to_regclass(
      'writ_data.governor_event' || to_char(p_at at time zone 'UTC', '_YYYYMM')
    ) is null
  then
    begin
      perform writ_data.make_governor_partition((v_today + m * interval '1 month')::date)
      from generate_series(0, 2) m;
      -- The test clock may be elsewhere.
      perform writ_data.make_governor_partition((p_at at time zone 'UTC')::date);
    exception
      when lock_not_available or duplicate_table or unique_violation then
        null;
      when others then
        if writ_data.is_transient(sqlstate) then
          raise;
        end if;
        perform writ_data.raise_alert('GOVERNORS_NOT_KEPT', 'P1', null, 'governors',
          jsonb_build_object('sqlstate', sqlstate, 'error', left(sqlerrm, 500)), p_actor, p_at);
    end;
  end if;

  if v_old is not null then
    begin
      foreach v_table in array array['governor_mail', 'governor_event', 'governor_settled'] loop
        execute format('drop table writ_data.%I', v_table || '_' || v_old);
      end loop;
      perform writ_data.record('fn_governor_tick', p_actor, p_at, '{}', '{}', '{}', '{}',
        p_note => format('dropped events of governors of %s', v_old));
    exception
      when lock_not_available then
        null;
      when others then
        if writ_data.is_transient(sqlstate) then
          raise;
        end if;
        perform writ_data.raise_alert('GOVERNORS_NOT_KEPT', 'P1', null, 'governors/' || v_old,
          jsonb_build_object('sqlstate', sqlstate, 'error', left(sqlerrm, 500)), p_actor, p_at);
    end;
  end if;
end $$;
