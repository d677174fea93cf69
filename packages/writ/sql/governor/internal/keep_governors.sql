-- Makes the months of mailboxes and events that are to come, and drops one that is past its retention. Nobody waits for it longer than a tenth of a second.
create or replace function writ_data.keep_governors(p_actor text, p_at timestamptz) returns void language plpgsql as $$
declare
  v_today date := (clock_timestamp() at time zone 'UTC')::date; v_old text; v_table text;
begin
  if to_regclass('writ_data.governor_event' || to_char(v_today + interval '2 months', '_YYYYMM')) is not null and to_regclass('writ_data.governor_event' || to_char(p_at at time zone 'UTC', '_YYYYMM')) is not null
    and not exists (select from pg_class c where c.relnamespace = 'writ_data'::regnamespace and c.relname ~ '^governor_event_[0-9]{6}$'
      and (to_date(right(c.relname, 6), 'YYYYMM') + interval '1 month') at time zone 'UTC' < p_at - (writ_data.setting('governor.retention.events_days'))::integer * interval '1 day') then
    return;
  end if;
  perform set_config('lock_timeout', '100ms', true);
  begin
    perform writ_data.make_governor_partition((v_today + m * interval '1 month')::date) from generate_series(0, 2) m;
    -- The test clock may be elsewhere.
    perform writ_data.make_governor_partition((p_at at time zone 'UTC')::date);
    select right(c.relname, 6) into v_old from pg_class c where c.relnamespace = 'writ_data'::regnamespace and c.relname ~ '^governor_event_[0-9]{6}$'
      and (to_date(right(c.relname, 6), 'YYYYMM') + interval '1 month') at time zone 'UTC' < p_at - (writ_data.setting('governor.retention.events_days'))::integer * interval '1 day' order by c.relname limit 1;
    if v_old is not null then
      foreach v_table in array array['governor_mail', 'governor_event', 'governor_settled'] loop
        execute format('drop table writ_data.%I', v_table || '_' || v_old);
      end loop;
      perform writ_data.record('fn_governor_tick', p_actor, p_at, '{}', '{}', '{}', '{}', p_note => format('dropped events of governors of %s', v_old));
    end if;
  exception when lock_not_available or duplicate_table or unique_violation then
    null; -- at the next turn again: months are made two ahead
  end;
  perform set_config('lock_timeout', '0', true);
end $$;
