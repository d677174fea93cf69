import type { Entry } from './entry.js';

/** Codes of governance: principals, contracts, governance jobs, health. Part of the registry. */
export const governance = {
  // Who asks.
  not_authenticated: {
    message: 'No principal is known by this key or login.',
    remedy:
      'Send the current key of a principal that is not disabled (`writ.principals.add` returns one), or use a login that is bound to a principal.',
    status: 401,
    retryable: false,
  },
  invalid_api_key: {
    message: 'This API key is not valid.',
    remedy:
      'Give a principal that exists, rights that it has, and an end within ten years. The detail says which is wrong.',
    status: 400,
    retryable: false,
  },
  api_key_not_found: {
    message: 'There is no API key with this id.',
    remedy: 'Check the id: it is the first part of the key. `writ.apiKeys.list()` shows all.',
    status: 404,
    retryable: false,
  },
  api_key_exists: {
    message: 'There is an API key with this id.',
    remedy: 'Let the id be made at random.',
    status: 409,
    retryable: false,
  },
  deployment_mismatch: {
    message: 'The database is another deployment than the one that the call names.',
    remedy:
      'Read the id in the view writ.deployment. If this is the database that you mean, name that id.',
    status: 409,
    retryable: false,
  },
  login_not_found: {
    message: 'PostgreSQL has no such login, or the login is not registered.',
    remedy: 'Check the name. The view writ.login lists the registered logins.',
    status: 404,
    retryable: false,
  },
  login_in_use: {
    message:
      'The login still has roles of Writ. Without its registration it would keep them for every principal and tenant.',
    remedy: 'Revoke those roles first.',
    status: 409,
    retryable: false,
  },
  invalid_login: {
    message: 'This registration of a login is not valid.',
    remedy:
      'Give a principal that exists, the tenant of that principal, and roles of Writ. The detail says which is wrong.',
    status: 400,
    retryable: false,
  },
  not_authorized: {
    message: 'This principal is not allowed to do that.',
    remedy:
      'Ask a principal that has the right, or have an administrator give it (`writ.principals.change`).',
    status: 403,
    retryable: false,
  },
  agents_only_propose: {
    message: 'An agent proposes and previews; it does nothing else.',
    remedy: 'Have a person approve, and a person or a service activate.',
    status: 403,
    retryable: false,
  },
  own_contract: {
    message: 'Whoever wants a change does not approve it.',
    remedy: 'Ask another person.',
    status: 403,
    retryable: false,
  },
  invalid_principal: {
    message: 'The principal cannot be so.',
    remedy: 'See the detail: it names what is wrong.',
    status: 400,
    retryable: false,
  },
  principal_exists: {
    message: 'There is a principal of this name.',
    remedy: 'Choose another name, or change this one (`writ.principals.change`).',
    status: 409,
    retryable: false,
  },
  principal_not_found: {
    message: 'There is no principal of this name.',
    remedy: 'Check the name. The view writ.principal lists the principals.',
    status: 404,
    retryable: false,
  },
  invalid_key: {
    message: 'This is not a key of a principal.',
    remedy: 'Use the key that was shown when the principal was made. It begins with writ_key_.',
    status: 400,
    retryable: false,
  },
  // Contracts.
  invalid_contract: {
    message: 'The contract cannot be so.',
    remedy: 'See the detail: it names the step or the field.',
    status: 400,
    retryable: false,
  },
  scope_empty: {
    message: 'The contract names nothing that it may affect.',
    remedy: 'Name the capabilities and configuration scopes, exactly.',
    status: 400,
    retryable: false,
  },
  scope_violation: {
    message: 'A step goes beyond the scope of its contract.',
    remedy: 'Propose a contract whose scope names the target.',
    status: 403,
    retryable: false,
  },
  unknown_target: {
    message: 'There is no such capability or configuration scope.',
    remedy: 'Make it known first (`writ.capabilities.put`).',
    status: 404,
    retryable: false,
  },
  unknown_step_type: {
    message: 'No worker knows this type of step.',
    remedy: 'Define it with defineStep, and start a worker that has it.',
    status: 400,
    retryable: false,
  },
  invalid_target: {
    message: 'The capability or configuration cannot be so.',
    remedy: 'See the detail.',
    status: 400,
    retryable: false,
  },
  change_needs_a_contract: {
    message: 'What exists is changed by a contract.',
    remedy: 'Propose the change (`writ.contracts.propose`).',
    status: 403,
    retryable: false,
  },
  audit_not_found: {
    message: 'This governance job has no audit.',
    remedy: 'Look at the job: an audit follows when its steps are done or undone.',
    status: 404,
    retryable: false,
  },
  contract_not_found: {
    message: 'There is no such contract.',
    remedy: 'Check the id. The view writ.system_contracts lists the contracts.',
    status: 404,
    retryable: false,
  },
  contract_exists: {
    message: 'A contract with this id exists, with other content or by somebody else.',
    remedy: 'Use a new id.',
    status: 409,
    retryable: false,
  },
  contract_terminal: {
    message: 'The contract has come to its end.',
    remedy: 'Propose a new one.',
    status: 409,
    retryable: false,
  },
  invalid_transition: {
    message: 'That cannot happen in the state it is in.',
    remedy: 'See the detail for the state.',
    status: 400,
    retryable: false,
  },
  approval_void: {
    message: 'What was approved is not what would be done.',
    remedy: 'Look at the preview again, and have it approved again.',
    status: 409,
    retryable: false,
  },
  signature_refused: {
    message: 'The signature is not one of this document by this person.',
    remedy:
      'Preview the contract again, and sign it with your own key. A wrong signature counts for nothing, and takes nobody’s place.',
    status: 403,
    retryable: false,
  },
  trust_missing: {
    message:
      'This worker applies no changes and verifies no approvals, because it has no trust source.',
    remedy:
      'Set WRIT_TRUST to the path of a trust file. For development, or if you accept the keys that the database knows: WRIT_TRUST=database.',
    status: 503,
    retryable: true,
  },
  invalid_document: {
    message: 'This is not a document that an approval can sign.',
    remedy: 'See the detail: it names the field. Sign with a client of this version.',
    status: 400,
    retryable: false,
  },
  invalid_trust_file: {
    message: 'The trust file cannot be used.',
    remedy: 'See the detail: it names the field. Correct the file; nothing is applied before.',
    status: 400,
    retryable: false,
  },
  approval_missing: {
    message: 'Not enough persons have approved it.',
    remedy:
      'Have more persons approve it. `contract.get()` shows who has, and how many its risk asks for.',
    status: 409,
    retryable: false,
  },
  invalid_template: {
    message: 'The template cannot be so.',
    remedy: 'See the detail.',
    status: 400,
    retryable: false,
  },
  out_of_bounds: {
    message: 'A parameter lies outside of what was approved for the template.',
    remedy: 'Keep within its bounds, or propose a contract of its own.',
    status: 403,
    retryable: false,
  },
  template_exhausted: {
    message: 'The template was activated as often as was approved.',
    remedy: 'Propose it again.',
    status: 409,
    retryable: false,
  },
  template_cooling_down: {
    message: 'The template was activated a short while ago.',
    remedy: 'Wait until its pause is over.',
    status: 409,
    retryable: true,
  },
  proposals_limited: {
    message: 'This agent has reached its limit of proposals an hour or of open contracts.',
    remedy:
      'The detail says when the agent may propose again. An administrator can raise governance.agent.proposals_per_hour or governance.agent.open_contracts.',
    status: 429,
    retryable: true,
  },
  not_eligible: {
    message: 'The contract does not pass the rules of eligibility.',
    remedy: 'The detail names them: see docs/governance.md.',
    status: 409,
    retryable: false,
  },
  stale_pre_value: {
    message: 'A target has changed since the contract was approved.',
    remedy: 'There is a new draft in its place: preview it and have it approved.',
    status: 409,
    retryable: false,
  },
  window_elapsed: {
    message: 'The time in which the contract could be activated is over.',
    remedy: 'There is a new draft in its place: preview it and have it approved.',
    status: 409,
    retryable: false,
  },
  window_too_short: {
    message: 'The contract cannot be done before its window ends.',
    remedy: 'Propose it again with a longer window (window_hours), or with shorter soaks.',
    status: 409,
    retryable: false,
  },
  already_activated: {
    message: 'The contract was activated before; that happens once.',
    remedy: 'The detail is its job: `writ.changes.get(id)`.',
    status: 409,
    retryable: false,
  },
  target_held: {
    message: 'Another contract is at work on a target.',
    remedy: 'Wait until its job has ended; the detail names the target.',
    status: 409,
    retryable: true,
  },
  target_not_held: {
    message: 'The contract has no hold on the target.',
    remedy: 'This is a sign of tampering: look at the receipts of the contract.',
    status: 409,
    retryable: false,
  },
  target_not_read: {
    message: 'No applier has read a value outside the database that the contract changes.',
    remedy:
      'Start a worker with the step types (`writ.work`), and ask it to read again: `writ.contracts.read(id)`. The detail names each value and why it was not read.',
    status: 400,
    retryable: false,
  },
  changes_frozen: {
    message: 'Changes are frozen.',
    remedy: 'Wait, have the freeze lifted, or break the glass with a reason.',
    status: 409,
    retryable: true,
  },
  // Governance jobs.
  job_running: {
    message: 'The governance job has begun.',
    remedy: 'Stop its run with EMERGENCY_STOP: then what it did is undone.',
    status: 409,
    retryable: false,
  },
  run_is_governed: {
    message: 'The run executes an approved change, and is not steered.',
    remedy: 'Only EMERGENCY_STOP reaches it; what was done is undone then.',
    status: 409,
    retryable: false,
  },
  step_out_of_order: {
    message: 'Steps of a governance job happen one after the other.',
    remedy: 'Nothing: another worker has done it, or will.',
    status: 409,
    retryable: false,
  },
  step_not_begun: {
    message: 'The step has not been written down as begun.',
    remedy: 'Begin it first: how it is undone is recorded before it is done.',
    status: 409,
    retryable: false,
  },
  soak_not_over: {
    message: 'The soak has not lasted as long as was approved.',
    remedy: 'Wait for its end.',
    status: 409,
    retryable: true,
  },
  pre_value_conflict: {
    message: 'A target is not what the contract expects there.',
    remedy:
      'Somebody else has changed it. Look at what stands there now, and propose again; what a job of it did before is undone.',
    status: 409,
    retryable: false,
  },
  health_block: {
    message: 'Health does not allow it.',
    remedy: 'See `writ.health.get()`, and activate again when it is well.',
    status: 409,
    retryable: true,
  },
  duration_exceeded: {
    message: 'The governance job has taken longer than it may.',
    remedy: 'What it did is undone. Propose it with a longer max_duration_ms if it needs that.',
    status: 409,
    retryable: false,
  },
  rollback_conflict: {
    message: 'A target was changed by another hand after the step: it is not overwritten.',
    remedy: 'Look at the incident, put it right, and resolve it or have the rollback tried again.',
    status: 409,
    retryable: false,
  },
  verdict_stands: {
    message: 'An audit that failed is acknowledged, not overturned.',
    remedy: 'Nothing: that you have seen it is written down.',
    status: 409,
    retryable: false,
  },
  // Health.
  invalid_probe: {
    message: 'The probe cannot be so.',
    remedy: 'See the detail.',
    status: 400,
    retryable: false,
  },
  probe_not_found: {
    message: 'There is no such probe.',
    remedy: 'Check the name, or add the probe (`writ.probes.put`).',
    status: 404,
    retryable: false,
  },
  invalid_signal: {
    message: 'The signal cannot be so.',
    remedy: 'See the detail.',
    status: 400,
    retryable: false,
  },
  incident_not_found: {
    message: 'There is no such incident that is open.',
    remedy: 'Check the id: `writ.incidents.list()`.',
    status: 404,
    retryable: false,
  },
  policy_not_found: {
    message: 'There is no such version of the governance policy.',
    remedy: 'Leave the version out to see what is in force.',
    status: 404,
    retryable: false,
  },
  freeze_not_found: {
    message: 'There is no such freeze that lasts.',
    remedy: 'Check the id: `writ.freezes.list()`.',
    status: 404,
    retryable: false,
  },
} as const satisfies Record<string, Entry>;
