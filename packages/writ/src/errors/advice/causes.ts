/** Why a governor is degraded or refusing: in words, and what to do about it. */

interface Advice {
  readonly says: string;
  /** TENANT and GOVERNOR stand for the arguments of its commands. */
  readonly remedy: string;
}

const seen = (cause: string) =>
  `Put right what it left behind, then \`writ governor ack GOVERNOR ${cause} --reason TEXT\`.`;
const again = 'It looks again by itself';
const policy = '`writ governor policy show GOVERNOR`';

export const causes: Readonly<Record<string, Advice>> = {
  ledger: {
    says: 'the ledger does not answer',
    remedy: `${again}; \`writ doctor\` says what is wrong.`,
  },
  iam: {
    says: 'nobody could say what its principal may do',
    remedy: `${again}; see to the database, or to the authorizer of its workers, which are asked for permissions.`,
  },
  policy: {
    says: 'it has no policy, or it could not be loaded',
    remedy: `${again}. If it has none: \`writ governor policy publish FILE GOVERNOR\`.`,
  },
  slo: {
    says: 'receipts take too long to write',
    remedy: `${again}; see what keeps the database busy: \`writ doctor\`.`,
  },
  entitlement: {
    says: 'the entitlement could not be looked up',
    remedy: `${again}; \`writ doctor\` says what is wrong.`,
  },
  bootstrap: {
    says: 'it was not ready in time',
    remedy: `It needs an active entitlement and a policy: \`writ governor entitlement show TENANT\`, ${policy}.`,
  },
  outage: { says: 'the database was away', remedy: `${again}.` },
  action_timeout: {
    says: 'an action was not done in time',
    remedy:
      'It ends when the undoing succeeds. If it cannot, see to it, then `writ governor ack GOVERNOR action_timeout --reason TEXT`.',
  },
  rollback_failed: { says: 'an action could not be undone', remedy: seen('rollback_failed') },
  nondeterminism: { says: 'an event was decided in two ways', remedy: seen('nondeterminism') },
  crash: { says: 'an event crashed it too often, and was set aside', remedy: seen('crash') },
  action_not_in_policy: {
    says: 'an action was asked for that its policy does not have',
    remedy: `${again}. To allow it, publish a policy that has it: ${policy} shows the one in force.`,
  },
  quota_exceeded: {
    says: 'the actions of this month are used up',
    remedy:
      '`writ governor entitlement set TENANT --quota N`, or wait for the first of the month, in UTC.',
  },
  entitlement_not_active: {
    says: 'the entitlement is not active',
    remedy:
      '`writ governor entitlement set TENANT --status ACTIVE`; `entitlement show TENANT` says what it is.',
  },
  permission_denied: {
    says: 'its principal may not do, or may not undo, what was asked for',
    remedy: `\`writ principals put PRINCIPAL --permission NAME\`; ${policy} says who it is and what is needed.`,
  },
  policy_withdrawn: {
    says: 'its policy was withdrawn',
    remedy: '`writ governor policy publish FILE GOVERNOR`.',
  },
  target_service_not_found: {
    says: 'no worker carries out an action of this type',
    remedy: `Start one with a module that exports it, made by defineAction: \`writ worker FILE\`. ${again}.`,
  },
  signal_action_mismatch: {
    says: 'its policy answers this signal with another action',
    remedy: `${again}; nothing else, if the policy was just changed: ${policy}.`,
  },
  bounds_exceeded: {
    says: 'an action was asked for with parameters out of its bounds',
    remedy: `${again}. Ask within them: ${policy}.`,
  },
  would_exceed_budget: {
    says: 'the action would cost more than the budget of this month has left',
    remedy: `Publish a policy with a larger budget, or wait for the first of the month: ${policy}.`,
  },
  undriven: {
    says: 'nobody drives it',
    remedy: 'Start a worker: `writ worker`.',
  },
};
