-- Returns the plan that does these steps one after the other; the same kinds in the same order are
-- the same plan. Neighbouring steps in the database are one step of the plan and one transaction,
-- so no reader sees half of them. The plan has no compensation, because undoing is the rollback
-- job's, and a failure ends it.
create or replace function writ_data.governed_plan(
  p_steps jsonb,
  p_timeout_ms bigint,
  p_actor text
) returns integer
language plpgsql
as $$
declare
  v_steps text;
  v_version text;
  v_document text;
  v_no integer;
  v_answer jsonb;
begin
  with step as (
    select
      x.n, x.step,
      coalesce(
        x.step ->> 'step_type' in (
          'capability_enable', 'capability_disable', 'config_update', 'signal_record'
        ),
        false
      ) as here
    from jsonb_array_elements(p_steps) with ordinality x(step, n)
  ), placed as (
    select s.*, s.n - row_number() over (partition by s.here order by s.n) as island from step s
  ), part as (
    select
      min(p.n) as first,
      max(p.n) as last,
      case
        when p.here then 'governance.change'
        else min('governance.' || (p.step ->> 'step_type'))
      end as kind,
      case
        when min(p.step ->> 'step_type') = 'soak'
          then min((p.step #>> '{parameters,duration_ms}')::bigint) + 60000
        else p_timeout_ms
      end as timeout
    from placed p
    group by p.here, case when p.here then p.island else p.n end
  ), named as (
    select p.*, concat('s', p.first, case when p.last > p.first then concat('-', p.last) end) as id
    from part p
  )
  select string_agg(
    concat(
      '{',
      case when x.before is not null then concat('"after":["', x.before, '"],') end,
      '"id":"', x.id, '","kind":', to_json(x.kind), ',"timeoutMs":', x.timeout, ',"type":"job"}'
    ),
    ',' order by x.first
  )
  into v_steps
  from (select n.*, lag(n.id) over (order by n.first) as before from named n) x;
  v_version := left(encode(sha256(convert_to(v_steps, 'UTF8')), 'hex'), 32);
  select plan_no
  into v_no
  from writ_data.plan
  where plan_id = 'governed' and plan_version = v_version;
  if not found then
    v_document := concat(
      '{"onFailure":"fail","planId":"governed","planVersion":"',
      v_version, '","schemaVersion":1,"steps":[', v_steps, ']}'
    );
    v_answer := writ_data.register_plan(
      v_document,
      encode(sha256(convert_to(v_document, 'UTF8')), 'hex'),
      '', p_actor, true
    );
    if v_answer ? 'refused' then
      raise exception using
        errcode = 'WR001',
        message = v_answer ->> 'reason',
        detail = v_answer ->> 'detail';
    end if;
    v_no := (v_answer ->> 'plan_no')::integer;
  end if;
  return v_no;
end $$;
