-- The id of this deployment, for which approvals are signed, and since when it has it.
-- Callers: writ_principal, writ_signer, processes, readers
create or replace view writ.deployment as
select d.deployment_id, d.since
from writ_data.deployment d;
