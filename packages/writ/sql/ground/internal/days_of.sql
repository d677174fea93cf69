-- The days for which a table has a partition, before this one, the oldest first.
create or replace function writ_data.days_of(p_table text, p_before date) returns date[]
language sql stable
return array(
  select to_date(right(c.relname, 8), 'YYYYMMDD') as day
  from pg_inherits i
  join pg_class c on c.oid = i.inhrelid
  where i.inhparent = ('writ_data.' || p_table)::regclass
    and to_date(right(c.relname, 8), 'YYYYMMDD') < p_before
  order by day
);
