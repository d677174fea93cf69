-- Returns how many jobs of a lease are marked as started.
create or replace function writ_data.started_upto(p_lease writ_data.job_lease) returns integer
language sql immutable
return coalesce((p_lease.start_upto)[cardinality(p_lease.start_upto)], 0);
