-- Fills in what a claim answers about jobs whose ready rows did not carry it. The rows are built as
-- text: their inputs are JSON already, and building them value by value would cost most. At the
-- end, where there is any: what the job is a step of, its place in a trace, and the moment until
-- which it was delayed. Called by fn_job_claim_many, whose settings forbid plans that flip.
create or replace function writ_data.look_up(
  p_ids uuid[],
  p_attempts smallint[],
  p_nos integer[],
  p_answers text[]
) returns text[]
language plpgsql stable
as $$
declare
  v_lo uuid := p_ids[1];
  v_hi uuid := p_ids[1];
  v_answers text[];
begin
  if cardinality(p_ids) > 1 then
    select u.ids[1], u.ids[cardinality(p_ids)]
    into v_lo, v_hi
    from (select array_agg(x order by x) as ids from unnest(p_ids) x) u;
  end if;

  select array_agg(coalesce(
    u.answer,
    concat(
      '["', u.id, '","', j.job_kind, '",', to_json(j.tenant_id), ',',
      coalesce(to_json(j.idempotency_key)::text, 'null'),
      ',', u.attempts + 1, ',', u.no, ',',
      coalesce(to_json(j.deadline_at)::text, 'null'),
      case when j.input is null then ',null,' else concat(',[', j.input, '],') end,
      case
        when j.payload_ref is null and j.safe_payload is null and j.correlation_id is null
          then 'null,null,null'
        else concat_ws(
          ',',
          coalesce(to_json(j.payload_ref)::text, 'null'),
          coalesce(j.safe_payload::text, 'null'),
          coalesce(to_json(j.correlation_id)::text, 'null')
        )
      end,
      ',', j.priority, ',', j.max_attempts,
      case
        when j.parent_job_id is null and j.workflow_id is null then ',null,null'
        else concat(
          ',',
          coalesce(to_json(j.parent_job_id)::text, 'null'),
          ',', coalesce(to_json(j.workflow_id)::text, 'null')
        )
      end,
      case
        when j.run_id is not null
          then concat(
            ',',
            writ_data.on_job_described(
              j.run_id, j.step_no, j.place, j.logical_attempt, coalesce(j.undo, false)
            )
          )
        when j.traceparent is not null or j.process_after > j.enqueued_at then ',null'
      end,
      case
        when j.traceparent is not null then concat(',"', j.traceparent, '"')
        when j.process_after > j.enqueued_at then ',null'
      end,
      case
        when j.process_after > j.enqueued_at
          then concat(',', (date_part('epoch', j.process_after) * 1000)::bigint)
      end,
      ']'
    )
  ))
  into v_answers
  from unnest(p_ids, p_attempts, p_nos, p_answers) u(id, attempts, no, answer)
  -- One by one through the index. The bounds open only the partitions of these jobs. Without
  -- `offset 0`, the planner might read everything between them, once for every job.
  left join lateral (
    select *
    from writ_data.job x
    where x.job_id = u.id and x.job_id between v_lo and v_hi and u.answer is null
    offset 0
  ) j on true;
  return v_answers;
end $$;
