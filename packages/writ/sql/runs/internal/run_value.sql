-- What a reference of a plan stands for in a run: `input`, `item`, `run.id`, or the output of a
-- step, each with a path into it. A path that leads nowhere gives null. The output of a step that
-- goes over a list is the list of the outputs of its elements.
create or replace function writ_data.run_value(
  p_run uuid,
  p_plan integer,
  p_input jsonb,
  p_item jsonb,
  p_ref text
) returns jsonb
language plpgsql stable
set enable_seqscan = off
as $$
declare
  v_match text[] := regexp_match(p_ref, '^steps[.](.+?)[.]output(?:[.](.+))?$');
  v_value jsonb;
  v_step writ_data.plan_step;
begin
  if p_ref = 'run.id' then
    return to_jsonb(p_run);
  elsif v_match is null then
    v_match := regexp_match(p_ref, '^(input|item)(?:[.](.+))?$');
    v_value := case v_match[1] when 'input' then p_input when 'item' then p_item end;
  else
    select * into v_step from writ_data.plan_step
    where plan_no = p_plan and step_id = v_match[1];
    if v_step.type = 'each' then
      select jsonb_agg(x.result order by x.item) into v_value
      from (
        select i.item, (
          select writ_data.as_jsonb(e.result) from writ_data.job_execution e
          where e.job_id = j.job_id and e.status in ('COMMITTED', 'DONE')) as result
        from writ_data.job j
        join writ_data.run_item i
          on i.run_id = j.run_id and i.step_no = j.step_no and i.attempt = j.logical_attempt
          and i.place = j.place
        where j.run_id = p_run and j.step_no = v_step.step_no and j.undo is null
          and exists (
            select from writ_data.job_execution e
            where e.job_id = j.job_id and e.status in ('COMMITTED', 'DONE'))) x;
    else
      select writ_data.as_jsonb(e.result) into v_value
      from writ_data.job j
      join writ_data.job_execution e
        on e.job_id = j.job_id and e.status in ('COMMITTED', 'DONE')
      where j.run_id = p_run and j.step_no = v_step.step_no and j.undo is null
      order by j.logical_attempt desc
      limit 1;
    end if;
  end if;
  return case
    when v_match[2] is null then v_value
    else writ_data.value_at(v_value, string_to_array(v_match[2], '.'))
  end;
end $$;
