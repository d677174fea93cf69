/** One step of a snapshot: its shape, and its form while events are applied to it. */
import { type RunStepMove, type RunStepState, runStep } from '../machines/run-step.js';
import type { ArtifactRef, RunEvent, RunEventData, SkipReason } from './events.js';
import { ItemsDraft, type ItemsSnapshot } from './items.js';

export interface StepSnapshot {
  readonly stepId: string;
  readonly status: RunStepState;
  readonly logicalAttemptId: string;
  readonly engineAttemptId?: string;
  /** Absent: a job. */
  readonly type?: 'each' | 'wait' | 'timer';
  readonly startedAt?: string;
  readonly completedAt?: string;
  /** The runSeq of the event that ended the step. */
  readonly endSeq?: number;
  /**
   * Of a step that goes over a list: those of its elements, in the order in which these succeeded,
   * a hundred at most.
   */
  readonly artifacts: readonly ArtifactRef[];
  /** How many more the elements of a list have: the log has them all. */
  readonly moreArtifacts?: number;
  readonly error?: { readonly code: string; readonly message: string; readonly retryable: boolean };
  readonly reasonCode?: SkipReason;
  /** Its StepStarted came after its end. */
  readonly late?: true;
  /** What an operator asked for and has not happened yet. */
  readonly requested?: 'RETRY_STEP' | 'SKIP_STEP';
  readonly items?: ItemsSnapshot;
}

/**
 * How many artifacts of the elements of a list a snapshot keeps: all those of a short list. A list
 * may have ten thousand elements, and a snapshot is stored, and sent, as a whole.
 */
const mostOfItems = (total: number) => (total <= 100 ? 100 : 5);

export const noArtifacts: readonly ArtifactRef[] = Object.freeze([]);

/** Where a move leads, by state and event, from the machine. */
const table = Object.fromEntries(
  runStep.states.map((from) => [
    from,
    Object.fromEntries(
      runStep.transitions.filter((t) => t.from === from).map(({ event, to }) => [event, to]),
    ),
  ]),
) as Record<RunStepState, Partial<Record<RunStepMove, RunStepState>>>;

/**
 * The state that an event leads to. A StepStarted that comes behind the end of its attempt is late
 * and moves nothing; undefined is a move that no rule allows. The attempt decides where the machine
 * says `when`.
 */
export function verdict(
  status: RunStepState,
  attempt: number,
  move: RunStepMove,
  ofAttempt: number,
): RunStepState | 'late' | undefined {
  if (status === 'PENDING') return table.PENDING[move];
  if (
    move === 'StepStarted' &&
    (ofAttempt < attempt || (ofAttempt === attempt && status !== 'RUNNING'))
  )
    return 'late';
  if (status === 'FAILED')
    return ofAttempt > attempt || (move === 'StepSkipped' && ofAttempt === attempt)
      ? table.FAILED[move]
      : undefined;
  return ofAttempt === attempt ? table[status][move] : undefined;
}

/** Copies, because an event belongs to whoever read it, and a snapshot is frozen. */
function frozenArtifacts(artifacts: readonly ArtifactRef[] | undefined): readonly ArtifactRef[] {
  if (artifacts === undefined || artifacts.length === 0) return noArtifacts;
  const copies: ArtifactRef[] = [];
  for (const { uri, kind, sha256, sizeBytes, expiresAt } of artifacts) {
    const copy: { -readonly [Key in keyof ArtifactRef]: ArtifactRef[Key] } = { uri, kind };
    if (sha256 !== undefined) copy.sha256 = sha256;
    if (sizeBytes !== undefined) copy.sizeBytes = sizeBytes;
    if (expiresAt !== undefined) copy.expiresAt = expiresAt;
    copies.push(Object.freeze(copy));
  }
  return Object.freeze(copies);
}

/**
 * A start that was spooled says itself when it was: it came into the log when the database was
 * back.
 */
function beganAt(event: RunEvent): string {
  const { spooledAt } = event.eventData as Partial<RunEventData['StepStarted']>;
  return typeof spooledAt === 'string' ? spooledAt : event.emittedAt;
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** A step while events are applied to it. */
export class StepDraft {
  readonly stepId: string;
  status: RunStepState = 'PENDING';
  logicalAttemptId = '1';
  attempt = 1;
  engineAttemptId: string | undefined = undefined;
  type: 'each' | 'wait' | 'timer' | undefined = undefined;
  startedAt: string | undefined = undefined;
  completedAt: string | undefined = undefined;
  endSeq: number | undefined = undefined;
  artifacts: readonly ArtifactRef[] = noArtifacts;
  moreArtifacts = 0;
  error: StepSnapshot['error'] = undefined;
  reasonCode: SkipReason | undefined = undefined;
  late = false;
  requested: StepSnapshot['requested'] = undefined;
  items: ItemsDraft | undefined = undefined;

  constructor(stepId: string) {
    this.stepId = stepId;
  }

  static from(step: StepSnapshot): StepDraft {
    const draft = new StepDraft(step.stepId);
    draft.status = step.status;
    draft.logicalAttemptId = step.logicalAttemptId;
    draft.attempt = Number(step.logicalAttemptId);
    draft.engineAttemptId = step.engineAttemptId;
    draft.type = step.type;
    draft.startedAt = step.startedAt;
    draft.completedAt = step.completedAt;
    draft.endSeq = step.endSeq;
    draft.artifacts = step.artifacts;
    draft.moreArtifacts = step.moreArtifacts ?? 0;
    draft.error = step.error;
    draft.reasonCode = step.reasonCode;
    draft.late = step.late === true;
    draft.requested = step.requested;
    if (step.items) draft.items = ItemsDraft.from(step.items);
    return draft;
  }

  /** Applies an event that the verdict allows. */
  move(move: RunStepMove, status: RunStepState, event: RunEvent): void {
    if (this.status === 'PENDING' || event.logicalAttemptId !== this.logicalAttemptId)
      this.beginAttempt(event.logicalAttemptId);
    this.status = status;
    if (event.engineAttemptId !== undefined) this.engineAttemptId = event.engineAttemptId;
    if (move === 'StepStarted') {
      this.requested = undefined;
      this.startedAt = beganAt(event);
      this.describe(event.eventData as RunEventData['StepStarted']);
      return;
    }
    this.completedAt = event.emittedAt;
    this.endSeq = event.runSeq;
    if (move === 'StepCompleted') {
      // The end of a list has no artifacts of its own.
      if (this.items) this.addArtifacts(event);
      else
        this.artifacts = frozenArtifacts(
          (event.eventData as Partial<RunEventData['StepCompleted']>).artifacts,
        );
    } else if (move === 'StepFailed') {
      const { error } = event.eventData as Partial<RunEventData['StepFailed']>;
      if (error)
        this.error = Object.freeze({
          code: error.errorCode,
          message: error.errorMessage,
          retryable: error.retryable,
        });
    } else {
      this.requested = undefined;
      this.reasonCode = (event.eventData as RunEventData['StepSkipped']).reasonCode;
    }
  }

  /** The artifacts of an element of a list, beside those of the elements before it. */
  addArtifacts(event: RunEvent): void {
    const added = frozenArtifacts(
      (event.eventData as Partial<RunEventData['StepCompleted']>).artifacts,
    );
    if (added.length === 0) return;
    const room = Math.max(0, mostOfItems(this.items?.total ?? 0) - this.artifacts.length);
    if (room > 0) this.artifacts = Object.freeze([...this.artifacts, ...added.slice(0, room)]);
    this.moreArtifacts += Math.max(0, added.length - room);
  }

  /** A StepStarted behind the end of its attempt: it says when that began, and moves nothing. */
  startLate(event: RunEvent): void {
    this.late = true;
    if (event.logicalAttemptId === this.logicalAttemptId) this.startedAt = beganAt(event);
  }

  private beginAttempt(logicalAttemptId: string): void {
    this.logicalAttemptId = logicalAttemptId;
    this.attempt = Number(logicalAttemptId);
    this.engineAttemptId = undefined;
    this.startedAt = undefined;
    this.completedAt = undefined;
    this.endSeq = undefined;
    // What elements of a list succeeded with stays: they are not done again.
    if (!this.items) this.artifacts = noArtifacts;
    this.error = undefined;
    this.requested = undefined;
  }

  private describe(data: RunEventData['StepStarted']): void {
    if (data.items !== undefined) {
      this.type = 'each';
      // Items keep their states over a retry: what succeeded is not done again.
      if (!this.items) this.items = new ItemsDraft(data.items, data.parallel ?? 1);
      this.items.total = data.items;
      this.items.parallel = data.parallel ?? 1;
    } else if (data.event !== undefined) this.type = 'wait';
    else if (data.dueAt !== undefined) this.type = 'timer';
  }

  snapshot(): StepSnapshot {
    // Absent fields are left out, so that a snapshot equals what JSON makes of it.
    const step = {
      stepId: this.stepId,
      status: this.status,
      logicalAttemptId: this.logicalAttemptId,
    } as Writable<StepSnapshot>;
    if (this.engineAttemptId !== undefined) step.engineAttemptId = this.engineAttemptId;
    if (this.type !== undefined) step.type = this.type;
    if (this.startedAt !== undefined) step.startedAt = this.startedAt;
    if (this.completedAt !== undefined) step.completedAt = this.completedAt;
    if (this.endSeq !== undefined) step.endSeq = this.endSeq;
    step.artifacts = this.artifacts;
    if (this.moreArtifacts > 0) step.moreArtifacts = this.moreArtifacts;
    if (this.error !== undefined) step.error = this.error;
    if (this.reasonCode !== undefined) step.reasonCode = this.reasonCode;
    if (this.late) step.late = true;
    if (this.requested !== undefined) step.requested = this.requested;
    if (this.items !== undefined) step.items = this.items.snapshot();
    return Object.freeze(step);
  }
}
