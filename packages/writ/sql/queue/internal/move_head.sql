-- Moves a lane's head up to its first live row, or to where no transaction in flight could still
-- add one, so that claims stop walking over the dead rows before it.
-- p_safe:  that number, as it was before the claim looked: a row may have come below a later one.
-- Locks:   the lane, so that put_back cannot add a row behind the new head. It leaves a lane alone
--          that another session holds, and does nothing on a snapshot older than the lock.
create or replace function writ_data.move_head(p_lane bigint, p_safe bigint) returns void
language plpgsql
as $$
declare
  v_head bigint;
begin
  select l.head into v_head
  from writ_data.lane l
  where l.lane_id = p_lane and current_setting('transaction_isolation') = 'read committed'
  for no key update skip locked;
  if not found or v_head >= p_safe then
    return;
  end if;

  -- In a statement after the lock, which sees what put_back has added.
  update writ_data.lane l
  set head = x.head
  from (
    select least(coalesce(f.seq, p_safe), p_safe) as head
    from (values (1)) one
    left join lateral (
      select r.seq
      from writ_data.job_ready r
      where r.lane_id = p_lane and r.seq >= v_head
      order by r.seq
      limit 1
    ) f on true
  ) x
  where l.lane_id = p_lane and l.head < x.head;
end $$;
