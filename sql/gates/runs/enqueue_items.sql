-- Enqueues p_n elements of a list from a place on. The caller has locked the run.
create or replace function writ_data.enqueue_items(r writ_data.run, s writ_data.plan_step, p_attempt smallint, p_from integer, p_n integer, p_actor text, p_at timestamptz) returns void language plpgsql
  set enable_seqscan = off as $$
declare
  v_inputs text[];
begin
  select array_agg(writ_data.step_input(s.input, r.run_id, r.plan_no, r.input, i.value) order by i.place) into v_inputs
  from writ_data.run_item i where i.run_id = r.run_id and i.step_no = s.step_no and i.attempt = p_attempt and i.place between p_from and p_from + p_n - 1;
  if v_inputs is not null then
    p_n := cardinality(v_inputs);
    perform writ_data.record_jobs((writ_data.enqueue_steps(array_fill(r.run_id, array[p_n]), array_fill(s.step_no, array[p_n]), array(select generate_series(p_from, p_from + p_n - 1)),
      array_fill(p_attempt, array[p_n]), array_fill(false, array[p_n]), v_inputs, p_actor, p_at)).ids, p_actor, p_at);
  end if;
end $$;
