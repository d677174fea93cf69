-- Takes one job out of its lane, and waits for a claim that is just taking it. Answers what its
-- ready row knew, or nulls if it has none.
create or replace function writ_data.leave_ready(
  p_job writ_data.job,
  out attempts smallint,
  out execution_no integer
)
language plpgsql
set enable_seqscan = off
as $$
declare
  v_place tid;
  v_ids uuid[];
  v_at integer;
begin
  delete from writ_data.job_ready r
  where r.moved and r.job_ids[1] = p_job.job_id
  returning r.attempts, r.execution_no
  into attempts, execution_no;
  if found or p_job.ready_seq is null then
    return;
  end if;
  select r.ctid, r.job_ids, r.attempts, r.execution_no
  into v_place, v_ids, attempts, execution_no
  from writ_data.job_ready r
  where r.lane_id in (
    select l.lane_id
    from writ_data.lane l
    where l.job_kind = p_job.job_kind
      and l.tenant_id = p_job.tenant_id
      and l.limit_key = coalesce(p_job.limit_key, '')
      and l.priority = p_job.priority
  )
    and r.seq = p_job.ready_seq
    and not r.moved
    and p_job.job_id = any (r.job_ids)
  for update;
  if not found then
    attempts := null;
    execution_no := null;
  elsif cardinality(v_ids) = 1 then
    delete from writ_data.job_ready where ctid = v_place;
  else
    v_at := array_position(v_ids, p_job.job_id);
    update writ_data.job_ready
    set
      job_ids = job_ids[:v_at - 1] || job_ids[v_at + 1:],
      inputs = inputs[:v_at - 1] || inputs[v_at + 1:]
    where ctid = v_place;
  end if;
end $$;
