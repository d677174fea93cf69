-- A row of the record as the bytes that are sealed: RFC 8785 JSON, whatever its facts concern.
create or replace function writ_data.event_document(b writ_data.event_batch) returns text
language sql stable
return
  '{"actor":' || to_json(b.actor)::text
  || ',"at":"' || to_char(b.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
  || '","batch_id":"' || b.batch_id::text
  || '","command":' || to_json(b.command)::text
  || ',"details":' || coalesce(to_json(b.details::text)::text, 'null')
  || ',"facts":[' || coalesce((
    select string_agg(
      '[' || to_json(f.type)::text || ',' || f.first::text || ',' || f.last::text || ']',
      ',' order by f.n)
    from unnest(b.types, b.first, b.last) with ordinality f(type, first, last, n)), '')
  || '],"login":' || to_json(b.login)::text
  || ',"note":' || coalesce(to_json(b.note)::text, 'null')
  || coalesce(',"request_id":' || to_json(b.request_id)::text, '')
  || case when b.run_ids is null then '' else ',"run_events":[' || (
    select string_agg(
      '["' || e.run::text || '",' || e.seq::text || ',"'
      || encode(substring(b.run_leaves from 32 * e.n::integer - 31 for 32), 'hex') || '"]',
      ',' order by e.n)
    from unnest(b.run_ids, b.run_seqs) with ordinality e(run, seq, n)) || ']' end
  || ',"subjects":['
  || case when cardinality(b.subjects) = 0 then ''
    else '"' || array_to_string(b.subjects, '","') || '"' end
  || ']}';
