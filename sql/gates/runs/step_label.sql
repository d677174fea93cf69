-- internal
-- What a claim says of a job that is a step: a JSON array of run, step, logical attempt, plan, version and timeout.
create or replace function writ_data.step_label(p_run uuid, p_step smallint, p_place integer, p_attempt smallint, p_undo boolean) returns text language sql stable
  return (select concat('["', p_run, '","', case when p_undo then 'undo:' end, s.step_id, case when p_place is not null then (select format('[%s]', i.item) from writ_data.run_item i
      where i.run_id = p_run and i.step_no = p_step and i.attempt = p_attempt and i.place = p_place) end, '",', p_attempt, ',"', p.plan_id, '","', p.plan_version, '",', coalesce(s.timeout_ms::text, 'null'), ']')
    from writ_data.run r join writ_data.plan p on p.plan_no = r.plan_no join writ_data.plan_step s on s.plan_no = r.plan_no and s.step_no = p_step where r.run_id = p_run);
