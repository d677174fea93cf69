-- Enqueues jobs one by one, for a batch in which PostgreSQL cannot read a value as its type. That
-- job is refused as invalid_job, the others are judged as always.
-- Answers: as writ_data.enqueue_jobs does. With p_atomic a refusal takes back the jobs before it.
create or replace function writ_data.enqueue_each(
  p_jobs jsonb,
  p_actor text,
  p_tenant_id text,
  p_atomic boolean,
  p_by_gate boolean
) returns jsonb
language plpgsql
as $$
declare
  v_answer jsonb;
  v_at jsonb;
  v_enqueued integer := 0;
  v_duplicates jsonb := '[]'::jsonb;
  v_refused jsonb := '[]'::jsonb;
begin
  for v_index in 0 .. jsonb_array_length(p_jobs) - 1 loop
    v_answer := writ_data.enqueue_jobs(
      jsonb_build_array(p_jobs -> v_index), p_actor, p_tenant_id, false, p_by_gate
    );
    v_at := jsonb_build_object('index', v_index);
    v_enqueued := v_enqueued + (v_answer ->> 'enqueued')::integer;
    if v_answer -> 'duplicates' <> '[]' then
      v_duplicates := v_duplicates || jsonb_build_array(v_answer #> '{duplicates,0}' || v_at);
    end if;
    if v_answer -> 'refused' <> '[]' then
      v_refused := v_refused || jsonb_build_array(v_answer #> '{refused,0}' || v_at);
    end if;
  end loop;

  if p_atomic and v_refused <> '[]' then
    raise exception using errcode = 'WR003', message = 'take back';
  end if;
  return jsonb_build_object(
    'enqueued', v_enqueued, 'duplicates', v_duplicates, 'refused', v_refused
  );
exception when sqlstate 'WR003' then
  return jsonb_build_object('enqueued', 0, 'duplicates', '[]'::jsonb, 'refused', v_refused);
end $$;
