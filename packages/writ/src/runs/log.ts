/** Reading the log of a run, and its snapshot as fresh as the log. */
import type { Queryable } from '../database/connection.js';
import { gate, readRows } from '../database/gate.js';
import { isUuid } from '../database/uuid.js';
import { WritRefusal } from '../errors/index.js';
import { eventId, idempotencyKey, type RunEvent } from './events.js';
import type { PlanDocument } from './plans/document.js';
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

/** A version of a plan, as it was registered. A tenant may have one of its own: the hash tells which. */
export async function readPlan(
  db: Queryable,
  planId: string,
  planVersion: string,
  sha256: string,
): Promise<PlanDocument> {
  const [row] = await readRows(
    db,
    'select document from writ.plan where plan_id = $1 and plan_version = $2 and sha256 = $3',
    [planId, planVersion, sha256],
  );
  if (!row) throw new WritRefusal('PLAN_NOT_FOUND', `${planId} ${planVersion}`);
  return JSON.parse(String(row.document)) as PlanDocument;
}

/** The environment that a run belongs to, and the hash of its plan. */
export async function readSurroundings(
  db: Queryable,
  runId: string,
): Promise<{ environmentId: string; planSha256: string }> {
  const [row] = await readRows(
    db,
    'select environment_id, plan_sha256 from writ.run where run_id = $1',
    [runId],
  );
  if (!row) throw new WritRefusal('RUN_NOT_FOUND', runId);
  return { environmentId: String(row.environment_id), planSha256: String(row.plan_sha256) };
}

const page = 10_000;

export interface WantedRun {
  readonly runId: string;
  readonly tenant: string | undefined;
}

type ReadRun = [
  runId: string,
  tenant: string,
  planVersion: string,
  snapshot: RunSnapshot | null,
  events: CompactEvent[] | null,
];

/** Snapshots of runs: the projector's last ones, and what the logs have had since; for a run that is not there, the refusal. */
export async function readSnapshots(
  db: Queryable,
  wanted: readonly WantedRun[],
): Promise<(RunSnapshot | WritRefusal)[]> {
  const ids = [...new Set(wanted.map(({ runId }) => runId.toLowerCase()))];
  const read = await gate<ReadRun[]>(db, 'fn_run_read_many($1::text::uuid[])', [
    `{${ids.join(',')}}`,
  ]);
  const found = new Map(read.map((run) => [run[0], run]));
  const snapshots = new Map<string, RunSnapshot>();
  for (const [runId, run] of found) snapshots.set(runId, await snapshotOf(db, run));
  return wanted.map(({ runId, tenant }) => {
    const run = found.get(runId.toLowerCase());
    const snapshot = snapshots.get(runId.toLowerCase());
    return snapshot && (tenant === undefined || run?.[1] === tenant)
      ? snapshot
      : new WritRefusal('RUN_NOT_FOUND', runId);
  });
}

async function snapshotOf(
  db: Queryable,
  [runId, tenant, planVersion, last, events]: ReadRun,
): Promise<RunSnapshot> {
  let snapshot = reduce(
    last ?? emptySnapshot(runId, tenant),
    (events ?? []).map((row) => eventOf(runId, row, planVersion)),
  );
  for (let read = events?.length ?? 0; read === page; ) {
    const more = await readEvents(db, runId, { afterSeq: snapshot.lastEventSeq, limit: page });
    snapshot = reduce(snapshot, more);
    read = more.length;
  }
  return snapshot;
}
