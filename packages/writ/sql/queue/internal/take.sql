-- Takes up to p_jobs jobs from a lane, the oldest first, and skips rows that another claim is
-- taking. A row holds the jobs of one call; the surplus of the last row stays where it was. Jobs
-- whose deadline has passed are answered apart (late_…). `answers` is the claim's answer for each
-- job, as JSON text, where the ready row carries it; null where the job has to be looked up.
-- `stepped`: some are steps of runs. It learns how many rows to take at a time as it goes, because
-- a row holds one job or a hundred, and rows taken in vain are hidden from other claims. Called by
-- fn_job_claim_many, whose settings forbid plans that flip.
create or replace function writ_data.take(
  p_lane bigint,
  p_head bigint,
  p_jobs integer,
  p_at timestamptz,
  p_kind text,
  p_tenant text,
  p_priority smallint,
  out ids uuid[],
  out attempts smallint[],
  out nos integer[],
  out answers text[],
  out rows_taken integer,
  out stepped boolean,
  out late_ids uuid[],
  out late_attempts smallint[],
  out late_nos integer[]
)
language plpgsql
as $$
declare
  v_rows integer;                   -- how many rows to take next
  v_jobs integer;                   -- jobs in the rows just taken
  v_left integer := p_jobs;
  v_got integer;                    -- rows just taken
  v_plain boolean;                  -- all of them are first attempts
  v_dated boolean;                  -- some have a deadline

  -- An answer is the same around id and input for all jobs that rows carry.
  v_after_id text := concat('","', p_kind, '",', to_json(p_tenant), ',null,1,1,null,');
  v_after_input text := concat(',null,null,null,', p_priority, ',');

  -- Jobs just taken (t_…), their rows (r_…, v_… for the first) and late jobs (l_…), as parallel
  -- arrays.
  t_inputs text[];
  t_steps text[];
  t_answers text[];
  r_max smallint[];
  v_max smallint;
  t_ids uuid[];
  t_attempts smallint[];
  t_nos integer[];
  l_ids uuid[];
  l_attempts smallint[];
  l_nos integer[];
  r_seq bigint[];
  r_part bigint[];
  r_jobs integer[];
  r_attempts smallint[];
  r_no integer[];
  r_deadline timestamptz[];
  r_moved boolean[];
  v_seq bigint;
  v_part bigint;
  v_attempts smallint;
  v_no integer;
  v_deadline timestamptz;
  v_moved boolean;
begin
  -- The first row alone costs little. Often it is the only one, and its size tells how many more to
  -- take at a time.
  delete from writ_data.job_ready r
  where r.ctid = (
    select q.ctid
    from writ_data.job_ready q
    where q.lane_id = p_lane and q.seq >= p_head
    order by q.seq, q.part
    limit 1
    for update skip locked
  )
  returning
    r.seq, r.part, r.job_ids, r.attempts, r.execution_no, r.deadline_at, r.moved, r.inputs,
    r.max_attempts, r.steps
  into v_seq, v_part, ids, v_attempts, v_no, v_deadline, v_moved, t_inputs, v_max, t_steps;

  stepped := t_steps is not null;
  if not found then
    ids := '{}';
    attempts := '{}';
    nos := '{}';
    answers := '{}';
    rows_taken := 0;
    return;
  end if;
  rows_taken := 1;

  -- Late jobs count for nothing; the surplus goes back.
  if v_deadline <= p_at then
    late_ids := ids;
    late_attempts := array_fill(v_attempts, array[cardinality(ids)]);
    late_nos := array_fill(v_no, array[cardinality(ids)]);
    ids := '{}';
  elsif cardinality(ids) > p_jobs then
    insert into writ_data.job_ready (
      lane_id, seq, part, job_ids, attempts, execution_no, deadline_at, moved, inputs, max_attempts,
      steps
    ) values (
      p_lane, v_seq, v_part, ids[p_jobs + 1:], v_attempts, v_no, v_deadline, v_moved,
      t_inputs[p_jobs + 1:], v_max, t_steps[p_jobs + 1:]
    );
    ids := ids[:p_jobs];
  end if;

  attempts := array_fill(v_attempts, array[cardinality(ids)]);
  nos := array_fill(v_no, array[cardinality(ids)]);
  if v_max is null then
    answers := array_fill(null::text, array[cardinality(ids)]);
  elsif cardinality(ids) = 1 then
    answers := array[concat(
      '["', ids[1], v_after_id,
      case when t_inputs[1] is null then 'null' else concat('[', t_inputs[1], ']') end,
      v_after_input, v_max, ',null,null', ',' || t_steps[1], ']'
    )];
  else
    answers := array(
      select concat(
        '["', u.id, v_after_id,
        case when u.input is null then 'null' else concat('[', u.input, ']') end,
        v_after_input, v_max, ',null,null', ',' || u.step, ']'
      )
      from unnest(ids, t_inputs[:cardinality(ids)], t_steps[:cardinality(ids)]) u(id, input, step)
    );
  end if;

  -- The other rows, more and more at a time.
  v_left := p_jobs - cardinality(ids);
  if v_left = 0
    or not exists (select from writ_data.job_ready q where q.lane_id = p_lane and q.seq >= p_head)
  then
    return;
  end if;
  v_rows := greatest(1, least(8, v_left / greatest(cardinality(ids), 1)));
  loop
    with gone as (
      delete from writ_data.job_ready r
      where r.ctid = any (array(
        select q.ctid
        from writ_data.job_ready q
        where q.lane_id = p_lane and q.seq >= p_head
        order by q.seq, q.part
        limit v_rows
        for update skip locked
      ))
      returning
        r.seq, r.part, r.job_ids, r.attempts, r.execution_no, r.deadline_at, r.moved, r.inputs,
        r.max_attempts, r.steps
    ), sorted as materialized (
      select * from gone order by seq, part
    ), each as materialized (
      select
        u.id, u.input, u.step,
        case
          when s.max_attempts is not null
            then concat(
              '["', u.id, v_after_id,
              case when u.input is null then 'null' else concat('[', u.input, ']') end,
              v_after_input, s.max_attempts, ',null,null', ',' || u.step, ']'
            )
        end as answer
      from sorted s
      cross join lateral unnest(s.job_ids, s.inputs, s.steps) u(id, input, step)
    )
    select
      (select array_agg(e.id) from each e),
      (select array_agg(e.answer) from each e),
      (select array_agg(e.input) from each e),
      (select array_agg(e.step) from each e),
      array_agg(s.max_attempts),
      array_agg(s.seq),
      array_agg(s.part),
      array_agg(cardinality(s.job_ids)),
      array_agg(s.attempts),
      array_agg(s.execution_no),
      array_agg(s.deadline_at),
      array_agg(s.moved),
      count(*),
      bool_and(s.attempts = 0 and s.execution_no = 1),
      bool_or(s.deadline_at is not null),
      stepped or bool_or(s.steps is not null)
    into t_ids, t_answers, t_inputs, t_steps, r_max, r_seq, r_part, r_jobs, r_attempts, r_no,
      r_deadline, r_moved, v_got, v_plain, v_dated, stepped
    from sorted s;

    stepped := coalesce(stepped, false);
    exit when t_ids is null;
    rows_taken := rows_taken + v_got;
    if v_dated and p_at >= any (r_deadline) then
      -- Rows past their deadline go as a whole, and count for nothing.
      select
        array_agg(t_ids[u.n] order by u.n) filter (where u.late),
        array_agg(u.a order by u.n) filter (where u.late),
        array_agg(u.no order by u.n) filter (where u.late),
        coalesce(array_agg(t_ids[u.n] order by u.n) filter (where not u.late), '{}'),
        coalesce(array_agg(t_answers[u.n] order by u.n) filter (where not u.late), '{}'),
        coalesce(array_agg(t_inputs[u.n] order by u.n) filter (where not u.late), '{}'),
        coalesce(array_agg(t_steps[u.n] order by u.n) filter (where not u.late), '{}')
      into l_ids, l_attempts, l_nos, t_ids, t_answers, t_inputs, t_steps
      from (
        select
          x.a, x.no,
          coalesce(x.deadline <= p_at, false) as late,
          row_number() over (order by x.o) as n
        from unnest(r_jobs, r_attempts, r_no, r_deadline)
          with ordinality x(jobs, a, no, deadline, o)
        cross join lateral generate_series(1, x.jobs)
      ) u;

      select
        array_agg(x.seq order by x.o),
        array_agg(x.part order by x.o),
        array_agg(x.jobs order by x.o),
        array_agg(x.a order by x.o),
        array_agg(x.no order by x.o),
        array_agg(x.deadline order by x.o),
        array_agg(x.moved order by x.o),
        array_agg(x.max order by x.o)
      into r_seq, r_part, r_jobs, r_attempts, r_no, r_deadline, r_moved, r_max
      from unnest(r_seq, r_part, r_jobs, r_attempts, r_no, r_deadline, r_moved, r_max)
        with ordinality x(seq, part, jobs, a, no, deadline, moved, max, o)
      where not coalesce(x.deadline <= p_at, false);
      late_ids := late_ids || l_ids;
      late_attempts := late_attempts || l_attempts;
      late_nos := late_nos || l_nos;
    end if;

    -- The surplus of the last row goes back.
    v_jobs := cardinality(t_ids);
    if v_jobs > v_left then
      insert into writ_data.job_ready (
        lane_id, seq, part, job_ids, attempts, execution_no, deadline_at, moved, inputs,
        max_attempts, steps
      )
      select
        p_lane, u.seq, u.part,
        t_ids[greatest(u.upto - u.jobs, v_left) + 1:u.upto],
        u.a, u.no, u.deadline, u.moved,
        case when u.max is not null then t_inputs[greatest(u.upto - u.jobs, v_left) + 1:u.upto] end,
        u.max,
        case
          when t_steps[u.upto] is not null
            then t_steps[greatest(u.upto - u.jobs, v_left) + 1:u.upto]
        end
      from (
        select *, sum(x.jobs) over (order by x.o) as upto
        from unnest(r_seq, r_part, r_jobs, r_attempts, r_no, r_deadline, r_moved, r_max)
          with ordinality x(seq, part, jobs, a, no, deadline, moved, max, o)
      ) u
      where u.upto > v_left;
      t_ids := t_ids[:v_left];
      t_answers := t_answers[:v_left];
    end if;

    if v_plain then
      t_attempts := array_fill(0::smallint, array[cardinality(t_ids)]);
      t_nos := array_fill(1, array[cardinality(t_ids)]);
    else
      select array_agg(u.a order by u.o), array_agg(u.no order by u.o)
      into t_attempts, t_nos
      from (
        select x.a, x.no, row_number() over (order by x.o) as o
        from unnest(r_jobs, r_attempts, r_no) with ordinality x(jobs, a, no, o)
        cross join lateral generate_series(1, x.jobs)
      ) u
      where u.o <= cardinality(t_ids);
    end if;

    ids := ids || t_ids;
    attempts := attempts || t_attempts;
    nos := nos || t_nos;
    answers := answers || t_answers;
    v_left := p_jobs - cardinality(ids);

    -- The clockwork ends further late jobs.
    exit when v_left = 0 or v_got < v_rows or cardinality(late_ids) >= 1000;
    v_rows := least(
      v_rows * 8,
      ceil(v_left * v_rows::double precision / greatest(v_jobs, 1))
    )::integer;
  end loop;
end $$;
