/** What a signal says about its threshold, and what becomes of it in each state. */
import { actionId } from '../ids.js';
import type { Threshold } from '../policy-document.js';
import {
  coolingUntil,
  forget,
  isOver,
  isUnanswered,
  keep,
  keepSeen,
  keyOf,
  lookAgain,
  standing,
} from './levels.js';
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
  /**
   * None where it is compared with nothing: the policy does not name its type, or it has no value.
   */
  readonly threshold?: Threshold;
  readonly value: number;
  readonly was: boolean;
  readonly over: boolean;
}

/** Keeps the level of its type, or of its instance, up to date. */
function observe(turn: Turn, signal: Signal): Level {
  const { type, value, signal_id } = signal;
  const threshold = own(documentOf(turn)?.when, type);
  if (value === undefined) return { value: 0, was: false, over: false };
  const key = keyOf(signal);
  if (!threshold) {
    if (turn.event.decide >= 3) {
      const { since = turn.at, ...known } = own(turn.data.seen, key) ?? { signal_id };
      keepSeen(turn, key, { since, ...given(known), value });
    }
    return { value: 0, was: false, over: false };
  }
  const before = own(turn.data.over, key);
  const over = isOver(threshold, value, before !== undefined);
  if (over) keep(turn, key, before ? { ...before, value } : { since: turn.at, value, signal_id });
  else forget(turn, key);
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
  if (turn.event.decide >= 2) observe(turn, signal);
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
  const threshold = level.threshold as Threshold;
  const { action } = threshold;
  const isCooling = turn.clock < coolingUntil(turn, type);
  writeExceeded(turn, type, level.value, threshold, isCooling ? undefined : action, {
    about: arrival_seq,
  });
  if (action !== undefined && !isCooling) ask(turn, signal, threshold, action, 'act');
  move(turn, 'warning');
  // It may be the only signal about this.
  if (isCooling && !level.was) lookAgain(turn);
}

function writeExceeded(
  turn: Turn,
  type: string,
  current_value: number,
  { limit }: Threshold,
  remediation_action: string | undefined,
  about: { readonly about?: number } = {},
) {
  const policy_id = documentOf(turn)?.policy_id as string;
  const context = {
    signal_type: type,
    current_value,
    threshold: limit,
    policy_id,
    ...given({ remediation_action }),
  };
  write(turn, 'threshold_exceeded', 'accept', context, about);
}

/**
 * stable, warning: timer look. An action is asked for each type that is over and has no answer; in
 * stable, what is over is told again.
 */
export function look(turn: Turn) {
  const asked: string[] = [];
  const wasStable = turn.state === 'stable';
  for (const one of standing(turn)) {
    const { type, level, threshold } = one;
    const asks =
      isUnanswered(turn, one) && turn.clock >= coolingUntil(turn, type)
        ? threshold.action
        : undefined;
    if (asks === undefined && !wasStable) continue;
    writeExceeded(turn, type, level.value, threshold, asks);
    move(turn, 'warning');
    if (asks === undefined) continue;
    ask(turn, { type, ...given({ signal_id: level.signal_id }) }, threshold, asks, `act ${type}`);
    asked.push(type);
  }
  lookAgain(turn, asked);
}

/** any: the clock of the database was set back. Timers go with it, and so do cooldowns. */
export function setBack(turn: Turn, { back_ms }: ContentOf<'clock'>) {
  const cooling = Object.entries(turn.data.cooling).map(([type, until]) => [type, until - back_ms]);
  change(turn, { cooling: Object.fromEntries(cooling) });
}

/** For the action that the policy answers with; it is checked when its turn comes. */
function ask(
  turn: Turn,
  { type, signal_id }: { readonly type: string; readonly signal_id?: string },
  { cooldown_ms }: Threshold,
  action_type: string,
  label: string,
) {
  change(turn, { cooling: { ...turn.data.cooling, [type]: turn.clock + cooldown_ms } });
  const parameters = own(documentOf(turn)?.actions, action_type)?.parameters ?? {};
  const action_id = actionId(turn.event_id, label);
  insert(turn, {
    kind: 'act',
    action_id,
    action_type,
    parameters,
    signal_type: type,
    ...given({ signal_id }),
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
