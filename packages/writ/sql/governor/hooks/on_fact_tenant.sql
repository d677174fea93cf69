-- Returns the tenant of a fact of governance, health or a governor, by type and subject; null for
-- other facts.
create or replace function writ_data.on_fact_tenant(p_type text, p_subject uuid) returns text
language sql stable
return case
  when p_type like 'governance.contract%'
    then (select c.tenant_id from writ_data.contract c where c.contract_id = p_subject)
  when p_type like 'governance.%'
    then (select g.tenant_id from writ_data.governance_job g where g.job_id = p_subject)
  when p_type like 'health.signal%'
    then (select s.tenant_id from writ_data.governance_signal s where s.signal_id = p_subject)
  when p_type like 'health.incident%'
    then (select i.tenant_id from writ_data.incident i where i.incident_id = p_subject)
  when p_type like 'governor.%'
    then (select g.tenant_id from writ_data.governor g where g.governor_id = p_subject)
end;
