/** Reading runs: their rows, their logs, and snapshots as fresh as the logs. */
import type { Queryable } from '../database/connection.js';
import { gate, readJson, readRows } from '../database/gate.js';
import { type Page, type PageOptions, readPage } from '../database/listing.js';
import { isUuid } from '../database/uuid.js';
import { WritError, WritRefusal } from '../errors/index.js';
import type { RunState } from '../machines/run.js';
import { eventId, idempotencyKey, type RunEvent } from './events.js';
import type { PlanDocument } from './plans/document.js';
import { emptySnapshot, type RunSnapshot, reduce } from './snapshot.js';

/**
 * A row as the gates of the projector answer it: number, type, step, logical attempt, engine's
 * attempt, data, milliseconds since 1970.
 */
export type CompactEvent = [number, string, string, string, number | null, object, number];

/** What another engine says of an event itself. Events of the native engine have none of it. */
interface ToldOfEvent {
  readonly emittedAt?: string;
  readonly adapterVersion?: string;
  readonly parentEventId?: string;
}

/**
 * What a reduction needs of it; ids and keys follow from the rest, and are made when somebody asks.
 */
export function eventOf(runId: string, row: CompactEvent, planVersion: string): RunEvent {
  const [runSeq, eventType, stepId, logicalAttemptId, engineAttempt, eventData, ms] = row;
  const at = new Date(ms).toISOString();
  const { told } = eventData as { told?: ToldOfEvent };
  return {
    runId,
    runSeq,
    eventType,
    stepId,
    logicalAttemptId,
    ...(engineAttempt !== null && { engineAttemptId: String(engineAttempt) }),
    eventData,
    emittedAt: told?.emittedAt ?? at,
    persistedAt: at,
    ...(told?.adapterVersion !== undefined && { adapterVersion: told.adapterVersion }),
    ...(told?.parentEventId !== undefined && { parentEventId: told.parentEventId }),
    get eventId() {
      return eventId(runId, runSeq);
    },
    get idempotencyKey() {
      return idempotencyKey(runId, stepId, logicalAttemptId, eventType, planVersion);
    },
  };
}

/** Which events of a log. A page has 1,000 unless `limit` says otherwise. */
export interface EventsOptions extends PageOptions {
  /** Only events after this number. */
  readonly afterSeq?: number | undefined;
  /** The oldest first unless given. */
  readonly order?: 'asc' | 'desc' | undefined;
  readonly step?: string | undefined;
  readonly types?: readonly string[] | undefined;
  readonly tenant?: string | undefined;
}

/** A run as its own row has it. */
export interface ListedRun {
  readonly runId: string;
  readonly tenant: string;
  readonly project: string;
  readonly environment: string;
  readonly planId: string;
  readonly planVersion: string;
  readonly planSha256: string;
  readonly engine: string;
  readonly status: RunState;
  readonly substatus: string | null;
  readonly requestId: string | null;
  /** The run that this one repeats. */
  readonly originalRunId: string | null;
  readonly startedBy: string;
  readonly createdAt: string;
  /** When it last started, paused, went on or ended. */
  readonly movedAt: string;
  readonly endedAt: string | null;
}

const utc = (time: string) =>
  `to_char(${time} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** The columns of a ListedRun in writ.run. */
export const runColumns = `run_id as "runId", tenant_id as tenant, project_id as project,
  environment_id as environment, plan_id as "planId", plan_version as "planVersion",
  plan_sha256 as "planSha256", engine, status, substatus, request_id as "requestId",
  original_run_id as "originalRunId", started_by as "startedBy", ${utc('created_at')} as "createdAt",
  ${utc('moved_at')} as "movedAt", ${utc('ended_at')} as "endedAt"`;

/** An event as a row answers it: compact, with the signal that caused it. */
const compact = `json_build_array(run_seq, event_type, step_id, logical_attempt_id,
  engine_attempt_id::integer, event_data,
  round(date_part('epoch', persisted_at) * 1000)::bigint) as event,
  caused_by_signal_id as signal`;

interface CompactRow {
  readonly event: CompactEvent;
  readonly signal: string | null;
}

const eventIn = (runId: string, planVersion: string, { event, signal }: CompactRow): RunEvent => ({
  ...eventOf(runId, event, planVersion),
  ...(signal !== null && { causedBySignalId: signal }),
});

/** The events of a run after a number, in order. */
export async function readEvents(
  db: Queryable,
  runId: string,
  {
    afterSeq = 0,
    limit = 1000,
  }: { readonly afterSeq?: number | undefined; readonly limit?: number | undefined } = {},
): Promise<RunEvent[]> {
  const { planVersion } = await readRun(db, runId);
  const rows = await readJson<CompactRow>(
    db,
    `select ${compact} from writ.run_events
     where run_id = $1 and run_seq > $2 order by run_seq limit $3`,
    [runId, afterSeq, limit],
  );
  return rows.map((row) => eventIn(runId, planVersion, row));
}

/** A page of a log. */
export async function readEventPage(
  db: Queryable,
  runId: string,
  { afterSeq, order = 'asc', step, types, tenant, limit = 1000, after }: EventsOptions,
): Promise<Page<RunEvent>> {
  const { planVersion } = await readRun(db, runId, tenant);
  const { items, next } = await readPage<CompactRow>(
    db,
    {
      columns: compact,
      from: 'writ.run_events',
      where: [
        ['run_id = ?::uuid', runId],
        ['run_seq > ?::integer', afterSeq],
        ['step_id = ?', step],
        ['event_type = any (?::text[])', types && [...types]],
      ],
      key: [['run_seq', 'integer']],
      order,
    },
    { limit, ...(after !== undefined && { after }) },
  );
  return { items: items.map((row) => eventIn(runId, planVersion, row)), next };
}

export async function readRun(db: Queryable, runId: string, tenant?: string): Promise<ListedRun> {
  if (!isUuid(runId)) throw new WritRefusal('RUN_NOT_FOUND', runId);
  const [row] = await readJson<ListedRun>(
    db,
    `select ${runColumns} from writ.run
     where run_id = $1 and ($2::text is null or tenant_id = $2)`,
    [runId, tenant ?? null],
  );
  if (!row) throw new WritRefusal('RUN_NOT_FOUND', runId);
  return row;
}

/** Values of a run by their references; null: this role may not read them. */
export async function readReferences(
  db: Queryable,
  runId: string,
  refs: readonly string[],
): Promise<Record<string, unknown> | null> {
  try {
    return await gate<Record<string, unknown>>(
      db,
      'fn_run_values($1::text::uuid, array(select json_array_elements_text($2::text::json)))',
      [runId, JSON.stringify(refs)],
    );
  } catch (error) {
    if (error instanceof WritError && error.code === 'permission_denied') return null;
    throw error;
  }
}

/**
 * A version of a plan, as it was registered. A tenant may have one of its own: the hash tells
 * which.
 */
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

/**
 * Snapshots of runs: the projector's last ones, and what the logs have had since; for a run that is
 * not there, the refusal.
 */
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
