-- internal
-- The plan that does steps of these kinds, one after the other: the same kinds in the same order are the same plan. Undoing is the rollback job's, so it has no compensation, and a failure ends it.
create or replace function writ_data.governed_plan(p_kinds text[], p_timeouts bigint[], p_actor text) returns integer language plpgsql as $$
declare
  v_steps text; v_version text; v_document text; v_no integer; v_answer jsonb;
begin
  select string_agg(concat('{', case when u.n > 1 then concat('"after":["s', u.n - 1, '"],') end, '"id":"s', u.n, '","kind":', to_json(u.kind), ',"timeoutMs":', u.timeout, ',"type":"job"}'), ',' order by u.n)
  into v_steps from unnest(p_kinds, p_timeouts) with ordinality u(kind, timeout, n);
  v_version := left(encode(sha256(convert_to(v_steps, 'UTF8')), 'hex'), 32);
  select plan_no into v_no from writ_data.plan where plan_id = 'governed' and plan_version = v_version;
  if not found then
    v_document := concat('{"onFailure":"fail","planId":"governed","planVersion":"', v_version, '","schemaVersion":1,"steps":[', v_steps, ']}');
    v_answer := writ.fn_plan_register(v_document, encode(sha256(convert_to(v_document, 'UTF8')), 'hex'), p_actor);
    if v_answer ? 'refused' then
      raise exception using errcode = 'WR001', message = v_answer ->> 'reason', detail = v_answer ->> 'detail';
    end if;
    v_no := (v_answer ->> 'plan_no')::integer;
  end if;
  return v_no;
end $$;
