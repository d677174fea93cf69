-- The settings.
-- Callers: processes, readers
create or replace view writ.dot_config as select * from writ_data.dot_config;
