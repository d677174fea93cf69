/** What a signal says about its threshold, and what becomes of it in each state. */
import { actionId } from '../ids.js';
import type { Threshold } from '../policy-document.js';
import { isActive, move, refuse } from './moves.js';
import {
  entitlementViolation,
  healthCheckFailed,
  policyViolation,
  type RefusingCause,
} from './refusals.js';
import {
  type ContentOf,
  change,
  documentOf,
  given,
  insert,
  own,
  type Turn,
  write,
} from './turn.js';

type Signal = ContentOf<'signal'>;

interface Level {
  /** None where it is compared with nothing: the policy does not name its type, or it has no value. */
  readonly threshold?: Threshold;
  readonly value: number;
  readonly was: boolean;
  readonly over: boolean;
}

/** What is over stays over until it clears: between `limit` and `clear` nothing changes. */
function isOver({ direction, limit, clear }: Threshold, value: number, was: boolean): boolean {
  if (direction === 'above') return was ? value >= clear : value > limit;
  return was ? value <= clear : value < limit;
}

/** Keeps the level of its type up to date. */
function observe(turn: Turn, { type, value }: Signal): Level {
  const threshold = own(documentOf(turn)?.when, type);
  if (!threshold || value === undefined) return { value: 0, was: false, over: false };
  const before = own(turn.data.over, type);
  const over = isOver(threshold, value, before !== undefined);
  if (!over && !before) return { threshold, value, was: false, over };
  const { [type]: _, ...others } = turn.data.over;
  change(turn, {
    over: over ? { ...others, [type]: { since: before?.since ?? turn.at, value } } : others,
  });
  return { threshold, value, was: before !== undefined, over };
}

/** stable: signal under, signal over. */
export function whenStable(turn: Turn, signal: Signal) {
  if (!isActive(turn)) return refuseSignal(turn, signal);
  const level = observe(turn, signal);
  received(turn, signal, level);
  if (level.over) exceeded(turn, signal, level);
}

/** warning: signal over; under, others over; under, none over. */
export function whenWarned(turn: Turn, signal: Signal) {
  if (!isActive(turn)) return refuseSignal(turn, signal);
  const since = Math.min(
    turn.data.since,
    ...Object.values(turn.data.over).map((entry) => entry.since),
  );
  const level = observe(turn, signal);
  received(turn, signal, level);
  if (level.over) return exceeded(turn, signal, level);
  const still_over = Object.keys(turn.data.over).length;
  if (level.was) cleared(turn, signal, level, still_over);
  if (still_over > 0) return;
  write(
    turn,
    'baseline_restored',
    'accept',
    { signal_type: signal.type, duration_ms: turn.at - since },
    { about: signal.arrival_seq },
  );
  move(turn, 'stable');
}

/** stable, warning: signal, entitlement not ACTIVE. */
function refuseSignal(turn: Turn, signal: Signal) {
  observe(turn, signal);
  entitlementViolation(turn, signal.arrival_seq);
  refuse(turn, 'entitlement_not_active');
}

/** refusing: signal. */
export function whenRefusing(turn: Turn, signal: Signal) {
  observe(turn, signal);
  const causes = turn.data.refusals.map(({ cause }) => cause);
  if (causes.includes('entitlement_not_active'))
    return entitlementViolation(turn, signal.arrival_seq);
  policyViolation(
    turn,
    causes[0] as RefusingCause,
    { signal_type: signal.type },
    { settles: signal.arrival_seq },
  );
}

/** degraded: signal. */
export function whenDegraded(turn: Turn, signal: Signal) {
  healthCheckFailed(turn, 'refuse', {}, { settles: signal.arrival_seq });
}

function received(turn: Turn, signal: Signal, { threshold, over }: Level) {
  const { type, source, severity, value, signal_id, arrival_seq } = signal;
  write(
    turn,
    'signal_received',
    'accept',
    {
      signal_type: type,
      source,
      severity,
      ...given({ value, threshold: threshold?.limit }),
      exceeds_threshold: over,
      signal_id,
    },
    { settles: arrival_seq },
  );
}

function exceeded(turn: Turn, signal: Signal, level: Level) {
  const { type, arrival_seq } = signal;
  const { limit, action } = level.threshold as Threshold;
  const isCooling = turn.at < (own(turn.data.cooling, type) ?? 0);
  write(
    turn,
    'threshold_exceeded',
    'accept',
    {
      signal_type: type,
      current_value: level.value,
      threshold: limit,
      policy_id: documentOf(turn)?.policy_id as string,
      ...given({ remediation_action: isCooling ? undefined : action }),
    },
    { about: arrival_seq },
  );
  if (action !== undefined && !isCooling) ask(turn, signal, level.threshold as Threshold, action);
  move(turn, 'warning');
}

/** For the action that the policy answers with; it is checked when its turn comes. */
function ask(
  turn: Turn,
  { type, signal_id }: Signal,
  { cooldown_ms }: Threshold,
  action_type: string,
) {
  change(turn, { cooling: { ...turn.data.cooling, [type]: turn.at + cooldown_ms } });
  const parameters = own(documentOf(turn)?.actions, action_type)?.parameters ?? {};
  insert(turn, {
    kind: 'act',
    action_id: actionId(turn.event_id, 'act'),
    action_type,
    parameters,
    signal_type: type,
    signal_id,
  });
}

function cleared(
  turn: Turn,
  { type, arrival_seq }: Signal,
  { value, threshold }: Level,
  still_over: number,
) {
  const { clear } = threshold as Threshold;
  write(
    turn,
    'signal_cleared',
    'accept',
    { signal_type: type, current_value: value, threshold: clear, still_over },
    { about: arrival_seq },
  );
}
