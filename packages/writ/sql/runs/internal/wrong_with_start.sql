-- Says why an item of fn_run_start_many is no run; null if it is one. It tries the types of all
-- fields, as fn_run_start_many reads them.
create or replace function writ_data.wrong_with_start(p_run jsonb) returns text
language plpgsql immutable
as $$
begin
  if jsonb_typeof(p_run) is distinct from 'object' then
    return 'A run is an object.';
  end if;
  perform from jsonb_to_record(p_run) as i(
    run_id uuid, tenant text, project text, environment text, plan_id text, plan_version text,
    sha256 text, input jsonb, request_id text, priority smallint, engine text,
    engine_run_ref jsonb, original_run_id uuid, traceparent text
  );
  return null;
exception when data_exception then
  return left(sqlerrm, 200);
end $$;
