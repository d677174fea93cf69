-- internal
-- Moves a lane's head up to its first live row, as a claim has seen it, or to where no transaction in flight can still add one: what stands before it
-- is dead, and nobody walks over it again. One at a time; whoever finds another at it leaves it to him.
create or replace function writ_data.move_head(p_lane bigint, p_first bigint) returns void language sql
  begin atomic
  update writ_data.lane l set head = x.head
  from (select ctid as at, least(p_first, (select last_value from writ_data.job_ready_safe)) as head from writ_data.lane
    where lane_id = p_lane for update skip locked) x
  where l.ctid = x.at and l.head < x.head;
  end;
