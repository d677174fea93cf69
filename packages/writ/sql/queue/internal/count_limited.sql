-- Counts how many of these jobs each limited kind and key has, for a claim that has turned steps
-- away.
-- Answers: parallel arrays, empty where no kind has limits.
create or replace function writ_data.count_limited(
  p_jobs uuid[],
  out kinds text[],
  out keys text[],
  out counts integer[]
)
language plpgsql stable
as $$
begin
  select
    coalesce(array_agg(c.job_kind), '{}'),
    coalesce(array_agg(c.limit_key), '{}'),
    coalesce(array_agg(c.jobs), '{}')
  into kinds, keys, counts
  from (
    select j.job_kind, coalesce(j.limit_key, '') as limit_key, count(*)::integer as jobs
    from writ_data.job j
    join writ_data.job_kind k
      on k.job_kind = j.job_kind
      and (k.limit_concurrency is not null or k.limit_rate is not null)
    where j.job_id = any (p_jobs)
    group by 1, 2
  ) c;
end $$;
