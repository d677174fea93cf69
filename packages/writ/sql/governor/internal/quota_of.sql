-- Returns how much of its quota a tenant has used in the month of p_at: {month, used}.
create or replace function writ_data.quota_of(p_tenant text, p_at timestamptz) returns jsonb
language sql stable
begin atomic
  select jsonb_build_object(
    'month', to_char(p_at at time zone 'UTC', 'YYYY-MM'),
    'used', coalesce(
      (
        select q.used
        from writ_data.governor_quota q
        where q.tenant_id = p_tenant and q.month = to_char(p_at at time zone 'UTC', 'YYYY-MM')
      ),
      0
    )
  );
end;
