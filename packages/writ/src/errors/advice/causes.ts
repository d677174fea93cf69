/** What to do about a cause for which a governor is degraded or refusing, in commands. */

const seen = (cause: string) =>
  `Put right what it left behind, then \`writ governor ack GOVERNOR ${cause} --reason TEXT\`.`;
const again = 'It looks again by itself';
const policy = '`writ governor policy show GOVERNOR`';

const remedies: Readonly<Record<string, string>> = {
  ledger: `${again}; \`writ doctor\` says what is wrong.`,
  iam: `${again}; see to the database, or to the authorizer of its workers, which are asked for permissions.`,
  policy: `${again}. If it has none: \`writ governor policy publish FILE GOVERNOR\`.`,
  slo: `${again}; see what keeps the database busy: \`writ doctor\`.`,
  entitlement: `${again}; \`writ doctor\` says what is wrong.`,
  bootstrap: `It needs an active entitlement and a policy: \`writ governor entitlement show TENANT\`, ${policy}.`,
  outage: `${again}.`,
  action_timeout:
    'It ends when the undoing succeeds. If it cannot, see to it, then `writ governor ack GOVERNOR action_timeout --reason TEXT`.',
  rollback_failed: seen('rollback_failed'),
  nondeterminism: seen('nondeterminism'),
  crash: seen('crash'),
  action_not_in_policy: `${again}. To allow it, publish a policy that has it: ${policy} shows the one in force.`,
  quota_exceeded:
    '`writ governor entitlement set TENANT --quota N`, or wait for the first of the month, in UTC.',
  entitlement_not_active:
    '`writ governor entitlement set TENANT --status ACTIVE`; `entitlement show TENANT` says what it is.',
  permission_denied: `\`writ principals put PRINCIPAL --permission NAME\`; ${policy} says who it is and what is needed.`,
  policy_withdrawn: '`writ governor policy publish FILE GOVERNOR`.',
  target_service_not_found: `Start one with a module that exports it, made by defineAction: \`writ worker FILE\`. ${again}.`,
  signal_action_mismatch: `${again}; nothing else, if the policy was just changed: ${policy}.`,
  bounds_exceeded: `${again}. Ask within them: ${policy}.`,
  would_exceed_budget: `Publish a policy with a larger budget, or wait for the first of the month: ${policy}.`,
  undriven: 'Start a worker: `writ worker`.',
};

/** Of a governor of this tenant, called so in commands. */
export const remedyOfCause = (cause: string, tenant: string, governor: string): string =>
  (Object.hasOwn(remedies, cause) ? (remedies[cause] as string) : 'See its last receipts.')
    .replaceAll('GOVERNOR', () => governor)
    .replaceAll('TENANT', () => tenant);
