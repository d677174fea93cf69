-- Reads receipts backwards: by their numbers in one stream of a log, by their places in one log, or
-- by their numbers across logs.
-- Callers: writ_signer, readers
-- Answers: up to p_limit (1 to 10000) receipts before the place p_before, the newest first. entry
--          and at are null where the receipt was archived and dropped, leaf_index where it is not
--          in its log yet. A login of one tenant sees the receipts of that tenant's log.
create or replace function writ.fn_ledger_walk(
  p_log text,
  p_stream text,
  p_before bigint,
  p_limit integer
) returns table (place bigint, log_id text, leaf_index bigint, at timestamptz, entry text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_only text := writ_data.caller_tenant();
  v_log text := coalesce(p_log, v_only);
  v_before bigint := coalesce(p_before, 9223372036854775807);
  v_limit integer := least(greatest(coalesce(p_limit, 1), 1), 10000);
begin
  if v_log <> v_only then
    return;
  end if;

  if p_stream is not null then
    return query
      select r.stream_seq, r.log_id, l.leaf_index, r.at, r.entry
      from (
        select * from writ_data.receipt x
        where x.log_id = v_log and x.stream = p_stream and x.stream_seq < v_before
        order by x.stream_seq desc
        limit v_limit) r
      left join writ_data.ledger_leaf l on l.receipt_no = r.receipt_no
      order by r.stream_seq desc;
  elsif v_log is not null then
    return query
      select l.leaf_index, l.log_id, l.leaf_index, r.at, r.entry
      from (
        select * from writ_data.ledger_leaf x
        where x.log_id = v_log and x.leaf_index < v_before
        order by x.leaf_index desc
        limit v_limit) l
      left join writ_data.receipt r on r.receipt_no = l.receipt_no
      order by l.leaf_index desc;
  else
    return query
      select r.receipt_no, r.log_id, l.leaf_index, r.at, r.entry
      from (
        select * from writ_data.receipt x
        where x.receipt_no < v_before
        order by x.receipt_no desc
        limit v_limit) r
      left join writ_data.ledger_leaf l on l.receipt_no = r.receipt_no
      order by r.receipt_no desc;
  end if;
end $$;
