/**
 * A run as its log tells it. `reduce` is pure: events of a log go in, in order, and a new frozen
 * snapshot comes out; going on from a snapshot gives what reducing the whole log would have given,
 * and costs what the new events cost, however long the log was before.
 */
import { WritError } from '../errors/index.js';
import { type RunState, run } from '../machines/run.js';
import type { ArtifactRef, RootCause, RunEvent } from './events.js';
import { deepFrozenCopy, Projection } from './projection.js';
import { noArtifacts, type StepSnapshot } from './step.js';

/**
 * Steps by what they do. Items of an `each` are among the running ones, and otherwise counted in
 * its step.
 */
export interface StepCounts {
  /** Jobs of steps and items that have started and not ended. */
  readonly running: number;
  /** Waits that are open. */
  readonly waiting: number;
  /** Timers that are open. */
  readonly sleeping: number;
  /** Jobs that undo and have not ended. */
  readonly undoing: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly skipped: number;
}

export interface RunSnapshot {
  readonly runId: string;
  readonly tenantId?: string;
  readonly planId?: string;
  readonly planVersion?: string;
  readonly engine?: string;
  readonly engineRunRef?: Readonly<Record<string, unknown>>;
  readonly originalRunId?: string;
  readonly status: RunState;
  /**
   * DRAINING: nothing new starts, and what runs goes on to its end. WAITING_APPROVAL: nothing runs,
   * and a step waits for an event.
   */
  readonly substatus?: 'DRAINING' | 'WAITING_APPROVAL';
  /** The signal that was accepted and has not happened yet. */
  readonly requested?: 'PAUSE' | 'RESUME' | 'CANCEL' | 'EMERGENCY_STOP';
  /** The last event that is in this snapshot. */
  readonly lastEventSeq: number;
  /** In the order in which the log first speaks of them; what it has not spoken of is pending. */
  readonly steps: readonly StepSnapshot[];
  readonly counts: StepCounts;
  /** Of all steps, once the run has completed. */
  readonly artifacts: readonly ArtifactRef[];
  readonly params?: Readonly<Record<string, unknown>>;
  /** Why it is paused, or was cancelled. */
  readonly reason?: string;
  readonly rootCause?: RootCause;
  /** Whether what was done has been undone; absent if there was nothing to undo. */
  readonly undone?: boolean;
  readonly startedAt?: string;
  readonly completedAt?: string;
  readonly totalDurationMs?: number;
  /** How many events no rule allowed. They are ignored. */
  readonly inconsistent?: number;
}

/** An event is missing: nothing behind the gap is applied before it closes. */
export class GapDetected extends WritError {
  override name = 'GapDetected';
  readonly expected: number;
  readonly found: number;

  constructor(runId: string, expected: number, found: number) {
    super('PROJECTOR_GAP_DETECTED', `run ${runId}: expected ${expected}, found ${found}`);
    this.expected = expected;
    this.found = found;
  }
}

const noSteps: readonly StepSnapshot[] = Object.freeze([]);
const noCounts: StepCounts = Object.freeze({
  running: 0,
  waiting: 0,
  sleeping: 0,
  undoing: 0,
  succeeded: 0,
  failed: 0,
  skipped: 0,
});

/** A run of which nothing is known but that it is there. */
export function emptySnapshot(runId: string, tenantId?: string): RunSnapshot {
  return Object.freeze({
    runId,
    ...(tenantId === undefined ? undefined : { tenantId }),
    status: 'PENDING',
    lastEventSeq: 0,
    steps: noSteps,
    counts: noCounts,
    artifacts: noArtifacts,
  });
}

/** Whether the run has ended. */
export function isTerminal(snapshot: Pick<RunSnapshot, 'status'>): boolean {
  return run.terminal.includes(snapshot.status);
}

/**
 * Applies events to a snapshot, which stays as it was. Events that are in it already are passed
 * over; a gap throws.
 */
export function reduce(snapshot: RunSnapshot, events: Iterable<RunEvent>): RunSnapshot {
  const projection = projectionOf(snapshot);
  for (const event of events) {
    if (event.runId !== snapshot.runId)
      throw new Error(`an event of run ${event.runId} is not one of run ${snapshot.runId}`);
    advance(projection, event);
  }
  return projection.snapshot();
}

/**
 * The snapshots of many runs, by their ids. Events of one run are in order, and best stand
 * together: where the log turns to another run, the one before is put away, and taken up again when
 * it comes back.
 */
export function reduceMany(
  events: Iterable<RunEvent>,
  from?: (runId: string) => RunSnapshot | undefined,
): Map<string, RunSnapshot> {
  const snapshots = new Map<string, RunSnapshot>();
  let runId: string | undefined;
  let projection: Projection | undefined;
  for (const event of events) {
    if (projection === undefined || event.runId !== runId) {
      if (projection !== undefined) snapshots.set(runId as string, projection.snapshot());
      runId = event.runId;
      projection = projectionOf(snapshots.get(runId) ?? from?.(runId) ?? emptySnapshot(runId));
    }
    advance(projection, event);
  }
  if (projection !== undefined) snapshots.set(runId as string, projection.snapshot());
  return snapshots;
}

/** What comes from JSON is not frozen yet. */
const projectionOf = (snapshot: RunSnapshot) =>
  new Projection(Object.isFrozen(snapshot) ? snapshot : deepFrozenCopy(snapshot));

function advance(projection: Projection, event: RunEvent): void {
  const expected = projection.lastEventSeq + 1;
  if (event.runSeq < expected) return;
  if (event.runSeq > expected) throw new GapDetected(event.runId, expected, event.runSeq);
  projection.apply(event);
}
