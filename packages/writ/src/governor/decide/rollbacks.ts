/**
 * Undoing: who works on it is fenced off first, then the inverse is done. It holds the slot until
 *          its result, in whatever state.
 */
import type { ContextOf } from '../../ledger/reasons/index.js';
import type { InFlight } from '../decision.js';
import type { Result } from '../events.js';
import { actionId, jobId } from '../ids.js';
import type { Doing } from '../policy-document.js';
import { reopen } from './levels.js';
import { dropCause, escalate } from './moves.js';
import { failed, succeeded } from './outcomes.js';
import {
  type ContentOf,
  cancel,
  change,
  documentOf,
  given,
  own,
  said,
  start,
  type Turn,
  write,
} from './turn.js';

export type RollbackReason = ContextOf<'action_rollback_issued'>['rollback_reason'];

/**
 * What ends an action for a reason that is not its own: what it answered is looked at again when
 * the reason is gone.
 */
const outside: readonly RollbackReason[] = [
  'health_check_failed',
  'outage',
  'entitlement_withdrawn',
  'policy_withdrawn',
];

/** "rb" of the table: what is in flight is given up. A rollback goes on. */
export function giveUp(turn: Turn, reason: RollbackReason) {
  const action = turn.data.in_flight;
  if (action?.kind !== 'action') return;
  fence(turn, action);
  if (outside.includes(reason)) reopen(turn, action.signal_type);
  undo(turn, action, reason);
}

function fence(turn: Turn, { job_id }: InFlight) {
  if (job_id !== undefined) turn.effects.push({ type: 'fence', job_id });
}

/** Takes the slot, which is free or that of the action itself. */
export function undo(turn: Turn, action: InFlight, reason: RollbackReason) {
  const { action_type, parameters, target } = action.inverse as Doing;
  const action_id = actionId(turn.event_id, 'rollback');
  const { given_up } = turn.data;
  const heard = given_up?.action.action_id === action.action_id ? given_up.heard : undefined;
  change(turn, {
    given_up: { action, at: turn.at, rollback_action_id: action_id, ...given({ heard }) },
  });
  const { signal_type, signal_id, completion_timeout_ms } = action;
  const job_id = send(turn, {
    ...{
      kind: 'rollback',
      action_id,
      action_type,
      parameters,
      target,
      attempt: 1,
      began_at: turn.at,
      sent_at: turn.at,
    },
    ...given({ signal_type, signal_id, completion_timeout_ms }),
    of: action.action_id,
    reason,
  });
  write(turn, 'action_rollback_issued', 'accept', {
    original_action_id: action.action_id,
    rollback_action_id: action_id,
    rollback_reason: reason,
    action_type,
    target,
    job_id,
  });
}

/** The job of an attempt, and the time it has. */
function send(turn: Turn, rollback: InFlight): string {
  const { action_id, attempt, of, signal_id, signal_type, completion_timeout_ms } = rollback;
  const { action } = turn.data.given_up as { action: InFlight };
  const doing = action.inverse as Doing;
  const isContract = doing.actuator.kind === 'contract';
  const ms = timeOf(turn, rollback);
  const job_id = jobId(action_id, attempt, turn.ids_at);
  turn.effects.push({
    ...{
      type: 'attempt',
      kind: 'rollback',
      action_id,
      attempt,
      job_id,
      doing,
      due_at: turn.clock + ms,
    },
    ...given({
      completion_timeout_ms: isContract ? completion_timeout_ms : undefined,
      of,
      reference: action.reference,
    }),
    ...given({ signal_id, signal_type }),
  });
  change(turn, { in_flight: { ...rollback, job_id } });
  start(turn, 'named:rollback', ms);
  return job_id;
}

/** How long an attempt may take: a contract longer than others. */
function timeOf(
  { data: { bounds, given_up } }: Turn,
  { completion_timeout_ms = 0 }: InFlight,
): number {
  const isContract = given_up?.action.inverse?.actuator.kind === 'contract';
  return isContract ? Math.max(bounds.rollback_ms, completion_timeout_ms) : bounds.rollback_ms;
}

/** The timer of a rollback may have been lost with an event that was set aside. */
export function awaitRollback(turn: Turn) {
  const rollback = turn.data.in_flight;
  if (rollback?.kind === 'rollback') start(turn, 'named:rollback', timeOf(turn, rollback));
}

/** any: rollback succeeded, rollback failed. */
export function rollbackResult(turn: Turn, rollback: InFlight, result: Result) {
  if (!result.ok) return rollbackFailed(turn, rollback, result);
  succeeded(turn, rollback, result);
  cancel(turn, 'named:rollback');
  const { given_up } = turn.data;
  change(turn, { in_flight: null, given_up: given_up && { ...given_up, undone: true } });
  dropCause(turn, 'action_timeout');
}

/** any: timer rollback. */
export function rollbackTimedOut(turn: Turn) {
  const rollback = turn.data.in_flight;
  if (rollback?.kind !== 'rollback') return;
  fence(turn, rollback);
  const { action_id, attempt } = rollback;
  rollbackFailed(turn, rollback, { action_id, attempt, ok: false, failure_reason: 'timeout' });
}

function rollbackFailed(turn: Turn, rollback: InFlight, result: Result) {
  const { acknowledged: _, reference: __, ...again } = rollback;
  if (rollback.attempt < turn.data.bounds.attempts) {
    failed(turn, rollback, result, turn.data.bounds.attempts - rollback.attempt);
    send(turn, { ...again, attempt: rollback.attempt + 1, sent_at: turn.at });
    return;
  }
  cancel(turn, 'named:rollback');
  change(turn, { in_flight: null });
  const original_action_id = rollback.of as string;
  write(turn, 'action_rollback_failed', 'error', {
    original_action_id,
    rollback_action_id: rollback.action_id,
    failure_reason: result.failure_reason ?? 'service_error',
    ...given({
      service_response_code: result.response_code,
      error_message: said(result.error_message),
    }),
  });
  escalate(turn, 'rollback_failed', { original_action_id, rollback_action_id: rollback.action_id });
}

/** any: acknowledged, of a rollback. */
export function rollbackAcknowledged(
  turn: Turn,
  rollback: InFlight,
  { reference }: ContentOf<'acknowledged'>,
) {
  change(turn, { in_flight: { ...rollback, acknowledged: true, ...given({ reference }) } });
  start(turn, 'named:rollback', rollback.completion_timeout_ms as number);
}

/** warning: timer baseline. Anywhere else it only ends the waiting. */
export function baselineMissed(turn: Turn) {
  const action = turn.data.awaiting_baseline;
  if (!action) return;
  const rule = own(documentOf(turn)?.actions, action.action_type);
  const isMissed =
    turn.state === 'warning' &&
    Object.keys(turn.data.over).length > 0 &&
    rule?.not_restored === 'rollback';
  // Something else is being undone: this waits until the slot is free.
  if (isMissed && turn.data.in_flight) return void start(turn, 'named:baseline', rule.baseline_ms);
  change(turn, { awaiting_baseline: null });
  if (isMissed) undo(turn, action, 'baseline_not_restored');
}
