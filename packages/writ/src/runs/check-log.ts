/**
 * A log held against the rules of its plan: every event in turn is asked whether it could be what
 * it is and whether the rules allowed it there, and the end whether anything is missing. Where the
 * rules leave open in which order things happen, every order is right.
 */
import { hash } from 'node:crypto';
import { WritRefusal } from '../errors/index.js';
import { canonicalize } from '../ledger/canonical.js';
import { decide, hasFailedItem, PlanState, toUndo } from './decide.js';
import {
  assertReferencesOnly,
  eventId,
  idempotencyKey,
  itemOf,
  type RunEvent,
  type RunEventData,
  type SkipReason,
  undoneBy,
} from './events.js';
import { itemState } from './items.js';
import type { PlanDocument } from './plans/document.js';
import { emptySnapshot, isTerminal, type RunSnapshot, reduce } from './snapshot.js';

export interface Fault {
  readonly runSeq: number;
  readonly fault:
    | 'not_dense'
    | 'other_run'
    | 'wrong_event_id'
    | 'wrong_key'
    | 'repeated_key'
    | 'not_a_reference'
    | 'other_plan'
    | 'unknown_step'
    | 'illegal_move'
    | 'not_allowed'
    | 'not_done';
  readonly detail: string;
}

export interface LogCheck {
  readonly input?: unknown;
  /** The outputs of steps that succeeded, for conditions. */
  readonly outputs?: (stepId: string) => unknown;
  /**
   * Whether everything that could happen has: then what should have followed and did not is a
   * fault. A log that has ended is always at rest.
   */
  readonly atRest?: boolean;
}

/** The faults of a log; empty if it is what the rules allow. */
export function checkLog(
  plan: PlanDocument,
  events: readonly RunEvent[],
  check: LogCheck = {},
): Fault[] {
  const outputs = check.outputs ?? (() => undefined);
  const faults: Fault[] = [];
  const runId = events[0]?.runId ?? '';
  let snapshot = emptySnapshot(runId);
  const keys = new Set<string>();
  const undoOrder = new UndoOrder();
  for (const event of events) {
    const say = (fault: Fault['fault'], detail: string) =>
      faults.push({ runSeq: event.runSeq, fault, detail });
    if (event.runId !== runId) say('other_run', `${event.runId}, not ${runId}`);
    else if (event.runSeq !== snapshot.lastEventSeq + 1)
      say('not_dense', `${snapshot.lastEventSeq + 1} was expected`);
    // Behind a gap nothing can be said of what follows.
    if (faults.at(-1)?.fault === 'other_run' || faults.at(-1)?.fault === 'not_dense') return faults;
    checkIdentity(plan, event, keys, say);
    const state = new PlanState(plan, snapshot, outputs, check.input);
    const after = reduce(snapshot, [event]);
    if ((after.inconsistent ?? 0) > (snapshot.inconsistent ?? 0))
      say('illegal_move', `${event.eventType} of ${event.stepId}`);
    else {
      const wrong = isLate(event, state)
        ? undefined
        : objection(event, state, () => decide(plan, snapshot, outputs, check.input), undoOrder);
      if (wrong)
        say(
          state.planned(base(event.stepId)) || event.stepId === 'RUN'
            ? 'not_allowed'
            : 'unknown_step',
          `${event.eventType} of ${event.stepId}: ${wrong}`,
        );
    }
    undoOrder.see(event);
    snapshot = after;
  }
  if (check.atRest && !isTerminal(snapshot)) {
    for (const detail of missing(decide(plan, snapshot, outputs, check.input)))
      faults.push({ runSeq: snapshot.lastEventSeq, fault: 'not_done', detail });
  }
  return faults;
}

/**
 * The step of the plan that an id of the log is about: without the place in an `each`, and without
 * `undo:`.
 */
function base(stepId: string): string {
  const undone = undoneBy(stepId) ?? stepId;
  return itemOf(undone)?.stepId ?? undone;
}

function checkIdentity(
  plan: PlanDocument,
  event: RunEvent,
  keys: Set<string>,
  say: (fault: Fault['fault'], detail: string) => void,
): void {
  const { runId, stepId, logicalAttemptId, eventType } = event;
  if (event.eventId !== eventId(runId, event.runSeq)) say('wrong_event_id', event.eventId);
  if (
    event.idempotencyKey !==
    idempotencyKey(runId, stepId, logicalAttemptId, eventType, plan.planVersion)
  )
    say('wrong_key', event.idempotencyKey);
  if (keys.has(event.idempotencyKey)) say('repeated_key', event.idempotencyKey);
  keys.add(event.idempotencyKey);
  try {
    assertReferencesOnly(event.eventData);
  } catch (error) {
    if (!(error instanceof WritRefusal)) throw error;
    say('not_a_reference', error.detail ?? error.message);
  }
  if (eventType !== 'RunStarted') return;
  const { planId, planVersion, planSha256 } = event.eventData as RunEventData['RunStarted'];
  const sha256 = hash('sha256', canonicalize(plan), 'hex');
  if (planId !== plan.planId || planVersion !== plan.planVersion || planSha256 !== sha256)
    say('other_plan', `${planId} ${planVersion} ${planSha256}`);
}

/**
 * A StepStarted that its attempt's end was faster than: when it was allowed is not known any more.
 */
function isLate(event: RunEvent, state: PlanState): boolean {
  if (event.eventType !== 'StepStarted') return false;
  const item = itemOf(event.stepId);
  const items = item && state.of(item.stepId)?.items;
  const step = state.of(event.stepId);
  const was =
    item && items
      ? itemState(items, item.index)
      : step && { status: step.status, attempt: Number(step.logicalAttemptId) };
  return (
    was !== undefined && was.status !== 'PENDING' && Number(event.logicalAttemptId) <= was.attempt
  );
}

/** Why the rules did not allow an event at this point; undefined if they did. */
function objection(
  event: RunEvent,
  state: PlanState,
  decision: () => ReturnType<typeof decide>,
  order: UndoOrder,
): string | undefined {
  switch (event.eventType) {
    case 'StepStarted':
      return startObjection(event, state, order);
    case 'StepCompleted':
    case 'StepFailed':
      return endObjection(event, state, order);
    case 'StepSkipped':
      return skipObjection(event, state);
    case 'RunPaused':
      return decision().change === 'RunPaused'
        ? undefined
        : 'nobody asked for it, and no step failed';
    case 'RunResumed': {
      const answered = state.plan.onFailure === 'pause' && !state.failure();
      return state.snapshot.requested === 'RESUME' || answered ? undefined : 'nobody asked for it';
    }
    case 'RunCompleted':
      return decision().end === 'RunCompleted' ? undefined : 'not every step has ended well';
    case 'RunFailed':
    case 'RunCancelled':
      return stopObjection(event, state);
  }
  return undefined;
}

/** Why nothing may start now. */
function stopped({
  snapshot,
  failure,
}: {
  snapshot: RunSnapshot;
  failure: unknown;
}): string | undefined {
  if (snapshot.requested === 'CANCEL' || snapshot.requested === 'EMERGENCY_STOP')
    return 'the run is being cancelled';
  if (snapshot.status === 'PAUSED') return 'the run is paused';
  return failure ? 'a step has failed' : undefined;
}

function startObjection(event: RunEvent, state: PlanState, order: UndoOrder): string | undefined {
  const { snapshot } = state;
  const step = state.planned(base(event.stepId));
  if (!step) return 'the plan has no such step';
  const undone = undoneBy(event.stepId);
  if (undone !== undefined) return undoObjection(undone, state, order);
  const stop = stopped({ snapshot, failure: state.failure() });
  if (stop) return stop;
  if (itemOf(event.stepId)) {
    const each = state.of(step.id);
    if (step.type !== 'each' || each?.status !== 'RUNNING' || !each.items)
      return 'its step does not run';
    if (each.items.running >= step.parallel) return `${step.parallel} run already`;
    return hasFailedItem(each) ? 'an item of the step has failed' : undefined;
  }
  const next = state.next(step);
  return next === 'start'
    ? undefined
    : next
      ? `it is to be skipped: ${next}`
      : 'what it comes after has not ended, or nobody asked to retry it';
}

function undoObjection(stepId: string, state: PlanState, order: UndoOrder): string | undefined {
  const { requested, counts } = state.snapshot;
  const step = state.planned(base(stepId));
  if (!step || !('compensate' in step) || !step.compensate) return 'nothing undoes it';
  if (!state.failure() && requested !== 'CANCEL' && requested !== 'EMERGENCY_STOP')
    return 'the run goes on';
  if (counts.running > 0) return 'steps run still';
  if (counts.undoing > 0) return 'another is being undone';
  const open = toUndo(state).map((id) => undoneBy(id) as string);
  if (!open.includes(stepId))
    return 'it is not done, or undone already, or an undoing before it failed';
  const first = open.find((other) => order.isBefore(stepId, other));
  return first === undefined ? undefined : `${first} is to be undone first`;
}

function endObjection(event: RunEvent, state: PlanState, order: UndoOrder): string | undefined {
  const step = state.planned(base(event.stepId));
  if (!step) return 'the plan has no such step';
  const was = state.of(event.stepId);
  const isStep = event.stepId === step.id;
  if (
    isStep &&
    was?.items &&
    event.eventType === 'StepCompleted' &&
    was.items.succeeded + was.items.skipped < was.items.total
  )
    return 'not all of its items succeeded';
  if (isStep && was?.items && event.eventType === 'StepFailed' && was.items.failed === 0)
    return 'none of its items failed';
  // Its StepStarted is late or there is none: it must have been allowed to start.
  return isStep && (was?.status ?? 'PENDING') !== 'RUNNING'
    ? startObjection(event, state, order)
    : undefined;
}

function skipObjection(event: RunEvent, state: PlanState): string | undefined {
  const step = state.planned(event.stepId);
  if (!step) return 'the plan has no such step';
  const { reasonCode } = event.eventData as { reasonCode: SkipReason };
  const was = state.of(step.id);
  // What is open or never began when a run winds up may be closed, for whatever reason.
  if (
    was?.status !== 'FAILED' &&
    stopped({ snapshot: { ...state.snapshot, status: 'RUNNING' }, failure: state.failure() })
  )
    return undefined;
  if (
    was?.status === 'RUNNING' &&
    step.type === 'wait' &&
    step.onTimeout === 'skip' &&
    reasonCode !== 'DEPENDENCY_FAILED'
  )
    return undefined;
  const next = state.next(step);
  return next === reasonCode ? undefined : `not for ${reasonCode}, but ${next ?? 'nothing'}`;
}

function stopObjection(event: RunEvent, state: PlanState): string | undefined {
  const { snapshot } = state;
  const { requested, counts, status } = snapshot;
  const { undone, rootCause } = event.eventData as RunEventData['RunFailed'];
  if (event.eventType === 'RunFailed' && !state.failure()) return 'no step has failed';
  if (rootCause && state.of(rootCause.stepId)?.status !== 'FAILED')
    return `${rootCause.stepId} has not failed`;
  if (
    event.eventType === 'RunCancelled' &&
    requested !== 'CANCEL' &&
    requested !== 'EMERGENCY_STOP'
  )
    return 'nobody asked for it';
  if (requested === 'EMERGENCY_STOP' || status === 'PENDING' || status === 'APPROVED')
    return undefined;
  if (counts.running > 0) return 'steps run still';
  if (counts.undoing > 0) return 'something is being undone';
  const failed = snapshot.steps.some(
    (step) => undoneBy(step.stepId) !== undefined && step.status === 'FAILED',
  );
  const open = toUndo(state);
  if (open.length > 0) return `${open[0]} is to be done first`;
  return undone !== undefined && undone === failed
    ? `undone is ${undone}, and that is not so`
    : undefined;
}

function missing({ start, skip, finish, undo, change, end }: ReturnType<typeof decide>): string[] {
  return [
    ...start.map((id) => `${id} should have started`),
    ...skip.map(({ stepId, reasonCode }) => `${stepId} should have been skipped: ${reasonCode}`),
    ...finish.map(({ stepId, eventType }) => `${eventType} of ${stepId}`),
    ...undo.map((id) => `${id} should have started`),
    ...(change ? [change] : []),
    ...(end ? [end] : []),
  ];
}

/**
 * When steps and items succeeded. Items of one `each` have no order among themselves, and towards
 * others only as far as all of them do.
 */
class UndoOrder {
  private readonly spans = new Map<string, { first: number; last: number }>();

  see({ eventType, stepId, runSeq }: RunEvent): void {
    if (eventType !== 'StepCompleted' || undoneBy(stepId) !== undefined) return;
    const id = itemOf(stepId)?.stepId;
    // The end of an `each` itself undoes nothing.
    if (id === undefined && this.spans.has(stepId)) return;
    this.spans.set(id ?? stepId, {
      first: this.spans.get(id ?? stepId)?.first ?? runSeq,
      last: runSeq,
    });
  }

  /** Whether all of one succeeded before all of another, so that the other is undone first. */
  isBefore(stepId: string, other: string): boolean {
    const one = this.spans.get(base(stepId));
    const two = this.spans.get(base(other));
    return one !== undefined && two !== undefined && one.last < two.first;
  }
}
