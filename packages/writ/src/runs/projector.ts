/**
 * The projector keeps a snapshot of every run. Each worker asks at each look what has changed; one
 * at a time has the turn. It reduces what is new and gives back snapshots and how far it is, in one
 * transaction: a projector that dies in between leaves a turn that ends by itself, and the next
 * begins where it did. A run whose log cannot be followed is left where it is, marked stale, and
 * tried again at every turn.
 */
import type { Queryable } from '../database/connection.js';
import { gate } from '../database/gate.js';
import { WritRefusal } from '../errors/index.js';
import { pass } from '../queue/worker/fault-points.js';
import { count, measure } from '../telemetry/meter.js';
import { type CompactEvent, eventOf } from './log.js';
import { emptySnapshot, type RunSnapshot, reduce } from './snapshot.js';

interface Change {
  readonly run_id: string;
  /** The last event that the record knows of. */
  readonly upto: number;
  readonly last_seq: number;
  readonly stale: boolean;
  readonly tenant: string;
  readonly snapshot: RunSnapshot | null;
  readonly events: CompactEvent[];
}

interface Changes {
  readonly busy?: boolean;
  readonly turn?: string;
  readonly runs?: Change[];
  readonly more?: boolean;
  readonly lag_ms?: number;
}

/**
 * The next snapshot of a run. Undefined where an event is missing, or the log cannot be reduced:
 * the gate marks the run, so that the others go on. Pure.
 */
export function project(change: Change): RunSnapshot | undefined {
  const before = change.snapshot ?? emptySnapshot(change.run_id, change.tenant);
  const events = change.events.map((row) => eventOf(change.run_id, row, ''));
  try {
    const snapshot = reduce(before, events);
    // The record may know of events that are not there: then the end is missing.
    return snapshot.lastEventSeq < change.upto ? undefined : snapshot;
  } catch {
    return undefined;
  }
}

/** Where something happens, more will: snapshots are to be less than a second behind. */
const soonMs = 300;

/** What has changed. A login that is bound to a tenant projects nothing: other workers do. */
async function asked(db: Queryable, projector: string): Promise<Changes> {
  try {
    return await gate<Changes>(db, 'fn_run_changes($1)', [projector]);
  } catch (error) {
    if (error instanceof WritRefusal && error.code === 'tenant_forbidden') return { busy: true };
    throw error;
  }
}

/**
 * One look: everything that has changed, batch by batch. Answers in how many milliseconds to look
 * again, if sooner than usual.
 */
export async function projectRuns(db: Queryable, projector: string): Promise<number | undefined> {
  for (let turn = 0; turn < 20; turn++) {
    const changes = await asked(db, projector);
    if (changes.busy || !changes.runs || changes.runs.length === 0) return undefined;
    await pass('projecting');
    const snapshots: RunSnapshot[] = [];
    for (const change of changes.runs) {
      const next = project(change);
      if (next && (next.lastEventSeq > change.last_seq || change.stale)) snapshots.push(next);
    }
    const telling = gate(db, 'fn_run_project($1::text::uuid, $2::text::json)', [
      String(changes.turn),
      JSON.stringify(snapshots),
    ]);
    telling.catch(() => undefined); // looked at below; a fault point may wait in between
    await pass('projection_sent');
    try {
      await telling;
      count(
        'writ.projector.events',
        changes.runs.reduce((events, change) => events + change.events.length, 0),
      );
      measure('writ.projector.lag', (changes.lag_ms ?? 0) / 1_000);
    } catch (error) {
      if (error instanceof WritRefusal && error.code === 'not_the_projector') return undefined;
      throw error;
    }
    if (!changes.more) return soonMs;
  }
  return 5;
}
