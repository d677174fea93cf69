-- What workers may claim, for those that are limited.
-- Callers: processes, readers
create or replace view writ.job_subscription as
select * from writ_data.job_subscription;
