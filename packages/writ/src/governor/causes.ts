/** What keeps a governor from acting, and what it waits for. */
import { plain, plural, span } from '../errors/words.js';
import type { Governor } from './rows.js';

export interface Explained {
  readonly cause: string;
  readonly says: string;
  readonly remedy: string;
}

export interface Awaited {
  /** The timer: `state`, or `named:` and its name. */
  readonly name: string;
  readonly says: string;
  /** When the timer fires; null: at once. */
  readonly due_at: string | null;
}

interface Advice {
  readonly says: string;
  readonly remedy: string;
}

const again = 'It looks again by itself';
const policy = '`governor.policy()`';
const acknowledge = (cause: string) => `\`governor.acknowledge('${cause}', { reason })\``;
const seen = (cause: string) => `Put right what it left behind, then ${acknowledge(cause)}.`;

/** Why a governor is degraded or refusing: in words, and what a program does about it. */
const causes: Readonly<Record<string, Advice>> = {
  ledger: {
    says: 'the ledger does not answer',
    remedy: `${again}; see to the database.`,
  },
  iam: {
    says: 'nobody could say what its principal may do',
    remedy: `${again}; see to the database, or to the authorizer of its workers, which are asked for permissions.`,
  },
  policy: {
    says: 'it has no policy, or it could not be loaded',
    remedy: `${again}. If it has none, publish one: \`governor.publish(policy)\`.`,
  },
  slo: {
    says: 'receipts take too long to write',
    remedy: `${again}; see what keeps the database busy.`,
  },
  entitlement: {
    says: 'the entitlement could not be looked up',
    remedy: `${again}; see to the database.`,
  },
  bootstrap: {
    says: 'it was not ready in time',
    remedy:
      'It needs an active entitlement and a policy: `writ.governors.entitlements.get()`, `governor.policy()`.',
  },
  outage: {
    says: 'the database was away',
    remedy: `${again}.`,
  },
  action_timeout: {
    says: 'an action was not done in time',
    remedy: `It ends when the undoing succeeds. If it cannot, see to it, then ${acknowledge('action_timeout')}.`,
  },
  rollback_failed: {
    says: 'an action could not be undone',
    remedy: seen('rollback_failed'),
  },
  nondeterminism: {
    says: 'an event was decided in two ways',
    remedy: seen('nondeterminism'),
  },
  crash: {
    says: 'an event crashed it too often, and was set aside',
    remedy: seen('crash'),
  },
  action_not_in_policy: {
    says: 'an action was asked for that its policy does not have',
    remedy: `${again}. To allow it, publish a policy that has it: ${policy} is the one in force.`,
  },
  quota_exceeded: {
    says: 'the actions of this month are used up',
    remedy:
      'Raise the quota: `writ.governors.entitlements.put({ quota })`; or wait for the first of the month, in UTC.',
  },
  entitlement_not_active: {
    says: 'the entitlement is not active',
    remedy: "Make it active: `writ.governors.entitlements.put({ status: 'ACTIVE' })`.",
  },
  permission_denied: {
    says: 'its principal may not do, or may not undo, what was asked for',
    remedy: `Give its principal the permission: ${policy} says who it is and what is needed.`,
  },
  policy_withdrawn: {
    says: 'its policy was withdrawn',
    remedy: 'Publish one: `governor.publish(policy)`.',
  },
  target_service_not_found: {
    says: 'no worker carries out an action of this type',
    remedy: `Start a worker that handles it, with an action that defineAction has made. ${again}.`,
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
    remedy: 'Start a worker that drives governors: `writ.work(handlers, { governor: true })`.',
  },
};

/** The tenant and the product of a governor as commands take them; `default` may be left out. */
export const argumentsOf = ({ tenant_id, sku_id }: Pick<Governor, 'tenant_id' | 'sku_id'>) =>
  sku_id === 'default' ? tenant_id : `${tenant_id} ${sku_id}`;

/** A cause that nothing but a person clears. */
export const isForPersons = (cause: string): boolean =>
  ['rollback_failed', 'nondeterminism', 'crash'].includes(cause);

const adviceOf = (cause: string) => (Object.hasOwn(causes, cause) ? causes[cause] : undefined);

export const causeWords = (cause: string): string => adviceOf(cause)?.says ?? plain(cause);

/** Mail that waits for longer shows that no worker drives the governor. */
const undrivenMs = 5_000;

export function whyOf(
  row: Pick<Governor, 'tenant_id' | 'sku_id' | 'causes' | 'refusals'> &
    Partial<Pick<Governor, 'mail_since' | 'in_mailbox'>>,
  now?: Date,
): Explained[] {
  const { mail_since, in_mailbox = 0 } = row;
  const waited = mail_since && now ? now.getTime() - Date.parse(mail_since) : 0;
  const standing = [
    ...(row.causes ?? []).map((cause) => ({ cause, action_type: undefined })),
    ...(row.refusals ?? []),
  ].map(({ cause, action_type }) => ({
    cause,
    says: `${causeWords(cause)}${action_type === undefined ? '' : ` (${action_type})`}`,
  }));
  const undriven = `${plural(in_mailbox, 'event')} in its mailbox, the oldest for ${span(waited)}`;
  return [
    ...(waited > undrivenMs
      ? [{ cause: 'undriven', says: `${undriven}: ${causes.undriven?.says}` }]
      : []),
    ...standing,
  ].map(({ cause, says }) => ({
    cause,
    says: plain(says),
    remedy: adviceOf(cause)?.remedy ?? 'See its last receipts.',
  }));
}

const timers: Readonly<Record<string, string>> = {
  'named:rollback': 'the undoing has to be done',
  'named:baseline': 'what was observed has to be well again',
  'named:check': 'looks whether everything is there again',
  'named:recheck': 'looks whether it still has to refuse',
  'named:storm': 'releases what is buffered',
  'named:look': 'looks at what is over and has no answer yet',
};
const stateTimers: Partial<Record<Governor['state'], string>> = {
  boot: 'has to be ready',
  intervening: 'the action has to be done',
  degraded: 'begins anew',
};

/** Its timers, the first that is due first. */
export function awaitedBy({ state, timers: all }: Pick<Governor, 'state' | 'timers'>): Awaited[] {
  return [...(all ?? [])]
    .sort((a, b) => Number(a.due) - Number(b.due))
    .map(({ name, due }) => ({
      name,
      says: (name === 'state' && stateTimers[state]) || timers[name] || plain(name),
      due_at: due === 'now' ? null : new Date(due).toISOString(),
    }));
}
