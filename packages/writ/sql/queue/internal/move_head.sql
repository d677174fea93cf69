-- Moves a lane's head up to its first live row, as a claim has seen it, or to where no transaction in flight could still add one: what stands before it
-- is dead, and nobody walks over it again. p_safe is that number as it was before the claim looked: a row may have come below a later one since.
-- One at a time; whoever finds another at it leaves it to him. A claim whose snapshot is older than its look leaves it as well.
create or replace function writ_data.move_head(p_lane bigint, p_first bigint, p_safe bigint) returns void language sql
  begin atomic
  update writ_data.lane l set head = x.head
  from (select ctid as at, least(p_first, coalesce(p_safe, 0)) as head from writ_data.lane
    where lane_id = p_lane and current_setting('transaction_isolation') = 'read committed' for no key update skip locked) x
  where l.ctid = x.at and l.head < x.head;
  end;
