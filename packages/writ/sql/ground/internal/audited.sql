-- Answers what a gate answers, and records what it refuses: the whole call, or how many of its
-- items for which reason. Details stay out of the record, because they can quote an input.
create or replace function writ_data.audited(p_command text, p_actor text, p_answer jsonb)
returns jsonb
language plpgsql
as $$
declare
  v_refused jsonb := p_answer -> 'refused';
begin
  if v_refused = 'true' then
    if p_answer ->> 'reason' <> 'job_substrate_disabled' then
      perform writ_data.refused(p_command, p_actor, p_answer ->> 'reason');
    end if;
  elsif v_refused <> '[]' then
    perform writ_data.refused(p_command, p_actor, (
      select string_agg(format('%s %s', r.jobs, r.reason), ', ' order by r.reason)
      from (
        select item ->> 'reason' as reason, count(*) as jobs
        from jsonb_array_elements(v_refused) item
        group by 1
      ) r
    ));
  end if;
  return p_answer;
end $$;
