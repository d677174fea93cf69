-- Sorts the kinds of a claim into those that the caller may claim and those that it may not.
-- Answers: kinds, in the given order and without those that are paused, null when none is left;
--          skipped, {kind: reason}; timeout_s, the longest that a permitted kind names.
create or replace function writ_data.permitted_kinds(
  p_kinds text[],
  p_executor text,
  out kinds text[],
  out skipped jsonb,
  out timeout_s double precision
)
language plpgsql stable
as $$
declare
  v_applier boolean := writ_data.caller_has('writ_applier');
begin
  select
    array_agg(u.kind order by u.n) filter (where w.reason is null and k.paused_at is null),
    jsonb_object_agg(u.kind, w.reason) filter (where w.reason is not null),
    max(k.timeout_s) filter (where w.reason is null)
  into kinds, skipped, timeout_s
  from unnest(p_kinds) with ordinality u(kind, n)
  left join writ_data.job_kind k on k.job_kind = u.kind
  cross join lateral (
    select case
        when writ_data.reserved_kind(u.kind) and not v_applier then 'reserved_job_kind'
        when k.executor <> p_executor then 'executor_forbidden'
      end as reason
  ) w
  where u.kind is not null;
end $$;
