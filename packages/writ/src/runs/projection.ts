/**
 * A run while events are applied to it. Only what an event touches is opened; everything else is
 * shared with the snapshot before. The place of a step is looked up in an index that a list of
 * steps shares with the lists that it grew from: an entry is never changed, so it is right for
 * every list that has the step at that place, and for every other it says that the step is not
 * there.
 */
import { type RunMove, type RunState, run } from '../machines/run.js';
import type { RunStepMove, RunStepState } from '../machines/run-step.js';
import {
  type ArtifactRef,
  itemOf,
  type RootCause,
  type RunEvent,
  type RunEventData,
} from './events.js';
import { ItemsDraft } from './items.js';
import type { RunSnapshot, StepCounts } from './snapshot.js';
import { StepDraft, type StepSnapshot, verdict } from './step.js';

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** A short list is searched faster than a map is built. */
const searched = 12;
const indexes = new WeakMap<readonly StepSnapshot[], Map<string, number>>();

/** Where a move leads, by state and event, from the machine. */
const runTable = Object.fromEntries(
  run.states.map((from) => [
    from,
    Object.fromEntries(
      run.transitions.filter((t) => t.from === from).map(({ event, to }) => [event, to]),
    ),
  ]),
) as Record<RunState, Partial<Record<RunMove, RunState>>>;

export class Projection {
  lastEventSeq: number;
  private readonly before: RunSnapshot;
  private status: RunState;
  private requested: RunSnapshot['requested'];
  private planId: string | undefined;
  private planVersion: string | undefined;
  private engine: string | undefined;
  private engineRunRef: RunSnapshot['engineRunRef'];
  private originalRunId: string | undefined;
  private artifacts: readonly ArtifactRef[];
  private params: RunSnapshot['params'];
  private reason: string | undefined;
  private rootCause: RootCause | undefined;
  private undone: boolean | undefined;
  private startedAt: string | undefined;
  private completedAt: string | undefined;
  private inconsistent: number;
  private counts: Writable<StepCounts>;
  private steps: (StepSnapshot | StepDraft)[];
  private index: Map<string, number> | undefined;
  /** Places of the steps that are open. */
  private readonly open: number[] = [];
  /** Whether `steps` and `counts` are ours. */
  private copied = false;

  constructor(before: RunSnapshot) {
    this.before = before;
    this.lastEventSeq = before.lastEventSeq;
    this.status = before.status;
    this.requested = before.requested;
    this.planId = before.planId;
    this.planVersion = before.planVersion;
    this.engine = before.engine;
    this.engineRunRef = before.engineRunRef;
    this.originalRunId = before.originalRunId;
    this.artifacts = before.artifacts;
    this.params = before.params;
    this.reason = before.reason;
    this.rootCause = before.rootCause;
    this.undone = before.undone;
    this.startedAt = before.startedAt;
    this.completedAt = before.completedAt;
    this.inconsistent = before.inconsistent ?? 0;
    this.counts = before.counts;
    this.steps = before.steps as StepSnapshot[];
  }

  /** An event of a type that we do not know advances the watermark and changes nothing. */
  apply(event: RunEvent): void {
    this.lastEventSeq = event.runSeq;
    switch (event.eventType) {
      case 'StepStarted':
      case 'StepCompleted':
      case 'StepFailed':
      case 'StepSkipped':
        if (!this.moveStep(event.eventType, event)) this.inconsistent++;
        break;
      case 'RunApproved':
      case 'RunQueued':
      case 'RunStarted':
      case 'RunPaused':
      case 'RunResumed':
      case 'RunCompleted':
      case 'RunFailed':
      case 'RunCancelled':
        if (!this.moveRun(event.eventType, event)) this.inconsistent++;
        break;
      case 'SignalAccepted':
        this.accept(event.eventData as RunEventData['SignalAccepted']);
    }
  }

  private moveRun(move: RunMove, event: RunEvent): boolean {
    const status = runTable[this.status][move];
    if (status === undefined) return false;
    this.status = status;
    switch (move) {
      case 'RunStarted':
        this.start(event);
        break;
      case 'RunPaused':
        this.reason = (event.eventData as RunEventData['RunPaused']).reason;
        if (this.requested === 'PAUSE') this.requested = undefined;
        break;
      case 'RunResumed':
        this.reason = undefined;
        if (this.requested === 'RESUME') this.requested = undefined;
        break;
      case 'RunCompleted':
      case 'RunFailed':
      case 'RunCancelled':
        this.end(move, event);
    }
    return true;
  }

  private start(event: RunEvent): void {
    const { planId, planVersion, engine, engineRunRef, originalRunId } =
      event.eventData as RunEventData['RunStarted'];
    this.planId = planId;
    this.planVersion = planVersion;
    this.engine = engine;
    if (engineRunRef) this.engineRunRef = deepFrozenCopy(engineRunRef);
    this.originalRunId = originalRunId;
    this.startedAt = event.emittedAt;
  }

  private end(move: RunMove, event: RunEvent): void {
    this.requested = undefined;
    this.completedAt = event.emittedAt;
    if (move === 'RunCompleted') {
      const artifacts: ArtifactRef[] = [];
      for (const step of this.steps)
        for (const artifact of step.artifacts) artifacts.push(artifact);
      this.artifacts = Object.freeze(artifacts);
      return;
    }
    const { rootCause, undone } = event.eventData as RunEventData['RunFailed'];
    const { reason } = event.eventData as RunEventData['RunCancelled'];
    this.undone = undone;
    this.reason = reason;
    if (rootCause) this.rootCause = deepFrozenCopy(rootCause);
  }

  /**
   * A signal is recorded here and changes no status: the events that follow it do. A cancel stays,
   * whatever is asked after it.
   */
  private accept({ type, stepId, params }: RunEventData['SignalAccepted']): void {
    switch (type) {
      case 'PAUSE':
      case 'RESUME':
        if (this.requested !== 'CANCEL' && this.requested !== 'EMERGENCY_STOP')
          this.requested = type;
        break;
      case 'CANCEL':
        if (this.requested !== 'EMERGENCY_STOP') this.requested = type;
        break;
      case 'EMERGENCY_STOP':
        this.requested = type;
        break;
      case 'RETRY_STEP':
      case 'SKIP_STEP':
        if (stepId !== undefined)
          this.stepAt(this.place(itemOf(stepId)?.stepId ?? stepId)).requested = type;
        break;
      case 'UPDATE_PARAMS':
        if (params) this.params = Object.freeze({ ...this.params, ...deepFrozenCopy(params) });
    }
  }

  private moveStep(move: RunStepMove, event: RunEvent): boolean {
    const attempt = Number(event.logicalAttemptId);
    if (!(attempt >= 1)) return false;
    const item = itemOf(event.stepId);
    if (item) return this.moveItem(move, event, attempt, item);
    const at = this.find(event.stepId);
    const step = at < 0 ? undefined : (this.steps[at] as StepSnapshot | StepDraft);
    const status = step?.status ?? 'PENDING';
    const next = verdict(status, Number(step?.logicalAttemptId ?? 1), move, attempt);
    if (next === 'late') {
      // The start of this attempt is known already: this is a second one.
      if (step?.startedAt !== undefined && event.logicalAttemptId === step.logicalAttemptId)
        return false;
      this.stepAt(at).startLate(event);
      return true;
    }
    if (next === undefined || !this.isOpen()) return false;
    const draft = this.stepAt(at < 0 ? this.place(event.stepId) : at);
    this.count(draft, draft.status, -1);
    draft.move(move, next, event);
    this.count(draft, next, 1);
    return true;
  }

  private moveItem(
    move: RunStepMove,
    event: RunEvent,
    attempt: number,
    item: { stepId: string; index: number },
  ): boolean {
    let at = this.find(item.stepId);
    if (at < 0 && this.isOpen()) at = this.placeUndoing(item.stepId);
    if (at < 0) return false;
    const step = this.steps[at] as StepSnapshot | StepDraft;
    if (!step.items || item.index >= step.items.total) return false;
    const draft = this.stepAt(at);
    const items = draft.items as ItemsDraft;
    const was = items.state(item.index);
    const next = verdict(was.status, was.attempt, move, attempt);
    if (next === 'late') return true;
    if (next === undefined || !this.isOpen()) return false;
    items.move(item.index, was.status, next, attempt, event.runSeq);
    if (move === 'StepCompleted') draft.addArtifacts(event);
    const undoes = item.stepId.startsWith('undo:');
    const running = undoes ? 'undoing' : 'running';
    if (was.status === 'RUNNING') this.counts[running]--;
    if (next === 'RUNNING') this.counts[running]++;
    if (undoes) this.endUndoing(draft, next, event);
    return true;
  }

  /** Nothing in the log speaks of the undoing of an `each` as a whole: its first item begins it. */
  private placeUndoing(stepId: string): number {
    if (!stepId.startsWith('undo:')) return -1;
    const at = this.find(stepId.slice(5));
    const total = at < 0 ? undefined : this.steps[at]?.items?.total;
    if (total === undefined) return -1;
    const place = this.place(stepId);
    const draft = this.stepAt(place);
    draft.type = 'each';
    draft.items = new ItemsDraft(total, 1);
    draft.status = 'RUNNING';
    return place;
  }

  private endUndoing(draft: StepDraft, item: RunStepState, event: RunEvent): void {
    const done = this.steps[this.find(draft.stepId.slice(5))] as StepSnapshot | StepDraft;
    const { succeeded } = draft.items as ItemsDraft;
    const status =
      item === 'FAILED' ? 'FAILED' : succeeded === done.items?.succeeded ? 'SUCCESS' : 'RUNNING';
    this.count(draft, draft.status, -1);
    draft.status = status;
    this.count(draft, status, 1);
    draft.startedAt ??= event.emittedAt;
    if (status === 'RUNNING') return;
    draft.completedAt = event.emittedAt;
    draft.endSeq = event.runSeq;
  }

  private isOpen(): boolean {
    return this.status === 'RUNNING' || this.status === 'PAUSED';
  }

  private count(step: StepDraft, status: RunStepState, by: 1 | -1): void {
    if (status === 'SUCCESS') this.counts.succeeded += by;
    else if (status === 'FAILED') this.counts.failed += by;
    else if (status === 'SKIPPED') this.counts.skipped += by;
    else if (status === 'RUNNING') {
      if (step.type === 'wait') this.counts.waiting += by;
      else if (step.type === 'timer') this.counts.sleeping += by;
      else if (step.type !== 'each')
        this.counts[step.stepId.startsWith('undo:') ? 'undoing' : 'running'] += by;
    }
  }

  private find(stepId: string): number {
    const { steps } = this;
    if (steps.length <= searched) {
      // From the end: a log speaks mostly of the step that it spoke of last.
      for (let at = steps.length - 1; at >= 0; at--)
        if ((steps[at] as StepSnapshot).stepId === stepId) return at;
      return -1;
    }
    const at = this.indexed().get(stepId);
    return at !== undefined && steps[at]?.stepId === stepId ? at : -1;
  }

  private indexed(): Map<string, number> {
    this.index ??= indexes.get(this.before.steps) ?? this.newIndex();
    return this.index;
  }

  private newIndex(): Map<string, number> {
    return new Map(this.steps.map((step, at) => [step.stepId, at]));
  }

  /** The place of a step, which is made if there is none. */
  private place(stepId: string): number {
    const found = this.find(stepId);
    if (found >= 0) return found;
    this.own();
    const at = this.steps.length;
    this.steps.push(new StepDraft(stepId));
    this.open.push(at);
    if (at >= searched) {
      const index = this.indexed();
      const taken = index.get(stepId);
      if (taken === undefined) index.set(stepId, at);
      // Another successor of the same snapshot has the step elsewhere: here the ways part.
      else if (taken !== at) this.index = this.newIndex();
    }
    return at;
  }

  private stepAt(at: number): StepDraft {
    const step = this.steps[at] as StepSnapshot | StepDraft;
    if (step instanceof StepDraft) return step;
    this.own();
    const draft = StepDraft.from(step);
    this.steps[at] = draft;
    this.open.push(at);
    return draft;
  }

  private own(): void {
    if (this.copied) return;
    this.copied = true;
    // A frozen list is spread a hundred times as fast as it is sliced.
    this.steps = [...this.steps];
    this.counts = { ...this.counts };
  }

  private substatus(): RunSnapshot['substatus'] {
    const { running, waiting } = this.counts;
    const stopping = this.requested === 'CANCEL' || this.requested === 'EMERGENCY_STOP';
    if (running > 0)
      return this.status === 'PAUSED' || (this.isOpen() && stopping) ? 'DRAINING' : undefined;
    return this.status === 'RUNNING' && waiting > 0 ? 'WAITING_APPROVAL' : undefined;
  }

  /** The end of it: what is open is frozen. */
  snapshot(): RunSnapshot {
    for (const at of this.open) this.steps[at] = (this.steps[at] as StepDraft).snapshot();
    const steps = Object.freeze(this.steps as StepSnapshot[]);
    if (this.index) indexes.set(steps, this.index);
    // Absent fields are left out, so that a snapshot equals what JSON makes of it.
    const snapshot = { runId: this.before.runId } as Writable<RunSnapshot>;
    if (this.before.tenantId !== undefined) snapshot.tenantId = this.before.tenantId;
    if (this.planId !== undefined) snapshot.planId = this.planId;
    if (this.planVersion !== undefined) snapshot.planVersion = this.planVersion;
    if (this.engine !== undefined) snapshot.engine = this.engine;
    if (this.engineRunRef !== undefined) snapshot.engineRunRef = this.engineRunRef;
    if (this.originalRunId !== undefined) snapshot.originalRunId = this.originalRunId;
    snapshot.status = this.status;
    const substatus = this.substatus();
    if (substatus !== undefined) snapshot.substatus = substatus;
    if (this.requested !== undefined) snapshot.requested = this.requested;
    snapshot.lastEventSeq = this.lastEventSeq;
    snapshot.steps = steps;
    snapshot.counts = Object.freeze(this.counts);
    snapshot.artifacts = this.artifacts;
    if (this.params !== undefined) snapshot.params = this.params;
    if (this.reason !== undefined) snapshot.reason = this.reason;
    if (this.rootCause !== undefined) snapshot.rootCause = this.rootCause;
    if (this.undone !== undefined) snapshot.undone = this.undone;
    if (this.startedAt !== undefined) snapshot.startedAt = this.startedAt;
    if (this.completedAt !== undefined) snapshot.completedAt = this.completedAt;
    if (this.startedAt !== undefined && this.completedAt !== undefined) {
      snapshot.totalDurationMs = Date.parse(this.completedAt) - Date.parse(this.startedAt);
    }
    if (this.inconsistent > 0) snapshot.inconsistent = this.inconsistent;
    return Object.freeze(snapshot);
  }
}

/** JSON as it is, copied and frozen all the way down. */
export function deepFrozenCopy<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return Object.freeze(value.map(deepFrozenCopy)) as Value;
  return Object.freeze(
    Object.fromEntries(Object.entries(value).map(([key, member]) => [key, deepFrozenCopy(member)])),
  ) as Value;
}
