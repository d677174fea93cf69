-- Records that an archive holds the receipts of a month and every tile over them, with a checkpoint
-- that covers them. From then on the clockwork drops the month when its retention has passed.
-- Callers: writ_signer
-- p_size:  of the checkpoint of _system that the archive holds.
-- p_signature: of a ledger key, over the statement that archiveText makes of month, place and that
--          tree. _system gets a receipt of it; verifiers check it, PostgreSQL cannot.
-- Answers: {month}.
-- Refuses: actor_required, tenant_forbidden, invalid_argument (also for a month that has no table
--          of receipts), month_not_over, receipts_not_sequenced, not_yet_signed (also without that
--          checkpoint, and while the record of that month is not sealed).
-- Locks:   the ledger's clockwork, so that only one of two calls records a month.
create or replace function writ.fn_ledger_archived(
  p_month date,
  p_place text,
  p_actor text,
  p_size bigint,
  p_signature text
) returns jsonb
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_month date;
  v_from timestamptz;
  v_to timestamptz;
  v_now timestamptz := writ.now();
  v_root text;
begin
  if coalesce(btrim(p_actor), '') = '' or length(p_actor) > 200 then
    return writ_data.refusal('actor_required');
  elsif writ_data.caller_tenant() is not null then
    return writ_data.refusal('tenant_forbidden', 'The ledger is signed for all tenants.');
  elsif p_month is null or p_month not between '2000-01-01' and '9999-12-31'
    or coalesce(btrim(p_place), '') = '' or length(p_place) > 1000
    or coalesce(p_signature, '') !~ '^[A-Za-z0-9+/]{86}==$' then
    return writ_data.refusal('invalid_argument',
      'A month from the year 2000 on, a place, and the signature of a ledger key in base64.');
  end if;
  v_month := date_trunc('month', p_month::timestamp)::date;
  v_from := v_month::timestamp at time zone 'UTC';
  v_to := (v_month + interval '1 month') at time zone 'UTC';

  perform from writ_data.ledger_clockwork for update;
  select encode(c.root, 'hex') into v_root
  from writ_data.ledger_checkpoint c
  where c.log_id = '_system' and c.size = p_size
  order by c.checkpoint_no desc
  limit 1;
  if v_to > v_now then
    return writ_data.refusal('month_not_over', to_char(v_month, 'YYYY-MM'));
  elsif exists (select from writ_data.receipt_archive a where a.month = v_month) then
    return jsonb_build_object('month', v_month);
  elsif to_regclass('writ_data.receipt' || to_char(v_month, '_YYYYMM')) is null then
    return writ_data.refusal('invalid_argument',
      format('There are no receipts of %s.', to_char(v_month, 'YYYY-MM')));
  elsif exists (
    select from writ_data.receipt r
    where r.at >= v_from and r.at < v_to
      and not exists (
        select from writ_data.ledger_leaf l where l.receipt_no = r.receipt_no)) then
    return writ_data.refusal('receipts_not_sequenced', to_char(v_month, 'YYYY-MM'));
  elsif v_root is null or exists (
    select from writ_data.receipt r
    join writ_data.ledger_leaf l on l.receipt_no = r.receipt_no
    where r.at >= v_from and r.at < v_to
      and l.leaf_index >= case
        when l.log_id = '_system' then p_size
        else coalesce((
          select max(c.size) from writ_data.ledger_checkpoint c where c.log_id = l.log_id), 0)
      end) then
    return writ_data.refusal('not_yet_signed', to_char(v_month, 'YYYY-MM'));
  elsif (writ_data.setting('ledger.sealing.enabled'))::boolean and exists (
    select from writ_data.ledger_clockwork c
    cross join lateral writ_data.record_after(c.sealed, writ_data.era_end((c.sealed).era)) b
    where b.at < v_to) then
    return writ_data.refusal('not_yet_signed',
      format('%s: its record is not sealed.', to_char(v_month, 'YYYY-MM')));
  end if;

  insert into writ_data.receipt_archive (month, place, archived_by, archived_at)
  values (v_month, p_place, p_actor, v_now);
  perform writ_data.system_receipt('month_archived', 'archive', jsonb_build_object(
    'month', to_char(v_month, 'YYYY-MM'), 'place', p_place, 'size', p_size, 'root', v_root,
    'actor', p_actor, 'signature', p_signature), v_now);
  perform writ_data.record('fn_ledger_archived', p_actor, v_now, '{}', '{}', '{}', '{}',
    p_note => format('%s: %s', to_char(v_month, 'YYYY-MM'), p_place));
  return jsonb_build_object('month', v_month);
end $$;
