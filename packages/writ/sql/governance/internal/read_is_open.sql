-- Says whether the queue job of a read (contract_read) can still bring values.
create or replace function writ_data.read_is_open(p_job uuid) returns boolean
language sql stable
begin atomic
  select exists (select from writ_data.job j where j.job_id = p_job)
    and not exists (
      select from writ_data.job_execution e
      where e.job_id = p_job and (e.status in ('COMMITTED', 'DONE') or e.final)
    );
end;
