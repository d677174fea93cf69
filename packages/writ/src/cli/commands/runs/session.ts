/** What the commands of runs share: the runs of their database, a plan out of it, and one look at a run. */
import { defaultBudgetMs } from '../../../database/budget.js';
import { WritRefusal } from '../../../errors/index.js';
import type { PlanDocument } from '../../../runs/plans/document.js';
import { Runs } from '../../../runs/runs.js';
import type { RunSnapshot } from '../../../runs/snapshot.js';
import { actor, inTurn, type Session } from '../../connection.js';
import type { Look, Tries } from '../../runs/picture.js';

export const runsOf = (db: Session, by?: string): Runs =>
  new Runs({
    db: inTurn(db),
    actor: actor(by),
    register: async () => undefined, // kinds are registered by code that defines them
    calling: (call) => call(),
    authorize: undefined, // whoever has the database's address needs nobody's leave
    writeBudgetMs: defaultBudgetMs,
    spool: undefined,
  });

interface PlanRow {
  readonly document: string;
  readonly sha256: string;
}

/** A version of a plan, or its newest, as the text that is hashed. */
export async function readPlan(db: Session, planId: string, version?: string): Promise<PlanRow> {
  const [row] = await db.rows<PlanRow>(
    `select document, sha256 from writ.plan where plan_id = $1 and ($2::text is null or plan_version = $2) order by registered_at desc, plan_version desc limit 1`,
    [planId, version ?? null],
  );
  if (row) return row;
  const others = await db.rows<{ name: string }>(
    version === undefined
      ? 'select distinct plan_id as name from writ.plan order by 1 limit 10'
      : 'select plan_version as name from writ.plan where plan_id = $1 order by registered_at desc limit 10',
    version === undefined ? [] : [planId],
  );
  const known =
    others.length === 0 ? 'none is' : `there is ${others.map(({ name }) => name).join(', ')}`;
  throw new WritRefusal(
    'PLAN_NOT_FOUND',
    `${planId}${version === undefined ? '' : ` ${version}`}; ${known}`,
  );
}

export const documentOf = ({ document }: PlanRow): PlanDocument =>
  JSON.parse(document) as PlanDocument;

/** The plan that a run follows. */
export async function planOf(db: Session, { runId }: RunSnapshot): Promise<PlanDocument> {
  const [row] = await db.rows<PlanRow>(
    `select p.document, p.sha256 from writ.run r
     join writ.plan p on p.plan_id = r.plan_id and p.plan_version = r.plan_version and p.sha256 = r.plan_sha256 where r.run_id = $1`,
    [runId],
  );
  if (!row) throw new WritRefusal('PLAN_NOT_FOUND', `of run ${runId}`);
  return documentOf(row);
}

export async function databaseNow(db: Session): Promise<number> {
  const [row] = await db.rows<{ ms: number }>(
    'select extract(epoch from writ.now())::float8 * 1000 as ms',
  );
  return row?.ms as number;
}

/** Steps are shown with their tries, as many as a person reads. */
const shownTries = 20;

/** How the jobs of running steps stand: the log says that they began, the queue how often they were tried. */
export async function readTries(
  db: Session,
  { runId, steps }: RunSnapshot,
): Promise<Map<string, Tries>> {
  const running = steps
    .filter(({ status, type }) => status === 'RUNNING' && type === undefined)
    .slice(0, shownTries);
  if (running.length === 0) return new Map();
  const rows = await db.rows<Tries & { step_id: string }>(
    `select e.step_id, q.* from (
       select distinct on (step_id) step_id, (event_data ->> 'jobId')::uuid as job_id from writ.run_events
       where run_id = $1 and step_id = any ($2) and event_type = 'StepStarted' order by step_id, run_seq desc) e
     cross join lateral (
       select j.attempts, j.max_attempts as max, j.status in ('retry_waiting', 'queued') as waiting, j.last_error as error, extract(epoch from j.process_after)::float8 * 1000 as due_ms
       from writ.job_queue j where j.job_id = e.job_id offset 0) q`,
    [runId, running.map(({ stepId }) => stepId)],
  );
  return new Map(rows.map(({ step_id, ...tries }) => [step_id, tries]));
}

export async function lookAt(
  db: Session,
  snapshot: RunSnapshot,
  plan?: PlanDocument,
): Promise<Look> {
  return {
    snapshot,
    plan: plan ?? (await planOf(db, snapshot)),
    tries: await readTries(db, snapshot),
    now: await databaseNow(db),
  };
}
