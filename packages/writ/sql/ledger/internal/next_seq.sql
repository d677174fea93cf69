-- Takes the next p_n numbers of a stream that has no row of its own to count in. Answers the first.
-- Locks the stream until the transaction ends.
create or replace function writ_data.next_seq(p_log text, p_stream text, p_n integer) returns bigint
language sql volatile
begin atomic
  insert into writ_data.receipt_stream as s (log_id, stream, last_seq) values (p_log, p_stream, p_n)
  on conflict (log_id, stream) do update set last_seq = s.last_seq + excluded.last_seq
  returning s.last_seq - p_n + 1;
end;
