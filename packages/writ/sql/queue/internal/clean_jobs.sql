-- Marks ended jobs as cleaned, and frees their keys. If one of them raises, halves the list until
-- that one is alone, and sets it aside with an alert; the sweep finds it again.
-- Answers: the jobs that it cleaned.
create or replace function writ_data.clean_jobs(
  p_jobs uuid[],
  p_was text[],
  p_actor text,
  p_at timestamptz
) returns uuid[]
language plpgsql
as $$
declare
  v_n integer := cardinality(p_jobs);
  v_cleaned uuid[];
begin
  if coalesce(v_n, 0) = 0 then
    return '{}'::uuid[];
  end if;

  begin
    with cleaned as (
      insert into writ_data.job_cleaned (job_id, cleaned_at, was)
      select u.job_id, p_at, u.was from unnest(p_jobs, p_was) u(job_id, was)
      on conflict do nothing
      returning job_id
    ), keys as (
      delete from writ_data.job_key k
      using writ_data.job j
      where j.job_id in (select job_id from cleaned)
        and k.tenant_id = j.tenant_id and k.job_kind = j.job_kind
        and k.idempotency_key = j.idempotency_key and k.job_id = j.job_id
    )
    select array_agg(job_id order by job_id) into v_cleaned from cleaned;
    return coalesce(v_cleaned, '{}');
  exception when others then
    if writ_data.is_transient(sqlstate) then
      raise;
    elsif v_n = 1 then
      perform writ_data.set_aside(
        'job/' || p_jobs[1], (select tenant_id from writ_data.job where job_id = p_jobs[1]),
        sqlstate, sqlerrm, p_actor, p_at
      );
      return '{}'::uuid[];
    end if;
  end;
  return writ_data.clean_jobs(p_jobs[:v_n / 2], p_was[:v_n / 2], p_actor, p_at)
    || writ_data.clean_jobs(p_jobs[v_n / 2 + 1:], p_was[v_n / 2 + 1:], p_actor, p_at);
end $$;
