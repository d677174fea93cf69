-- internal
-- Enqueues a job of governance about a governance job, in the transaction of what it follows from; raises if it cannot be.
create or replace function writ_data.enqueue_governance(p_kind text, p_job uuid, p_tenant text, p_actor text) returns void language plpgsql as $$
declare
  v_answer jsonb := writ.fn_job_enqueue_alike(p_kind, array[writ_data.uuidv7()], json_build_array(json_build_object('job', p_job)), p_actor, p_tenant);
begin
  if v_answer -> 'refused' not in ('[]', 'false') then
    raise exception using errcode = 'WR001', message = coalesce(v_answer ->> 'reason', v_answer #>> '{refused,0,reason}'), detail = format('%s of governance job %s could not be enqueued.', p_kind, p_job);
  end if;
end $$;
