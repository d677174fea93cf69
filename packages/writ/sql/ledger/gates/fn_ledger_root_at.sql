-- Reads the root of a log at p_size or now, for comparison with a checkpoint from outside.
-- Callers: writ_signer, processes, readers
-- Answers: {epoch, size, root, accepted}. root is null if the log has never been so large, or is
--          that of another tenant. accepted: an administrator has accepted a restore that lost
--          entries which a checkpoint of that epoch and size covers.
-- Locks:   none.
create or replace function writ.fn_ledger_root_at(
  p_log text,
  p_size bigint default null,
  p_epoch integer default null
) returns jsonb
language sql security definer stable
set search_path = pg_catalog, pg_temp
begin atomic
  select jsonb_build_object(
    'epoch', coalesce(max(l.epoch), 1),
    'size', coalesce(max(l.size), 0),
    'root', encode(
      case when writ_data.visible(p_log)
        then writ_data.root_at(p_log, coalesce(p_size, max(l.size), 0)) end,
      'hex'),
    'accepted', exists (
      select from writ_data.ledger_restore r
      where (r.known_epoch, r.known_size) >= (p_epoch, p_size) and p_size > r.restored_size))
  from writ_data.ledger_log l
  where l.log_id = p_log and writ_data.visible(p_log);
end;
