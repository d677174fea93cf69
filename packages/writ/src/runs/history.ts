/** Everything that a replay needs, from one moment: the log of a run, its plan, what is stored of it, and the values that its conditions ask about. */
import { WritError, WritRefusal } from '../../errors/index.js';
import { type RunEvent, runLevel } from '../../runs/events.js';
import { readEvents } from '../../runs/log.js';
import type { PlanDocument } from '../../runs/plans/document.js';
import { parseRef, refsOfCondition } from '../../runs/plans/refs.js';
import type { RunSnapshot } from '../../runs/snapshot.js';
import type { Session } from '../connection.js';
import { wrongUsage } from '../failure.js';

export interface History {
  readonly history: 1;
  readonly run: { readonly runId: string; readonly tenant: string; readonly status: string };
  readonly plan: PlanDocument;
  /** As the projector has stored it; null: it has not come to this run yet. */
  readonly snapshot: RunSnapshot | null;
  /** By reference; null: this role may not read them. */
  readonly values: Readonly<Record<string, unknown>> | null;
  readonly events: readonly RunEvent[];
}

const page = 10_000;

export async function readHistory(db: Session, runId: string, tenant?: string): Promise<History> {
  await db.rows('begin isolation level repeatable read read only');
  try {
    return await read(db, runId, tenant);
  } finally {
    await db.rows('rollback');
  }
}

async function read(db: Session, runId: string, tenant: string | undefined): Promise<History> {
  const [run] = await db.rows<{ tenant: string; status: string; document: string }>(
    `select r.tenant_id as tenant, r.status, p.document from writ.run r join writ.plan p on p.plan_id = r.plan_id and p.plan_version = r.plan_version and p.sha256 = r.plan_sha256 where r.run_id = $1 and ($2::text is null or r.tenant_id = $2)`,
    [runId, tenant ?? null],
  );
  if (!run) throw new WritRefusal('RUN_NOT_FOUND', runId);
  const plan = JSON.parse(run.document) as PlanDocument;
  const [stored] = await db.rows<{ snapshot: RunSnapshot }>(
    'select snapshot from writ.run_snapshots where run_id = $1',
    [runId],
  );
  const events: RunEvent[] = [];
  for (;;) {
    const more = await readEvents(db.client, runId, {
      afterSeq: events.at(-1)?.runSeq ?? 0,
      limit: page,
    });
    events.push(...more);
    if (more.length < page) break;
  }
  return {
    history: 1,
    run: { runId, tenant: run.tenant, status: run.status },
    plan,
    snapshot: stored?.snapshot ?? null,
    // Last: one that is not allowed ends the transaction.
    values: await readValues(db, runId, plan),
    events,
  };
}

/** What the conditions of a step ask about: the input as a whole, outputs of steps as a whole. */
export function askedBy(step: PlanDocument['steps'][number]): string[] {
  const refs = step.when ? [...refsOfCondition(step.when)] : [];
  return refs.flatMap((ref) => {
    const target = parseRef(ref);
    return target?.root === 'input'
      ? ['input']
      : target?.root === 'step'
        ? [`steps.${target.stepId}.output`]
        : [];
  });
}

async function readValues(
  db: Session,
  runId: string,
  plan: PlanDocument,
): Promise<Record<string, unknown> | null> {
  const refs = [...new Set(plan.steps.flatMap(askedBy))];
  if (refs.length === 0) return {};
  try {
    return await db.gate<Record<string, unknown>>('fn_run_values($1, $2)', [runId, refs]);
  } catch (error) {
    if (error instanceof WritError && error.code === 'permission_denied') return null;
    throw error;
  }
}

/** A history out of a file, as far as its shape can tell that it is one; what it says is the replay's affair. */
export function parseHistory(value: unknown, file: string): History {
  const { history, run, plan, events } = (value ?? {}) as Partial<History>;
  const isEvent = (event: unknown) => {
    const { runId, runSeq, eventType, stepId, eventData } = (event ?? {}) as Partial<RunEvent>;
    const texts = [runId, eventType, stepId].every(
      (text) => typeof text === 'string' && text !== '',
    );
    return (
      texts && Number.isSafeInteger(runSeq) && typeof eventData === 'object' && eventData !== null
    );
  };
  if (
    history !== 1 ||
    typeof run?.runId !== 'string' ||
    !Array.isArray(plan?.steps) ||
    !Array.isArray(events) ||
    !events.every(isEvent)
  ) {
    throw wrongUsage(
      `${file} is not a history of a run.`,
      'Give the file that `writ runs events RUN --export FILE` wrote.',
    );
  }
  return value as History;
}

/** What an event is about, in words. */
export const subjectOf = ({ eventType, stepId }: RunEvent): string =>
  stepId === runLevel ? eventType : `${eventType} of ${stepId}`;
