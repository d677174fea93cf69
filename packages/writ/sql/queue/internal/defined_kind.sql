-- A kind as it would stand after a definition: what the definition names replaces what stands, what
-- it leaves out stays, and null takes a value away. A kind that does not stand yet has defaults.
create or replace function writ_data.defined_kind(
  p_standing writ_data.job_kind,
  p_kind text,
  p_definition jsonb
) returns writ_data.job_kind
language plpgsql
as $$
declare
  v_kind writ_data.job_kind := p_standing;
begin
  if v_kind.job_kind is null then
    v_kind.job_kind := p_kind;
    v_kind.event_domain := 'dot';
    v_kind.executor := 'external_worker';
    v_kind.source_system := 'writ';
  end if;

  v_kind := jsonb_populate_record(v_kind, p_definition);
  v_kind.event_domain := coalesce(v_kind.event_domain, 'dot');
  v_kind.executor := coalesce(v_kind.executor, 'external_worker');
  v_kind.source_system := coalesce(v_kind.source_system, 'writ');
  v_kind.limit_burst := case
    when v_kind.limit_rate is not null then coalesce(v_kind.limit_burst, 1)
  end;
  return v_kind;
end $$;
