/** Reading the log of a run, and its snapshot as fresh as the log. */
import type { Queryable } from '../database/connection.js';
import { readRows } from '../database/gate.js';
import { isUuid } from '../database/uuid.js';
import { WritRefusal } from '../errors/index.js';
import { eventId, idempotencyKey, type RunEvent } from './events.js';
import { emptySnapshot, type RunSnapshot, reduce } from './snapshot.js';

/** A row as the gates of the projector answer it: number, type, step, logical attempt, engine's attempt, data, milliseconds since 1970. */
export type CompactEvent = [number, string, string, string, number | null, object, number];

/** What a reduction needs of it; ids and keys follow from the rest, and are made when somebody asks. */
export function eventOf(runId: string, row: CompactEvent, planVersion: string): RunEvent {
  const [runSeq, eventType, stepId, logicalAttemptId, engineAttempt, eventData, ms] = row;
  const at = new Date(ms).toISOString();
  return {
    runId,
    runSeq,
    eventType,
    stepId,
    logicalAttemptId,
    ...(engineAttempt !== null && { engineAttemptId: String(engineAttempt) }),
    eventData,
    emittedAt: at,
    persistedAt: at,
    get eventId() {
      return eventId(runId, runSeq);
    },
    get idempotencyKey() {
      return idempotencyKey(runId, stepId, logicalAttemptId, eventType, planVersion);
    },
  };
}

export interface EventsOptions {
  /** Those after this number; from the beginning unless given. */
  readonly afterSeq?: number;
  /** At most so many; 1,000 unless given. */
  readonly limit?: number;
  readonly tenant?: string;
}

export interface RunRow {
  readonly runId: string;
  readonly tenant: string;
  readonly planId: string;
  readonly planVersion: string;
  readonly status: string;
}

/** The events of a run, in order. */
export async function readEvents(
  db: Queryable,
  runId: string,
  { afterSeq = 0, limit = 1000, tenant }: EventsOptions = {},
): Promise<RunEvent[]> {
  const run = await readRun(db, runId, tenant);
  const rows = await readRows(
    db,
    `select json_build_array(run_seq, event_type, step_id, logical_attempt_id, engine_attempt_id::integer, event_data, round(date_part('epoch', emitted_at) * 1000)::bigint)::text as event, caused_by_signal_id
     from writ.run_events where run_id = $1 and run_seq > $2 order by run_seq limit $3`,
    [runId, afterSeq, limit],
  );
  return rows.map(({ event, caused_by_signal_id: signal }) => {
    const read = eventOf(runId, JSON.parse(String(event)) as CompactEvent, run.planVersion);
    return {
      ...read,
      ...(signal === null ? undefined : { causedBySignalId: String(signal) }),
    };
  });
}

export async function readRun(db: Queryable, runId: string, tenant?: string): Promise<RunRow> {
  if (!isUuid(runId)) throw new WritRefusal('RUN_NOT_FOUND', runId);
  const [row] = await readRows(
    db,
    `select tenant_id, plan_id, plan_version, status from writ.run where run_id = $1 and ($2::text is null or tenant_id = $2)`,
    [runId, tenant ?? null],
  );
  if (!row) throw new WritRefusal('RUN_NOT_FOUND', runId);
  return {
    runId,
    tenant: String(row.tenant_id),
    planId: String(row.plan_id),
    planVersion: String(row.plan_version),
    status: String(row.status),
  };
}

const page = 10_000;

/** The snapshot of a run: the projector's last one, and what the log has had since. */
export async function readSnapshot(db: Queryable, runId: string, tenant?: string): Promise<RunSnapshot> {
  const run = await readRun(db, runId, tenant);
  const [row] = await readRows(db, 'select snapshot::text as snapshot from writ.run_snapshots where run_id = $1', [runId]);
  let snapshot = row ? (JSON.parse(String(row.snapshot)) as RunSnapshot) : emptySnapshot(runId, run.tenant);
  for (;;) {
    const events = await readEvents(db, runId, { afterSeq: snapshot.lastEventSeq, limit: page, ...(tenant !== undefined && { tenant }) });
    if (events.length > 0 || !Object.isFrozen(snapshot)) snapshot = reduce(snapshot, events);
    if (events.length < page) return snapshot;
  }
}
