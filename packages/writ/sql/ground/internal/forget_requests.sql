-- Deletes requests that are older than requests.retention_hours. Answers how many.
create or replace function writ_data.forget_requests(p_limit integer, p_at timestamptz)
returns integer
language plpgsql
as $$
declare
  v_hours double precision := (writ_data.setting('requests.retention_hours'))::double precision;
  v_deleted integer;
begin
  delete from writ_data.request
  where ctid = any (array(
    select r.ctid
    from writ_data.request r
    where r.at < p_at - v_hours * interval '1 hour'
    order by r.at
    limit p_limit
    for update skip locked
  ));
  get diagnostics v_deleted = row_count;
  return v_deleted;
end $$;
