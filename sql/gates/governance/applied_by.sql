-- internal
-- What a governance job has written, slot → the last value.
create or replace function writ_data.applied_by(p_job uuid) returns jsonb language sql stable
begin atomic
  select coalesce(jsonb_object_agg(x.slot, x.value), '{}') from (select distinct on (e.key) e.key as slot, e.value from writ_data.governance_step s cross join lateral jsonb_each(s.applied) e where s.job_id = p_job and s.applied is not null order by e.key, s.step_no desc) x;
end;
