/**
 * The projector keeps a snapshot of every run. Each worker asks at each look what has changed; one at a time has the turn. It reduces what is new and gives back snapshots and how far it
 * is, in one transaction: a projector that dies in between leaves a turn that ends by itself, and the next begins where it did. A run in whose log an event is missing is left where it is, marked
 * stale, and tried again at every turn.
 */
import type { Queryable } from '../database/connection.js';
import { gate } from '../database/gate.js';
import { WritRefusal } from '../errors/index.js';
import { pass } from '../queue/worker/fault-points.js';
import { count, measure } from '../telemetry/meter.js';
import { type CompactEvent, eventOf } from './log.js';
import { emptySnapshot, GapDetected, type RunSnapshot, reduce } from './snapshot.js';

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
  readonly runs?: Change[];
  readonly xid?: string;
  readonly batch_id?: string;
  readonly more?: boolean;
  readonly lag_ms?: number;
}

interface Gap {
  readonly expected: number;
  readonly found: number | null;
}

/** The next snapshot of a run, or what is missing. Pure. */
export function project(change: Change): RunSnapshot | Gap {
  const before = change.snapshot ?? emptySnapshot(change.run_id, change.tenant);
  try {
    const snapshot = reduce(
      before,
      change.events.map((row) => eventOf(change.run_id, row, '')),
    );
    const { lastEventSeq } = snapshot;
    // The record knows of events that are not there: the end is missing.
    return lastEventSeq < change.upto ? { expected: lastEventSeq + 1, found: null } : snapshot;
  } catch (error) {
    if (error instanceof GapDetected) return { expected: error.expected, found: error.found };
    throw error;
  }
}

/** Where something happens, more will: snapshots are to be less than a second behind. */
const soonMs = 300;

/** One look: everything that has changed, batch by batch. Answers in how many milliseconds to look again, if sooner than usual. */
export async function projectRuns(db: Queryable, projector: string): Promise<number | undefined> {
  for (let turn = 0; turn < 20; turn++) {
    const changes = await gate<Changes>(db, 'fn_run_changes($1)', [projector]);
    if (changes.busy || !changes.runs || changes.runs.length === 0) return undefined;
    await pass('projecting');
    const snapshots: object[] = [];
    const gaps: object[] = [];
    for (const change of changes.runs) {
      const next = project(change);
      if ('status' in next) {
        if (next.lastEventSeq > change.last_seq || change.stale)
          snapshots.push({ run_id: change.run_id, last_seq: next.lastEventSeq, status: next.status, snapshot: next });
      } else if (!change.stale) {
        const last = change.snapshot ?? emptySnapshot(change.run_id, change.tenant);
        gaps.push({
          run_id: change.run_id,
          ...next,
          last_seq: last.lastEventSeq,
          status: last.status,
          snapshot: last,
          tenant: change.tenant,
        });
      }
    }
    const telling = gate(db, 'fn_run_project($1, $2::text::xid8, $3::text::uuid, $4::text::json, $5::text::jsonb, $6::text::float8)', [
      projector,
      String(changes.xid),
      String(changes.batch_id),
      JSON.stringify(snapshots),
      JSON.stringify(gaps),
      String(changes.lag_ms ?? 0),
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
