/**
 * Whether what a governor stands on is there: its beginning, its looks, what fails, and what a
 * person has seen to.
 */
import type { ContextOf } from '../../ledger/reasons/index.js';
import type { Data, Situation } from '../decision.js';
import type { Failure, GovernorEvent } from '../events.js';
import {
  acknowledgedCauses,
  addCause,
  awaitRecovery,
  backOff,
  checkedCauses,
  degrade,
  dropCause,
  entitlementVerified,
  escalate,
  isReady,
  move,
} from './moves.js';
import { failureOf, healthCheckFailed } from './refusals.js';
import { awaitRollback, giveUp } from './rollbacks.js';
import {
  begin,
  type ContentOf,
  change,
  given,
  insert,
  needed,
  said,
  seconds,
  start,
  type Turn,
  write,
} from './turn.js';

type DegradedCauses = NonNullable<ContextOf<'recovery_timeout'>['causes']>;

/** –: create. */
export function create(
  situation: Situation,
  event: GovernorEvent,
  content: ContentOf<'create'>,
): Turn {
  const { sku_id, tenant_id, bounds, process_id } = content;
  const data: Data = {
    sku_id,
    tenant_id,
    bounds,
    since: event.at,
    policy: null,
    policy_version: 0,
    entitlement: null,
    quota: null,
    over: {},
    cooling: {},
    causes: [],
    refusals: [],
    in_flight: null,
    queue: [],
    awaiting_baseline: null,
    given_up: null,
    storm: null,
    failed_checks: 0,
    recoveries: 0,
    degraded_since: null,
    spent: null,
  };
  const turn = begin(situation, 'boot', data, event);
  boot(turn, process_id);
  return turn;
}

function boot(turn: Turn, process_id: string) {
  write(turn, 'boot_start', 'accept', {
    governor_version: String(turn.event.decide),
    process_id,
    entitlement_required: true,
  });
  start(turn, 'state', turn.data.bounds.boot_ms);
  insert(turn, { kind: 'verify' });
}

/**
 * Takes in what was read and asked: the entitlement, the quota, and which causes stand. Gives back
 * what is missing.
 */
function look(turn: Turn): readonly Failure[] {
  const { entitlement, quota, failures, bounds } = needed(
    turn.event.answers?.check,
    'what a look at everything has shown',
  );
  const unread = entitlement !== null && 'failed' in entitlement ? entitlement : undefined;
  change(turn, {
    quota,
    ...(!unread && { entitlement: entitlement as Data['entitlement'] }),
    ...(bounds && { bounds }),
  });
  const missing = unread
    ? [...failures, { cause: 'entitlement' as const, ...failureOf('entitlement', unread.failed) }]
    : failures;
  const named = new Set<string>(missing.map(({ cause }) => cause));
  for (const cause of turn.data.causes) {
    const isBack =
      checkedCauses.includes(cause) &&
      !named.has(cause) &&
      (cause !== 'policy' || turn.data.policy !== null);
    if (isBack) dropCause(turn, cause);
  }
  for (const cause of named) addCause(turn, cause);
  return missing;
}

/** boot: verify, entitlement, policy, check. */
export function whenBooting(turn: Turn) {
  look(turn);
  leaveBoot(turn);
}

function leaveBoot(turn: Turn) {
  if (!isReady(turn)) return;
  entitlementVerified(turn);
  move(turn, 'stable');
}

/** boot: check. It goes on from safe mode, and so does its back-off. */
export function checkInBoot(turn: Turn) {
  whenBooting(turn);
  if (turn.state !== 'boot') return;
  change(turn, { failed_checks: turn.data.failed_checks + 1 });
  start(turn, 'named:check', backOff(turn));
}

/** boot: state timeout. */
export function bootTimedOut(turn: Turn) {
  write(turn, 'bootstrap_timeout', 'error', {
    timeout_ms: turn.data.bounds.boot_ms,
    causes: turn.data.causes as DegradedCauses,
  });
  degrade(turn, 'bootstrap');
}

/** degraded: state timeout. */
export function recoveryTimedOut(turn: Turn) {
  const { causes, since, recoveries } = turn.data;
  const timeout_ms = Math.max(1, (turn.event.due_at ?? turn.at) - since);
  write(turn, 'recovery_timeout', 'error', { timeout_ms, causes: causes as DegradedCauses });
  boot(turn, turn.event.answers?.process_id ?? 'unknown');
  change(turn, { recoveries: recoveries + 1 });
  move(turn, 'boot');
}

/** degraded: check. */
export function check(turn: Turn) {
  const { causes: cleared, degraded_since } = turn.data;
  const [failure] = look(turn);
  if (isReady(turn)) {
    const down_ms = turn.at - (degraded_since ?? turn.data.since);
    write(turn, 'health_check_passed', 'accept', { cleared: cleared as DegradedCauses, down_ms });
    entitlementVerified(turn);
    return move(turn, 'stable');
  }
  const failures = turn.data.failed_checks + 1;
  change(turn, { failed_checks: failures });
  healthCheckFailed(turn, 'error', { ...given({ failure }), failures });
  start(turn, 'named:check', backOff(turn));
}

/** boot: health failed, outage. */
export const failsInBoot = (turn: Turn, content: ContentOf<'health_failed' | 'outage'>): void =>
  addCause(turn, content.kind === 'outage' ? 'outage' : content.failure.cause);

/** stable, warning, intervening, refusing: health failed. degraded: one more cause. */
export function healthFailed(turn: Turn, { failure }: ContentOf<'health_failed'>) {
  if (turn.data.causes.includes(failure.cause)) return;
  addCause(turn, failure.cause);
  healthCheckFailed(turn, 'error', { failure });
  giveUp(turn, 'health_check_failed');
  move(turn, 'degraded');
}

/** The same: outage. */
export function outage(turn: Turn, { from, to }: ContentOf<'outage'>) {
  if (turn.data.causes.includes('outage')) return;
  addCause(turn, 'outage');
  healthCheckFailed(turn, 'error', { failure: failureOf('outage'), outage: { from, to } });
  giveUp(turn, 'outage');
  move(turn, 'degraded');
}

/** degraded: operator_ack. boot: the same. Elsewhere no cause stands. */
export function acknowledge(turn: Turn, { cause }: ContentOf<'operator_ack'>) {
  if (!acknowledgedCauses.includes(cause) || !turn.data.causes.includes(cause)) return;
  dropCause(turn, cause);
  if (turn.state === 'boot') leaveBoot(turn);
  // Soon, but behind what has arrived before.
  if (turn.state === 'degraded') start(turn, 'named:check', 1);
}

/** any: crash limit. */
export function crash(turn: Turn, content: ContentOf<'crash'>) {
  const { event, arrival_seq, crashes, window_ms, error_code, error_message } = content;
  write(
    turn,
    'event_failed',
    'error',
    {
      event,
      crashes,
      window_seconds: Math.max(1, seconds(window_ms)),
      ...given({ error_code, error_message: said(error_message) }),
    },
    given({ settles: arrival_seq }),
  );
  setAside(turn, 'crash', { event, crashes });
}

/** any: mismatch. */
export function mismatch(turn: Turn, content: ContentOf<'mismatch'>) {
  const { event, arrival_seq, receipt_id, expected_hash, actual_hash } = content;
  const decide_version = String(turn.event.decide);
  write(turn, 'nondeterminism_detected', 'error', {
    receipt_id,
    expected_hash,
    actual_hash,
    decide_version,
  });
  if (arrival_seq !== undefined)
    write(
      turn,
      'event_failed',
      'error',
      { event, crashes: 1, window_seconds: 1, error_message: 'The event was decided in two ways.' },
      { settles: arrival_seq },
    );
  setAside(turn, 'nondeterminism', { event, receipt_id });
}

/** The event that was set aside may have been a timer: what somebody waits for is started anew. */
function setAside(
  turn: Turn,
  cause: 'crash' | 'nondeterminism',
  details: Readonly<Record<string, string | number>>,
) {
  const { storm, bounds } = turn.data;
  awaitRollback(turn);
  if (storm) start(turn, 'named:storm', bounds.storm_every_ms);
  giveUp(turn, 'health_check_failed');
  if (turn.state === 'degraded') awaitRecovery(turn);
  escalate(turn, cause, details);
}
