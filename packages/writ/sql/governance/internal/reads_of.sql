-- Returns the places outside the database that a contract changes, with their last read and the
-- last request: [{slot, step_type, read_at, code, detail, job_id, requested_at, due_at, open,
-- applier}]. An instance has those of its template.
create or replace function writ_data.reads_of(c writ_data.contract) returns jsonb
language sql stable
begin atomic
  select coalesce(
    jsonb_agg(
      jsonb_build_object(
        'slot', s.slot, 'step_type', s.step_type,
        'read_at', v.read_at, 'code', v.code, 'detail', v.detail,
        'job_id', r.job_id, 'requested_at', r.requested_at, 'due_at', r.due_at,
        'open', coalesce(writ_data.read_is_open(r.job_id), false),
        'applier', writ_data.kind_is_served('governance.read.' || s.step_type)
      )
      order by s.slot
    ),
    '[]'
  )
  from writ_data.outside_slots(c.steps) s
  left join writ_data.contract_value v
    on v.contract_id = coalesce(c.template_id, c.contract_id) and v.slot = s.slot
  left join writ_data.contract_read r
    on r.contract_id = coalesce(c.template_id, c.contract_id) and r.step_type = s.step_type;
end;
