-- An event by its id, as the record has it: its type, what it is about, its number in its run, and
-- whose it is. No row where the record does not have it.
create or replace function writ_data.outbox_fact(p_event uuid)
returns table (type text, subject uuid, run_seq integer, tenant text)
language plpgsql stable
set enable_seqscan = off
as $$
begin
  return query
    select f.type, f.subject, f.seq,
      coalesce(
        (select x.tenant_id from writ_data.run x where f.seq is not null and x.run_id = f.subject),
        (select x.tenant_id from writ_data.job x
          where f.type like 'dot.job.%' and x.job_id = f.subject),
        (select x.tenant_id from writ_data.alert x
          where f.type like 'system.alert%' and x.alert_id = f.subject),
        writ_data.on_fact_tenant(f.type, f.subject))
    from (
      select b.types[t.i] as type, b.subjects[s.n] as subject,
        case when b.types[t.i] like 'dot.run.%' then b.run_seqs[s.n] end as seq,
        row_number() over (order by t.i, s.n) as ordinal
      from writ_data.event_batch b
      cross join lateral generate_subscripts(b.types, 1) t(i)
      cross join lateral generate_series(b.first[t.i], b.last[t.i]) s(n)
      where b.batch_id = writ_data.batch_of(p_event)) f
    where f.ordinal = ('x' || right(p_event::text, 6))::bit(24)::integer;
end $$;
