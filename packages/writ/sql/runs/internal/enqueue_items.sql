-- Enqueues p_n elements of a list from a place on. The caller has locked the run.
-- Raises:  WR001 payload_too_large when the inputs of these elements have more than 64 MB together.
create or replace function writ_data.enqueue_items(
  r writ_data.run,
  s writ_data.plan_step,
  p_attempt smallint,
  p_from integer,
  p_n integer,
  p_actor text,
  p_at timestamptz
) returns void
language plpgsql
set enable_seqscan = off
as $$
declare
  v_item record;
  v_inputs text[] := '{}'::text[];
  v_bytes bigint := 0;
begin
  for v_item in
    select writ_data.step_input(s.input, r.run_id, r.plan_no, r.input, i.value) as input
    from writ_data.run_item i
    where i.run_id = r.run_id and i.step_no = s.step_no and i.attempt = p_attempt
      and i.place between p_from and p_from + p_n - 1
    order by i.place
  loop
    v_bytes := v_bytes + coalesce(octet_length(v_item.input), 0);
    if v_bytes > 67108864 then
      raise exception using
        errcode = 'WR001',
        message = 'payload_too_large',
        detail = format(
          'The elements of step %s that run at once have more than 67108864 bytes together.',
          s.step_id);
    end if;
    v_inputs := v_inputs || v_item.input;
  end loop;

  p_n := cardinality(v_inputs);
  if p_n > 0 then
    perform writ_data.record_jobs(
      (writ_data.enqueue_steps(array_fill(r.run_id, array[p_n]), array_fill(s.step_no, array[p_n]),
        array(select generate_series(p_from, p_from + p_n - 1)), array_fill(p_attempt, array[p_n]),
        array_fill(false, array[p_n]), v_inputs, p_actor, p_at)).ids,
      p_actor, p_at);
  end if;
end $$;
