-- Writes one receipt for the denials of a principal in a past minute that had no receipt of their
-- own, and forgets the minute. Answers how many minutes it closed.
create or replace function writ_data.count_denials(
  p_tenant text,     -- only this tenant; null: any
  p_limit integer,
  p_at timestamptz
) returns integer
language plpgsql
as $$
declare
  d record;
  v_closed integer := 0;
begin
  for d in
    select x.*, p.kind
    from writ_data.denial x
    join writ_data.principal p on p.principal_id = x.principal_id
    where x.minute < date_trunc('minute', p_at)
      and coalesce(p_tenant, x.tenant_id) = x.tenant_id
    order by x.minute, x.principal_id, x.login_tenant
    limit p_limit
    for no key update of x skip locked
  loop
    if d.denials > d.receipts then
      perform writ_data.governance_receipt(
        d.tenant_id, 'access', writ_data.next_seq(d.tenant_id, 'access', 1), 'refuse',
        'access_denied',
        jsonb_build_object(
          'principal', d.principal_id, 'kind', d.kind, 'right', 'any', 'code', 'denials_counted',
          'count', d.denials - d.receipts
        ),
        p_at
      );
    end if;
    delete from writ_data.denial x
    where x.principal_id = d.principal_id and x.minute = d.minute
      and x.login_tenant = d.login_tenant;
    v_closed := v_closed + 1;
  end loop;
  return v_closed;
end $$;
