-- Deletes the oldest requests of this login and principal if there are more than requests.most. So
-- a caller that plants keys fills only its own share.
create or replace function writ_data.trim_requests(p_principal_id text) returns void
language plpgsql
as $$
declare
  v_most integer := (writ_data.setting('requests.most'))::integer;
begin
  if v_most < (
    select count(*)
    from (
      select from writ_data.request r
      where r.login = session_user and r.principal_id = p_principal_id
      limit v_most + 1
    ) r
  ) then
    delete from writ_data.request
    where ctid = any (array(
      select r.ctid
      from writ_data.request r
      where r.login = session_user and r.principal_id = p_principal_id
      order by r.at
      limit 1000
      for update skip locked
    ));
  end if;
end $$;
