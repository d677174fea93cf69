-- Drops one day of jobs, executions and marks of cleaning, and carries over what is not cleaned.
-- Answers: how many jobs it carried over; -1 when there is nothing to gain, or too much to carry.
-- Locks:   the three tables, against everybody. It looks for what is to be carried before that: a
--          job that has been cleaned stays so, and no job is added to a day that is over, so the
--          list can only become shorter.
create or replace function writ_data.retire_day(p_day date) returns bigint
language plpgsql
as $$
declare
  v_most constant integer := 5000;
  v_suffix text := to_char(p_day, '_YYYYMMDD');
  v_lo uuid := writ_data.day_floor(p_day);
  v_hi uuid := writ_data.day_floor(p_day + 1);
  -- The caller's session may have temporary tables of any name that it knows.
  v_carried text := 'carried_' || replace(gen_random_uuid()::text, '-', '');
  v_ids uuid[];                     -- to be carried over
  v_left bigint := 0;
  v_cleaned boolean;
  v_any boolean;
  v_table text;
begin
  execute format(
    'select exists (select from writ_data.%I), exists (select from writ_data.%I)',
    'job_cleaned' || v_suffix, 'job' || v_suffix
  ) into v_cleaned, v_any;
  if v_any and not v_cleaned then
    return -1;
  end if;
  execute format(
    'select array_agg(x.job_id) from (
      select j.job_id from writ_data.%I j
      where not exists (select from writ_data.%I c where c.job_id = j.job_id)
      limit %s) x',
    'job' || v_suffix, 'job_cleaned' || v_suffix, v_most + 1
  ) into v_ids;
  if cardinality(v_ids) > v_most then
    return -1;
  end if;

  -- The parents first, as every statement takes them; then nothing moves in this day any more.
  lock table writ_data.job, writ_data.job_execution, writ_data.job_cleaned in access exclusive mode;
  if v_ids is not null then
    execute format(
      'create temporary table %I on commit drop as select j.* from writ_data.%I j
      where j.job_id = any ($1)
        and not exists (select from writ_data.%I c where c.job_id = j.job_id)',
      v_carried || '_j', 'job' || v_suffix, 'job_cleaned' || v_suffix
    ) using v_ids;
    get diagnostics v_left = row_count;
    execute format(
      'create temporary table %I on commit drop as select e.* from writ_data.%I e
      where e.job_id in (select job_id from pg_temp.%I)',
      v_carried || '_e', 'job_execution' || v_suffix, v_carried || '_j'
    );
  end if;

  foreach v_table in array array['job', 'job_execution', 'job_cleaned'] loop
    execute format('drop table writ_data.%I', v_table || v_suffix);
    if v_left > 0 then
      perform writ_data.make_partition(v_table, p_day);
    end if;
  end loop;

  if v_ids is not null then
    execute format('insert into writ_data.job select * from pg_temp.%I', v_carried || '_j');
    execute format(
      'insert into writ_data.job_execution select * from pg_temp.%I', v_carried || '_e'
    );
    execute format('drop table pg_temp.%I, pg_temp.%I', v_carried || '_j', v_carried || '_e');
  end if;
  delete from writ_data.job_cancel
  where job_id >= v_lo and job_id < v_hi
    and not exists (select from writ_data.job j where j.job_id = job_cancel.job_id);
  return v_left;
end $$;
