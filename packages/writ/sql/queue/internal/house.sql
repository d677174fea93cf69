-- Writes the ready rows of a call whose lanes did not exist yet: opens the lanes and puts the jobs
-- where the call would have put them.
create or replace function writ_data.house(p_calls jsonb) returns void
language plpgsql
as $$
begin
  insert into writ_data.job_ready (lane_id, seq, part, job_ids, attempts, execution_no, deadline_at)
  select
    c.lane_id, c.seq,
    c.n * 1000 + part,
    c.ids[part * 100 + 1:part * 100 + 100],
    0, 1, c.deadline
  from (
    select
      writ_data.open_lane(x.kind, x.tenant, x.key, x.priority, false) as lane_id,
      x.seq, x.n, x.deadline,
      array(select jsonb_array_elements_text(x.ids))::uuid[] as ids
    from jsonb_to_recordset(p_calls) x(
      kind text,
      tenant text,
      key text,
      priority smallint,
      deadline timestamptz,
      seq bigint,
      n integer,
      ids jsonb
    )
  ) c
  cross join lateral generate_series(0, (cardinality(c.ids) - 1) / 100) part;
end $$;
