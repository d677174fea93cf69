/**
 * What must happen next in a run, by the rules of its plan alone. The database decides for the
 * native engine; an engine elsewhere asks here, and tests hold the logs of both against it.
 *
 * A step starts when all that it comes after has ended well, or was skipped by its condition or an
 * operator. A step that fails, and is not optional, stops the run: nothing starts any more, what
 * runs goes on to its end, then what was done is undone, one after the other, the last first, up to
 * the first that cannot be; then the run fails. A cancel does the same. Open waits and timers hold
 * nothing up.
 */
import { holds, type Scope } from './conditions.js';
import { itemId, type SkipReason, undoId } from './events.js';
import { itemsThat } from './items.js';
import type { EachStep, PlanDocument, PlanStep } from './plans/document.js';
import type { RunSnapshot } from './snapshot.js';
import type { StepSnapshot } from './step.js';

export interface Finish {
  readonly stepId: string;
  readonly eventType: 'StepCompleted' | 'StepFailed';
}

export interface Decision {
  /**
   * Steps and items to start. A step that failed starts in its next logical attempt, an item in
   * that of its step.
   */
  readonly start: readonly string[];
  readonly skip: readonly { readonly stepId: string; readonly reasonCode: SkipReason }[];
  /** Steps that are as their items are, now that those have ended. */
  readonly finish: readonly Finish[];
  /** What is to be undone next: at most one, because the next waits for its end. */
  readonly undo: readonly string[];
  readonly change?: 'RunPaused' | 'RunResumed';
  readonly end?: 'RunCompleted' | 'RunFailed' | 'RunCancelled';
}

const nothing: Decision = { start: [], skip: [], finish: [], undo: [] };

export function decide(
  plan: PlanDocument,
  snapshot: RunSnapshot,
  outputs: (stepId: string) => unknown,
  input: unknown,
): Decision {
  const state = new PlanState(plan, snapshot, outputs, input);
  const { status, requested } = snapshot;
  const cancelling = requested === 'CANCEL' || requested === 'EMERGENCY_STOP';
  if (status === 'PENDING' || status === 'APPROVED')
    return cancelling ? { ...nothing, end: 'RunCancelled' } : nothing;
  if (status !== 'RUNNING' && status !== 'PAUSED') return nothing;
  if (cancelling) return windUp(state, 'RunCancelled', requested === 'CANCEL');
  if (status === 'PAUSED') {
    return {
      ...nothing,
      finish: finished(state),
      ...(requested === 'RESUME' ? { change: 'RunResumed' as const } : undefined),
    };
  }
  if (requested === 'PAUSE') return { ...nothing, finish: finished(state), change: 'RunPaused' };
  if (state.failure()) {
    return plan.onFailure === 'pause'
      ? { ...nothing, finish: finished(state), change: 'RunPaused' }
      : windUp(state, 'RunFailed', true);
  }
  return goOn(state);
}

function goOn(state: PlanState): Decision {
  const start: string[] = [];
  const skip: { stepId: string; reasonCode: SkipReason }[] = [];
  for (const step of state.plan.steps) {
    const next = state.next(step);
    if (next === 'start') start.push(step.id);
    else if (next) skip.push({ stepId: step.id, reasonCode: next });
    else if (step.type === 'each') start.push(...itemsToStart(step, state.of(step.id)));
  }
  const finish = finished(state);
  // Items may run on when their step has failed already.
  const done =
    state.snapshot.counts.running === 0 && state.plan.steps.every(({ id }) => state.hasEnded(id));
  return {
    start,
    skip,
    finish,
    undo: [],
    ...(done ? { end: 'RunCompleted' as const } : undefined),
  };
}

function windUp(state: PlanState, end: 'RunFailed' | 'RunCancelled', undoes: boolean): Decision {
  const { running, undoing } = state.snapshot.counts;
  const finish = finished(state);
  if (running > 0 || undoing > 0) return { ...nothing, finish };
  const [undo] = undoes ? toUndo(state) : [];
  return undo === undefined ? { ...nothing, finish, end } : { ...nothing, finish, undo: [undo] };
}

/** In the order of the places; after an item has failed no other starts. */
function itemsToStart(step: EachStep, each: StepSnapshot | undefined): string[] {
  if (each?.status !== 'RUNNING' || !each.items) return [];
  const attempt = Number(each.logicalAttemptId);
  const { items } = each;
  if (hasFailedItem(each)) return [];
  const free = Math.min(step.parallel, items.parallel) - items.running;
  const open = itemsThat(
    items,
    (item) => item.status === 'PENDING' || (item.status === 'FAILED' && item.attempt < attempt),
    free,
  );
  return open.map((index) => itemId(step.id, index));
}

/** Whether an item has failed in the attempt of its step. */
export function hasFailedItem(each: StepSnapshot): boolean {
  if (!each.items || each.items.failed === 0) return false;
  const attempt = Number(each.logicalAttemptId);
  return (
    itemsThat(each.items, (item) => item.status === 'FAILED' && item.attempt >= attempt, 1).length >
    0
  );
}

function finished(state: PlanState): Finish[] {
  const finish: Finish[] = [];
  for (const { id } of state.plan.steps) {
    const each = state.of(id);
    if (each?.status !== 'RUNNING' || !each.items || each.items.running > 0) continue;
    if (each.items.succeeded + each.items.skipped === each.items.total)
      finish.push({ stepId: id, eventType: 'StepCompleted' });
    else if (hasFailedItem(each)) finish.push({ stepId: id, eventType: 'StepFailed' });
  }
  return finish;
}

/**
 * What is still to be undone, the next first; nothing after one that could not be. Items of one
 * `each` have no order among themselves: they stand where the last of them succeeded, and go from
 * the last place to the first.
 */
export function toUndo(state: PlanState): string[] {
  const done: { stepIds: string[]; seq: number }[] = [];
  for (const step of state.plan.steps) {
    if ((step.type !== 'job' && step.type !== 'each') || !step.compensate) continue;
    const was = state.of(step.id);
    const undoing = state.of(undoId(step.id));
    if (undoing?.status === 'FAILED') return [];
    if (step.type === 'each') {
      if (!was?.items) continue;
      const undone = new Set(
        undoing?.items ? itemsThat(undoing.items, ({ status }) => status !== 'PENDING') : [],
      );
      const open = itemsThat(was.items, ({ status }) => status === 'SUCCESS').filter(
        (index) => !undone.has(index),
      );
      done.push({
        stepIds: open.reverse().map((index) => undoId(itemId(step.id, index))),
        seq: was.items.lastSuccessSeq ?? 0,
      });
    } else if (was?.status === 'SUCCESS' && !undoing)
      done.push({ stepIds: [undoId(step.id)], seq: was.endSeq ?? 0 });
  }
  return done.sort((a, b) => b.seq - a.seq).flatMap(({ stepIds }) => stepIds);
}

/** A plan beside what a snapshot says of its steps. */
export class PlanState {
  readonly plan: PlanDocument;
  readonly snapshot: RunSnapshot;
  private readonly scope: Scope;
  private readonly steps: Map<string, StepSnapshot>;
  private readonly byId: Map<string, PlanStep>;

  constructor(
    plan: PlanDocument,
    snapshot: RunSnapshot,
    outputs: (stepId: string) => unknown,
    input: unknown,
  ) {
    this.plan = plan;
    this.snapshot = snapshot;
    this.steps = new Map(snapshot.steps.map((step) => [step.stepId, step]));
    this.byId = new Map(plan.steps.map((step) => [step.id, step]));
    const output = (stepId: string) =>
      this.of(stepId)?.status === 'SUCCESS' ? outputs(stepId) : undefined;
    this.scope = {
      runId: snapshot.runId,
      input,
      stepIds: plan.steps.map(({ id }) => id),
      outputs: output,
    };
  }

  of(stepId: string): StepSnapshot | undefined {
    return this.steps.get(stepId);
  }

  planned(stepId: string): PlanStep | undefined {
    return this.byId.get(stepId);
  }

  /** Whether a step has ended and nobody asked for more. */
  hasEnded(stepId: string): boolean {
    const step = this.of(stepId);
    return (
      step?.status === 'SUCCESS' ||
      step?.status === 'SKIPPED' ||
      (step?.status === 'FAILED' && !step.requested)
    );
  }

  /**
   * The step whose failure stops the run: it failed, is not optional, and nobody asked to retry or
   * skip it.
   */
  failure(): StepSnapshot | undefined {
    return this.snapshot.counts.failed === 0
      ? undefined
      : this.plan.steps
          .map(({ id, optional }) => (optional ? undefined : this.of(id)))
          .find((step) => step?.status === 'FAILED' && !step.requested);
  }

  /** Whether a dependency keeps its dependents from running, for good. */
  hasFailed(stepId: string): boolean {
    const step = this.of(stepId);
    return (
      (step?.status === 'FAILED' && !step.requested) ||
      (step?.status === 'SKIPPED' && step.reasonCode === 'DEPENDENCY_FAILED')
    );
  }

  holds(step: PlanStep): boolean {
    return step.when === undefined || holds(step.when, this.scope);
  }

  /**
   * What a step that does not run has to do next: start, be skipped for a reason, or nothing yet.
   */
  next(step: PlanStep): 'start' | SkipReason | undefined {
    const was = this.of(step.id);
    const skippable =
      was?.status === 'PENDING' ||
      was?.status === 'FAILED' ||
      (was?.status === 'RUNNING' && was.type && was.type !== 'each');
    if (was?.requested === 'SKIP_STEP' && skippable) return 'OPERATOR_SKIP';
    if (was?.requested === 'RETRY_STEP' && was.status === 'FAILED') return 'start';
    if (was && was.status !== 'PENDING') return undefined;
    const after = step.after ?? [];
    if (after.some((id) => this.hasFailed(id))) return 'DEPENDENCY_FAILED';
    if (!after.every((id) => this.hasEnded(id))) return undefined;
    return this.holds(step) ? 'start' : 'CONDITION_FALSE';
  }
}
