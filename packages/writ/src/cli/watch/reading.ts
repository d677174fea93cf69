/**
 * One look at the queue. Throughput comes from the record, not from jobs: every gate call leaves one row that says how many jobs it moved, so that a
 * window costs what happened in it, however many jobs have ended before. A row counts in the first reading that can see it: each reading remembers its
 * snapshot, and the next one counts what that snapshot did not show. So a transaction that took its time to commit is counted once and not missed,
 * unless it took longer than `lookBack`.
 */
import { uuidFloor } from '../../database/uuid.js';
import { type Health, readHealth } from '../commands/queue/stats.js';
import type { Session } from '../connection.js';

export interface Kind {
  readonly kind: string;
  readonly backlog: number;
  readonly running: number;
  /** How fast the backlog of this kind grows; null in the first reading. */
  readonly change_per_s: number | null;
}

export interface Reading extends Health {
  readonly at: string;
  readonly enqueued_per_s: number;
  readonly started_per_s: number;
  readonly succeeded_per_s: number;
  readonly failed_per_s: number;
  /** Milliseconds from when a job could begin to when it began, of at most the thousand newest first starts. */
  readonly wait_p50_ms: number | null;
  readonly wait_p99_ms: number | null;
  readonly wait_sample: number;
  readonly workers_late: number;
  readonly workers_silent: number;
  /** Those with the largest backlog, and how many have work in all. */
  readonly kinds: readonly Kind[];
  readonly kinds_in_all: number;
}

/** Where a reading ended, and so where the next begins. */
export interface Mark {
  readonly ms: number;
  readonly snapshot: string;
  /** By kind, of those that had work; null: not read yet. */
  readonly backlogs: ReadonlyMap<string, number> | null;
}

interface Flow {
  readonly ms: number;
  readonly snapshot: string;
  readonly facts: Readonly<Record<string, number>>;
}

const lookBack = 10_000;
const shownKinds = 8;

const clock = `extract(epoch from clock_timestamp())::float8 * 1000 as ms, pg_current_snapshot()::text as snapshot`;
const unseen = `from writ.v_queue_flow where batch_id >= $1::uuid and not pg_visible_in_snapshot(xid, $2::pg_snapshot)`;

export const flow = `
  select ${clock}, coalesce((select json_object_agg(event_type, jobs) from (
    select event_type, sum(jobs) as jobs ${unseen} group by event_type) f), '{}') as facts`;

/**
 * Jobs are looked up one by one behind OFFSET 0: a planner that is free to join could read every job there is. Later attempts are left out: what a
 * retry waits for is not a worker.
 */
export const waits = `
  select count(*)::integer as sample, percentile_cont(array[0.5, 0.99]) within group
    (order by extract(epoch from s.at - greatest(q.enqueued_at, q.process_after))::float8 * 1000) as p
  from (
    select f.at, u.job_id from (
      select at, job_ids ${unseen} and event_type = 'dot.job.started' order by batch_id desc limit 1000) f
    cross join lateral unnest(f.job_ids) u(job_id) limit 1000) s
  cross join lateral (select j.enqueued_at, j.process_after, j.attempts from writ.job_queue j where j.job_id = s.job_id offset 0) q
  where q.attempts <= 1`;

export const kinds = `
  select job_kind as kind, coalesce(b.backlog, 0)::float8 as backlog, coalesce(p.in_progress, 0)::float8 as running
  from writ.v_job_queue_backlog b full join writ.v_job_queue_in_progress p using (job_kind)
  order by backlog desc, running desc, kind`;

const unheard = `
  select count(*) filter (where freshness = 'warning')::integer as workers_late, count(*) filter (where freshness = 'stale')::integer as workers_silent
  from writ.v_queue_heartbeat`;

export async function firstMark(db: Session): Promise<Mark> {
  const [row] = await db.rows<Omit<Mark, 'backlogs'>>(`select ${clock}`);
  return { ...(row as Omit<Mark, 'backlogs'>), backlogs: null };
}

interface Answers {
  readonly flowed: Flow;
  readonly wait: { readonly sample: number; readonly p: readonly [number, number] | null };
  readonly health: Health;
  readonly byKind: readonly {
    readonly kind: string;
    readonly backlog: number;
    readonly running: number;
  }[];
  readonly silence: Pick<Reading, 'workers_late' | 'workers_silent'>;
}

/** In a transaction, for the setting's sake: who watches does not take further processes of the server. */
async function ask(db: Session, since: Mark): Promise<Answers> {
  const window = [uuidFloor(since.ms - lookBack), since.snapshot];
  const one = async <T>(sql: string, params: unknown[] = []) =>
    (await db.rows<T>(sql, params))[0] as T;
  await db.rows('begin; set local max_parallel_workers_per_gather = 0');
  try {
    return {
      flowed: await one(flow, window),
      wait: await one(waits, window),
      health: await readHealth(db),
      byKind: await db.rows(kinds),
      silence: await one(unheard),
    };
  } finally {
    await db.rows('rollback');
  }
}

export async function read(db: Session, since: Mark): Promise<{ reading: Reading; mark: Mark }> {
  const { flowed, wait, health, byKind, silence } = await ask(db, since);
  const { ms, snapshot, facts } = flowed;
  const seconds = (ms - since.ms) / 1000;
  const rate = (n: number) => (seconds > 0 ? Math.round((n / seconds) * 10) / 10 : 0);
  const per = (fact: string) => rate(facts[`dot.job.${fact}`] ?? 0);
  const reading: Reading = {
    at: new Date().toISOString(),
    ...health,
    ...silence,
    enqueued_per_s: per('enqueued'),
    started_per_s: per('started'),
    succeeded_per_s: per('succeeded'),
    failed_per_s: per('failed'),
    wait_p50_ms: wait.p?.[0] ?? null,
    wait_p99_ms: wait.p?.[1] ?? null,
    wait_sample: wait.sample,
    kinds: byKind.slice(0, shownKinds).map(({ kind, backlog, running }) => ({
      kind,
      backlog,
      running,
      change_per_s: since.backlogs && rate(backlog - (since.backlogs.get(kind) ?? 0)),
    })),
    kinds_in_all: byKind.length,
  };
  return {
    reading,
    mark: { ms, snapshot, backlogs: new Map(byKind.map(({ kind, backlog }) => [kind, backlog])) },
  };
}
