/** What comes back from who carries an action out: in time, too late, or not at all. */
import type { InFlight } from '../decision.js';
import type { Result } from '../events.js';
import type { ActionRule } from '../policy-document.js';
import { againstPermission, retry, writeDenial } from './acts.js';
import { addCause, escalate, isActive, move, refuse } from './moves.js';
import { failed, succeeded } from './outcomes.js';
import { failureOf, healthCheckFailed, policyViolation } from './refusals.js';
import { giveUp, rollbackAcknowledged, rollbackResult, undo } from './rollbacks.js';
import {
  type ContentOf,
  change,
  documentOf,
  given,
  needed,
  own,
  said,
  start,
  type Turn,
  write,
} from './turn.js';

/** What is in flight, if this is about its attempt. */
function inFlight(
  turn: Turn,
  { action_id, attempt }: { readonly action_id: string; readonly attempt: number },
): InFlight | undefined {
  const current = turn.data.in_flight;
  return current?.action_id === action_id && current.attempt === attempt ? current : undefined;
}

/** any: result. */
export function result(turn: Turn, { kind: _, ...outcome }: ContentOf<'result'>) {
  const current = inFlight(turn, outcome);
  if (!current) return stale(turn, outcome);
  if (current.kind === 'rollback') return rollbackResult(turn, current, outcome);
  if (outcome.ok) return actionSucceeded(turn, current, outcome);
  actionFailed(turn, current, outcome);
}

/** intervening: acknowledged. Of a rollback: any. */
export function acknowledged(turn: Turn, content: ContentOf<'acknowledged'>) {
  const current = inFlight(turn, content);
  if (!current || current.acknowledged || current.completion_timeout_ms === undefined) return;
  const { action_id, action_type, attempt, completion_timeout_ms } = current;
  const { reference } = content;
  const duration_ms = turn.at - current.sent_at;
  write(turn, 'action_acknowledged', 'accept', {
    ...{ action_id, action_type, attempt, duration_ms, completion_timeout_ms },
    ...given({ reference }),
  });
  if (current.kind === 'rollback') return rollbackAcknowledged(turn, current, content);
  change(turn, { in_flight: { ...current, acknowledged: true, ...given({ reference }) } });
  start(turn, 'state', completion_timeout_ms);
}

/** intervening: success, restored; success, otherwise. */
function actionSucceeded(turn: Turn, action: InFlight, outcome: Result) {
  succeeded(turn, action, outcome);
  change(turn, { in_flight: null });
  if (outcome.baseline !== 'restored') return awaitBaseline(turn, action);
  const since = Math.min(...Object.values(turn.data.over).map((entry) => entry.since));
  const duration_ms = turn.at - (Number.isFinite(since) ? since : action.began_at);
  write(turn, 'baseline_restored', 'accept', { action_id: action.action_id, duration_ms });
  change(turn, { over: {} });
  move(turn, 'stable');
}

function awaitBaseline(turn: Turn, action: InFlight) {
  const rule = own(documentOf(turn)?.actions, action.action_type) as ActionRule;
  change(turn, { awaiting_baseline: action });
  start(turn, 'named:baseline', rule.baseline_ms);
  move(turn, 'warning');
}

/** intervening: failure. */
function actionFailed(turn: Turn, action: InFlight, outcome: Result) {
  const { bounds, policy } = turn.data;
  // A shadow acts on nothing, so it does not try again either.
  const left = policy?.shadow ? 0 : bounds.attempts - action.attempt;
  if (outcome.response_code === 403 || outcome.failure_reason === 'permission_denied')
    return forbidden(turn, action, outcome, left);
  if (left > 0) return tryAgain(turn, action, outcome, left);
  failed(turn, action, outcome, 0);
  giveUp(turn, 'action_failed');
  move(turn, 'warning');
}

/** intervening: 403. The attempt itself has changed nothing; one before it may have. */
function forbidden(turn: Turn, action: InFlight, outcome: Result, left: number) {
  failed(turn, action, outcome, left, false);
  writeDenial(turn, action.action_type, { denied: 'action' });
  if (action.attempt > 1) giveUp(turn, 'permission_denied');
  else change(turn, { in_flight: null });
  refuse(turn, 'permission_denied', action.action_type);
}

/**
 * intervening: failure, attempts left; the retry is denied; nobody could say whether it is allowed.
 */
function tryAgain(turn: Turn, action: InFlight, outcome: Result, left: number) {
  if (!isActive(turn)) {
    failed(turn, action, outcome, left, false);
    return entitlementLost(turn);
  }
  const denial = againstPermission(
    needed(turn.event.answers?.act, 'what is asked before a further attempt'),
  );
  if (!denial) {
    failed(turn, action, outcome, left);
    return retry(turn, own(documentOf(turn)?.actions, action.action_type) as ActionRule, action);
  }
  failed(turn, action, outcome, left, false);
  if ('unreachable' in denial) {
    addCause(turn, 'iam');
    healthCheckFailed(turn, 'error', { failure: failureOf('iam', denial.unreachable) });
    giveUp(turn, 'health_check_failed');
    return move(turn, 'degraded');
  }
  const cause = writeDenial(turn, action.action_type, denial);
  // What failed was sent, and nobody knows how far it came.
  giveUp(turn, 'permission_denied');
  refuse(turn, cause, action.action_type);
}

/** intervening: entitlement withdrawn. */
export function entitlementLost(turn: Turn) {
  const action_type = turn.data.in_flight?.action_type;
  policyViolation(turn, 'entitlement_not_active', given({ action_type }));
  giveUp(turn, 'entitlement_withdrawn');
  refuse(turn, 'entitlement_not_active', action_type);
}

/** intervening: state timeout. */
export function actionTimedOut(turn: Turn) {
  const action = turn.data.in_flight as InFlight;
  const { action_id, action_type, attempt } = action;
  const given_ms = action.acknowledged
    ? (action.completion_timeout_ms as number)
    : turn.data.bounds.action_ms;
  const elapsed_ms = turn.at - action.sent_at;
  write(turn, 'action_timeout', 'error', {
    action_id,
    action_type,
    attempt,
    action_timeout_ms: given_ms,
    elapsed_ms,
  });
  giveUp(turn, 'action_timeout');
  escalate(turn, 'action_timeout', { action_id, action_type, target: action.target });
}

/**
 * any: stale result. What was given up and has happened after all has to be undone once more, for
 * it may have happened after its undoing.
 */
function stale(turn: Turn, outcome: Result) {
  const { given_up, in_flight, awaiting_baseline } = turn.data;
  const late = given_up?.action.action_id === outcome.action_id ? given_up : undefined;
  const known =
    late?.action ??
    [in_flight, awaiting_baseline].find((one) => one?.action_id === outcome.action_id);
  write(turn, 'late_result', outcome.ok ? 'accept' : 'error', {
    action_id: outcome.action_id,
    action_type: known?.action_type ?? 'unknown',
    attempt: outcome.attempt,
    result: outcome.ok ? 'succeeded' : 'failed',
    late_by_ms: late ? turn.at - late.at : 0,
    ...given({ rollback_action_id: late?.rollback_action_id }),
    ...given({
      service_response_code: outcome.response_code,
      error_message: said(outcome.error_message),
    }),
  });
  if (!outcome.ok || !late || late.heard?.includes(outcome.attempt)) return;
  change(turn, {
    given_up: { ...late, heard: [...(late.heard ?? []), outcome.attempt], again: true },
  });
}

/** Once its undoing has succeeded, and the slot is free. One that has failed is for a person. */
export function undoLate(turn: Turn) {
  const { given_up, in_flight } = turn.data;
  if (given_up?.again && given_up.undone && !in_flight) undo(turn, given_up.action, 'late_result');
}
