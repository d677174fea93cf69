-- Enqueues queue jobs about governance jobs of a tenant, in the transaction of what they follow
-- from. Raises if they cannot be enqueued.
create or replace function writ_data.enqueue_governance(
  p_kind text,
  p_jobs uuid[],
  p_tenant text,
  p_actor text
) returns void
language plpgsql
as $$
declare
  v_answer jsonb := writ_data.enqueue_alike(
    p_kind,
    array(select writ_data.uuidv7() from unnest(p_jobs)),
    (select json_agg(json_build_object('job', j)) from unnest(p_jobs) j),
    p_actor, p_tenant
  );
begin
  if v_answer -> 'refused' not in ('[]', 'false') then
    raise exception using
      errcode = 'WR001',
      message = coalesce(v_answer ->> 'reason', v_answer #>> '{refused,0,reason}'),
      detail = format('%s of governance job %s could not be enqueued.', p_kind, p_jobs[1]);
  end if;
end $$;
