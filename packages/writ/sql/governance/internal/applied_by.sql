-- Returns the last value of each slot that a forward job wrote or its rollbacks restored.
create or replace function writ_data.applied_by(p_job uuid) returns jsonb
language sql stable
begin atomic
  select coalesce(jsonb_object_agg(x.slot, x.value), '{}')
  from (
    select distinct on (e.key) e.key as slot, e.value
    from (
      select p_job as job_id
      union all
      select r.job_id from writ_data.governance_job r where r.of_job_id = p_job
    ) j
    join writ_data.governance_step s on s.job_id = j.job_id
    cross join lateral jsonb_each(s.applied) e
    where s.applied is not null
    order by e.key, s.receipt_no desc
  ) x;
end;
