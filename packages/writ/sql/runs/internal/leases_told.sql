-- Counts ended jobs down in their leases: p_tokens names a lease once per job, and p_leases is the
-- number of different leases. The caller has locked them.
create or replace function writ_data.leases_told(p_tokens uuid[], p_leases integer) returns void
language plpgsql
as $$
declare
  v_gone integer;
begin
  if p_leases = 1 then
    delete from writ_data.job_lease l
    where l.lease_token = p_tokens[1] and l.open_jobs <= cardinality(p_tokens);
  else
    delete from writ_data.job_lease l
    where l.lease_token = any (p_tokens)
      and l.open_jobs <= (select count(*) from unnest(p_tokens) t where t = l.lease_token);
  end if;
  get diagnostics v_gone = row_count;
  if v_gone < p_leases then
    update writ_data.job_lease l
    set open_jobs = l.open_jobs - c.n
    from (select t, count(*) as n from unnest(p_tokens) t group by t) c
    where l.lease_token = c.t;
  end if;
end $$;
