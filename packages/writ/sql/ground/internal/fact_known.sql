-- Whether there is a fact of this id: a batch that has its ordinal. A function for the reason of
-- writ_data.workflow_known.
create or replace function writ_data.fact_known(p_event_id uuid) returns boolean
language plpgsql stable
as $$
begin
  return exists (
    select from writ_data.event_batch b
    where b.batch_id = writ_data.batch_of(p_event_id)
      and p_event_id between writ_data.fact_id(b.batch_id, 1) and writ_data.fact_id(
        b.batch_id,
        (select sum(greatest(l - f + 1, 0)) from unnest(b.first, b.last) r(f, l))::bigint
      )
  );
end $$;
