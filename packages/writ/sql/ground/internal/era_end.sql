-- The last id that a batch of an era can have.
create or replace function writ_data.era_end(p_era uuid) returns uuid
language sql stable
return coalesce(
  (select e.era from writ_data.record_era e where e.era > p_era order by e.era limit 1),
  'ffffffff-ffff-ffff-ffff-ffffffffffff'
);
