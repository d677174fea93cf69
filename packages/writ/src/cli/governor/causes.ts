/** Why a governor is degraded or refusing, and what to do about it. */
import type { degradedCauses, refusingCauses } from '../../ledger/reasons/causes.js';
import { plain } from '../governance/words.js';
import { oneLine } from '../output.js';
import { type GovernorAt, nameOf } from './session.js';

type Cause = (typeof degradedCauses)[number] | (typeof refusingCauses)[number];

interface Advice {
  readonly says: string;
  /** Commands are for the governor whose arguments are given. */
  readonly remedy: (governor: string, tenant: string) => string;
}

const byItself = 'It looks again by itself';
const seen = (cause: string) => (governor: string) =>
  `Put right what it left behind, then \`writ governor ack ${governor} ${cause} --reason TEXT\`.`;

const advice: Readonly<Record<Cause, Advice>> = {
  ledger: {
    says: 'the ledger does not answer',
    remedy: () => `${byItself}; \`writ doctor\` says what is wrong.`,
  },
  iam: {
    says: 'nobody could say what its principal may do',
    remedy: () =>
      `${byItself}; see to whoever is asked for permissions: the database, or the authorizer of its workers.`,
  },
  policy: {
    says: 'it has no policy, or it could not be loaded',
    remedy: (governor) =>
      `${byItself}. If it has none: \`writ governor policy publish FILE ${governor}\`.`,
  },
  slo: {
    says: 'receipts take too long to write',
    remedy: () => `${byItself}; see what keeps the database busy: \`writ doctor\`.`,
  },
  entitlement: {
    says: 'the entitlement could not be looked up',
    remedy: () => `${byItself}; \`writ doctor\` says what is wrong.`,
  },
  bootstrap: {
    says: 'it was not ready in time',
    remedy: (governor, tenant) =>
      `It needs an active entitlement and a policy: \`writ governor entitlement show ${tenant}\`, \`writ governor policy show ${governor}\`.`,
  },
  outage: { says: 'the database was away', remedy: () => `${byItself}.` },
  action_timeout: {
    says: 'an action was not done in time',
    remedy: (governor) =>
      `It ends when the undoing succeeds. If it cannot, see to it, then \`writ governor ack ${governor} action_timeout --reason TEXT\`.`,
  },
  rollback_failed: { says: 'an action could not be undone', remedy: seen('rollback_failed') },
  nondeterminism: { says: 'an event was decided in two ways', remedy: seen('nondeterminism') },
  crash: { says: 'an event crashed it too often, and was set aside', remedy: seen('crash') },
  action_not_in_policy: {
    says: 'an action was asked for that its policy does not have',
    remedy: (governor) =>
      `${byItself}. To allow it, publish a policy that has it: \`writ governor policy show ${governor}\` shows the one in force.`,
  },
  quota_exceeded: {
    says: 'the actions of this month are used up',
    remedy: (_, tenant) =>
      `\`writ governor entitlement set ${tenant} --quota N\`, or wait for the first of the month, in UTC.`,
  },
  entitlement_not_active: {
    says: 'the entitlement is not active',
    remedy: (_, tenant) =>
      `\`writ governor entitlement set ${tenant} --status ACTIVE\`; \`entitlement show ${tenant}\` says what it is.`,
  },
  permission_denied: {
    says: 'its principal may not do, or may not undo, what was asked for',
    remedy: (governor) =>
      `\`writ principals put PRINCIPAL --permission NAME\`; \`writ governor policy show ${governor}\` says who it is and what is needed.`,
  },
  policy_withdrawn: {
    says: 'its policy was withdrawn',
    remedy: (governor) => `\`writ governor policy publish FILE ${governor}\`.`,
  },
  target_service_not_found: {
    says: 'no worker carries out an action of this type',
    remedy: () =>
      'Start one with a module that exports it, made by defineAction: `writ worker FILE`. It looks again by itself.',
  },
  signal_action_mismatch: {
    says: 'its policy answers this signal with another action',
    remedy: (governor) =>
      `${byItself}; nothing else, if the policy was just changed: \`writ governor policy show ${governor}\`.`,
  },
  bounds_exceeded: {
    says: 'an action was asked for with parameters out of its bounds',
    remedy: (governor) =>
      `${byItself}. Ask within them: \`writ governor policy show ${governor}\`.`,
  },
  would_exceed_budget: {
    says: 'the action would cost more than the budget of this month has left',
    remedy: (governor) =>
      `Publish a policy with a larger budget, or wait for the first of the month: \`writ governor policy show ${governor}\`.`,
  },
};

const adviceOf = (cause: string): Advice | undefined =>
  Object.hasOwn(advice, cause) ? advice[cause as Cause] : undefined;

export const causeWords = (cause: string): string => adviceOf(cause)?.says ?? oneLine(cause);

export interface Explained {
  readonly cause: string;
  readonly says: string;
  readonly remedy: string;
}

/** Everything that keeps a governor from acting, in its order. */
export function whyOf({ causes, refusals }: Held, governor: GovernorAt): Explained[] {
  const all = [
    ...(causes ?? []).map((cause) => ({ cause, action_type: undefined })),
    ...(refusals ?? []),
  ];
  return all.map(({ cause, action_type }) => ({
    cause,
    says: plain(`${causeWords(cause)}${action_type === undefined ? '' : ` (${action_type})`}`),
    remedy: adviceOf(cause)?.remedy(nameOf(governor), governor.tenant) ?? 'See its last receipts.',
  }));
}

export interface Held {
  readonly causes: readonly string[] | null;
  readonly refusals: readonly { readonly cause: string; readonly action_type?: string }[] | null;
}
