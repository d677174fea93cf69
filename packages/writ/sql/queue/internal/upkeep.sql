-- Does the maintenance of each minute: removes empty lanes, workers that have been silent for long
-- and old requests, creates partitions ahead, cleans jobs past their retention and drops days past
-- theirs. Runs do theirs in on_upkeep, with every tick, and in on_minute. The parts are
-- independent: one that raises gets an alert (writ_data.set_aside) and another try in a minute.
create or replace function writ_data.upkeep(p_at timestamptz, p_actor text) returns void
language plpgsql
as $$
declare
  v_last timestamptz;
  v_retired timestamptz;
  v_sweep boolean;
begin
  select upkeep_at, retired_at, sweep_on into v_last, v_retired, v_sweep from writ_data.clockwork;
  if v_sweep then
    -- More than one sweep can take: a part of it with each tick.
    begin
      if (writ.fn_job_cleanup_sweep(5000, p_actor) ->> 'cleaned')::integer < 5000 then
        update writ_data.clockwork set sweep_on = false;
      end if;
    exception when others then
      update writ_data.clockwork set sweep_on = false;
      perform writ_data.set_aside('clockwork/sweep', null, sqlstate, sqlerrm, p_actor, p_at);
    end;
  end if;
  perform writ_data.on_upkeep(p_actor, p_at);

  if p_at >= v_last and p_at < v_last + interval '1 minute' then
    return;
  end if;
  update writ_data.clockwork set upkeep_at = p_at;

  begin
    perform writ_data.close_lanes();
    delete from writ_data.limit_meter where full_at < p_at - interval '1 hour';
  exception when others then
    perform writ_data.set_aside('clockwork/lanes', null, sqlstate, sqlerrm, p_actor, p_at);
  end;

  -- A day after it was reported, a silent worker is forgotten. If it beats again, it is back.
  begin
    delete from writ_data.queue_worker where silent_since < p_at - interval '1 day';
  exception when others then
    perform writ_data.set_aside('clockwork/workers', null, sqlstate, sqlerrm, p_actor, p_at);
  end;

  begin
    perform writ_data.forget_requests(10000, p_at);
  exception when others then
    perform writ_data.set_aside('clockwork/requests', null, sqlstate, sqlerrm, p_actor, p_at);
  end;

  perform writ_data.on_minute(p_actor, p_at);

  begin
    perform writ_data.keep_partitions(p_actor, p_at);
  exception when others then
    perform writ_data.set_aside('clockwork/partitions', null, sqlstate, sqlerrm, p_actor, p_at);
  end;

  begin
    if (writ.fn_job_cleanup_sweep(10000, p_actor) ->> 'cleaned')::integer >= 10000 then
      update writ_data.clockwork set sweep_on = true;
    end if;
  exception when others then
    perform writ_data.set_aside('clockwork/sweep', null, sqlstate, sqlerrm, p_actor, p_at);
  end;

  -- A day in a minute while there are any to drop, and a look in an hour when there are none.
  begin
    if (p_at < v_retired or p_at >= v_retired + interval '1 hour')
      and writ_data.retire_days(p_actor, p_at) = 0
    then
      update writ_data.clockwork set retired_at = p_at;
    end if;
  exception when others then
    perform writ_data.set_aside('clockwork/retention', null, sqlstate, sqlerrm, p_actor, p_at);
  end;
end $$;
