-- The batches after a position, also those that a reader may not take yet: what it has before it.
-- p_until is the end of the position's era (writ_data.era_end). The planner inlines this function,
-- so conditions on its rows find the indexes.
create or replace function writ_data.record_after(
  p_at writ_data.record_position,
  p_until uuid
) returns setof writ_data.event_batch
language sql stable
as $$
  select b.*
  from writ_data.event_batch b
  where (b.xid, b.batch_id) > ((p_at).xid, (p_at).fact)
    and b.batch_id > (p_at).era and b.batch_id <= p_until
  union all
  select b.*
  from writ_data.event_batch b
  where b.batch_id > p_until
$$;
