-- Returns whether a job stands in its lane: where its call put it, or in a row of its own since it
-- came back.
create or replace function writ_data.stands_ready(p_job writ_data.job) returns boolean
language sql stable
return exists (select from writ_data.job_ready r where r.moved and r.job_ids[1] = p_job.job_id)
  or exists (
    select from writ_data.lane l
    join writ_data.job_ready r on r.lane_id = l.lane_id and r.seq = p_job.ready_seq
    where l.job_kind = p_job.job_kind
      and l.tenant_id = p_job.tenant_id
      and l.limit_key = coalesce(p_job.limit_key, '')
      and l.priority = p_job.priority
      and not r.moved
      and p_job.job_id = any (r.job_ids)
  );
