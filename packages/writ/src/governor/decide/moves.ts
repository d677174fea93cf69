/**
 * From state to state: what is begun on entering one and ended on leaving it, and the causes that
 * keep a governor where it is.
 */
import type { State } from '../decision.js';
import type { EntitlementStatus, QuotaRead } from '../events.js';
import type { Parameters } from '../policy-document.js';
import { lookAgain } from './levels.js';
import { cancel, change, given, moment, monthOf, start, type Turn, write } from './turn.js';

/**
 * Of the causes that a look at everything can drop. The others go by a rollback that succeeds, or
 * by a person.
 */
export const checkedCauses: readonly string[] = [
  'ledger',
  'iam',
  'policy',
  'slo',
  'entitlement',
  'bootstrap',
  'outage',
];
/** Those that a person may declare seen to. */
export const acknowledgedCauses: readonly string[] = [
  'rollback_failed',
  'nondeterminism',
  'crash',
  'action_timeout',
];
/** Those that nothing but a person ends. */
const persons: readonly string[] = ['rollback_failed', 'nondeterminism', 'crash'];

/** What a person is told while a cause stands. */
const alerts: Readonly<Record<string, string>> = {
  action_timeout: 'GOVERNOR_ACTION_TIMEOUT',
  rollback_failed: 'GOVERNOR_ROLLBACK_FAILED',
  nondeterminism: 'GOVERNOR_NONDETERMINISM',
  crash: 'GOVERNOR_CRASH',
};

export function addCause(turn: Turn, cause: string) {
  if (!turn.data.causes.includes(cause)) change(turn, { causes: [...turn.data.causes, cause] });
}

export function dropCause(turn: Turn, cause: string) {
  if (!turn.data.causes.includes(cause)) return;
  change(turn, { causes: turn.data.causes.filter((one) => one !== cause) });
  const alert = alerts[cause];
  if (alert) turn.effects.push({ type: 'calm', alert });
}

/** Into safe mode, or one more cause to stay there. */
export function degrade(turn: Turn, cause: string) {
  addCause(turn, cause);
  move(turn, 'degraded');
}

/** The same where a person has to look. */
export function escalate(turn: Turn, cause: keyof typeof alerts, details: Parameters) {
  degrade(turn, cause);
  turn.effects.push({ type: 'escalate', alert: alerts[cause] as string, details });
}

export function refuse(turn: Turn, cause: string, action_type?: string) {
  change(turn, { refusals: [given({ cause, action_type })] });
  move(turn, 'refusing');
}

export function move(turn: Turn, to: State) {
  const from = turn.state;
  if (from === to) return;
  turn.state = to;
  if (from === 'refusing') leftRefusing(turn);
  if (to === 'stable') enteredStable(turn, from);
  if (to === 'refusing') start(turn, 'named:recheck', turn.data.bounds.recheck_ms);
  if (to === 'degraded') enteredDegraded(turn);
  if ((to === 'stable' || to === 'warning') && from !== 'stable' && from !== 'warning')
    lookAgain(turn);
}

function leftRefusing(turn: Turn) {
  change(turn, { refusals: [] });
  cancel(turn, 'named:recheck');
}

function enteredStable(turn: Turn, from: State) {
  if (from === 'warning') forgetBaseline(turn);
  if (from !== 'boot' && from !== 'degraded') return;
  cancel(turn, 'named:check');
  change(turn, { failed_checks: 0, recoveries: 0, degraded_since: null });
}

function enteredDegraded(turn: Turn) {
  const { degraded_since } = turn.data;
  change(turn, {
    degraded_since: degraded_since ?? turn.at,
    ...(!isPatient(turn) && { recoveries: 0 }),
  });
  awaitRecovery(turn);
}

/** Both timers of safe mode: look again, and begin anew when nothing helps. */
export function awaitRecovery(turn: Turn) {
  const { bounds, recoveries } = turn.data;
  start(turn, 'state', Math.min(bounds.recovery_ms * 2 ** recoveries, bounds.recovery_max_ms));
  start(turn, 'named:check', backOff(turn));
}

/**
 * Beginning anew helps neither against what a person has to clear nor against a missing
 * entitlement: it is done less and less often then.
 */
function isPatient(turn: Turn): boolean {
  return !isActive(turn) || turn.data.causes.some((cause) => persons.includes(cause));
}

/** How long until the next look. */
export function backOff({ data: { bounds, failed_checks } }: Turn): number {
  return bounds.backoff_ms[Math.min(failed_checks, bounds.backoff_ms.length - 1)] as number;
}

/** The baseline of no action is awaited any more. */
export function forgetBaseline(turn: Turn) {
  if (!turn.data.awaiting_baseline) return;
  change(turn, { awaiting_baseline: null });
  cancel(turn, 'named:baseline');
}

/** The entitlement at the time of the event. */
function statusOf({ data: { entitlement }, clock }: Turn): EntitlementStatus | undefined {
  return entitlement?.expires_at !== undefined && clock >= entitlement.expires_at
    ? 'EXPIRED'
    : entitlement?.status;
}

export const isActive = (turn: Turn): boolean => statusOf(turn) === 'ACTIVE';

/**
 * What is used of the quota in the month of the event: what was read of another month says nothing
 * about it.
 */
export const usedOf = (turn: Turn, quota: QuotaRead | null): number =>
  quota?.month === monthOf(turn.clock) ? quota.used : 0;

/** The entitlement is active and nothing stands in the way: back to work. */
export function isReady(turn: Turn): boolean {
  return isActive(turn) && turn.data.causes.length === 0;
}

export function entitlementVerified(turn: Turn) {
  const { entitlement, quota } = turn.data;
  const limit = entitlement?.quota_limit ?? null;
  write(turn, 'entitlement_verified', 'accept', {
    entitlement_status: 'ACTIVE',
    ...given({
      entitlement_expires:
        entitlement?.expires_at === undefined ? undefined : moment(entitlement.expires_at),
    }),
    quota_remaining: limit === null ? null : Math.max(0, limit - usedOf(turn, quota)),
    quota_limit: limit,
  });
}
