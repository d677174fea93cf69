/**
 * Readings of the queue as it works. Throughput comes from the record: every gate call leaves one
 * row that says how many jobs it moved, so a reading costs what happened since the one before,
 * however many jobs have ended. Each reading remembers its snapshot, and the next one counts what
 * that snapshot did not show. So a transaction that commits late is counted once, unless it took
 * longer than `lookBackMs`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Queryable } from '../database/connection.js';
import { readRows } from '../database/gate.js';
import { uuidFloor } from '../database/uuid.js';
import type { QueueHealth } from './jobs.js';

export interface QueueReading extends QueueHealth {
  readonly at: string;
  readonly enqueued_per_s: number;
  readonly started_per_s: number;
  readonly succeeded_per_s: number;
  readonly failed_per_s: number;
  /** From when a job could begin to when it began, of at most the thousand newest first starts. */
  readonly wait_p50_ms: number | null;
  readonly wait_p99_ms: number | null;
  readonly wait_sample: number;
  readonly workers_late: number;
  readonly workers_silent: number;
  /** Kinds with the largest backlog. */
  readonly kinds: readonly {
    readonly kind: string;
    readonly backlog: number;
    readonly running: number;
    /** How fast its backlog grows; null in the first reading. */
    readonly change_per_s: number | null;
  }[];
  /** How many kinds have work. */
  readonly kinds_in_all: number;
}

export interface WatchOptions {
  readonly signal?: AbortSignal | undefined;
  /** Ends after so long, with a last reading. */
  readonly forMs?: number | undefined;
}

/** Where a reading ended, and so where the next begins. */
export interface Mark {
  readonly ms: number;
  readonly snapshot: string;
  /** By kind, of those that had work; null before the first reading. */
  readonly backlogs: ReadonlyMap<string, number> | null;
}

const lookBackMs = 10_000;
const shownKinds = 8;

const clock = `'ms', extract(epoch from clock_timestamp())::float8 * 1000,
  'snapshot', pg_current_snapshot()::text`;

/**
 * One statement. The gate in it keeps PostgreSQL from reading with several processes. Jobs are
 * looked up one by one behind OFFSET 0, because a planner that is free to join could read every job
 * there is. Later attempts do not count as waiting: a retry waits for its delay.
 */
export const readingSql = `
with unseen as (
  select batch_id, at, event_type, jobs, job_ids from writ.v_queue_flow
  where batch_id >= $1::text::uuid and not pg_visible_in_snapshot(xid, $2::text::pg_snapshot)
),
started as (
  select f.at, u.job_id
  from (
    select at, job_ids from unseen where event_type = 'dot.job.started'
    order by batch_id desc limit 1000
  ) f
  cross join lateral unnest(f.job_ids) u(job_id)
  limit 1000
)
select json_build_object(
  ${clock},
  'health', writ.fn_job_queue_health(),
  'facts', (
    select coalesce(json_object_agg(event_type, jobs), '{}')
    from (select event_type, sum(jobs) as jobs from unseen group by event_type) f
  ),
  'wait', (
    select json_build_object('sample', count(*), 'p',
      percentile_cont(array[0.5, 0.99]) within group (
        order by extract(epoch from s.at - greatest(q.enqueued_at, q.process_after))::float8 * 1000
      ))
    from started s
    cross join lateral (
      select j.enqueued_at, j.process_after, j.attempts
      from writ.job_queue j where j.job_id = s.job_id offset 0
    ) q
    where q.attempts <= 1
  ),
  'kinds', (
    select coalesce(json_agg(k order by k.backlog desc, k.running desc, k.kind), '[]')
    from (
      select job_kind as kind, coalesce(b.backlog, 0)::float8 as backlog,
        coalesce(p.in_progress, 0)::float8 as running
      from writ.v_job_queue_backlog b full join writ.v_job_queue_in_progress p using (job_kind)
    ) k
  ),
  'workers', (
    select json_build_object(
      'workers_late', count(*) filter (where freshness = 'warning'),
      'workers_silent', count(*) filter (where freshness = 'stale')
    )
    from writ.v_queue_heartbeat
  )
)::text as answer`;

interface Answer extends Pick<Mark, 'ms' | 'snapshot'> {
  readonly facts: Readonly<Record<string, number>>;
  readonly wait: { readonly sample: number; readonly p: readonly [number, number] | null };
  readonly health: QueueHealth;
  readonly kinds: readonly {
    readonly kind: string;
    readonly backlog: number;
    readonly running: number;
  }[];
  readonly workers: Pick<QueueReading, 'workers_late' | 'workers_silent'>;
}

export async function firstMark(db: Queryable): Promise<Mark> {
  const [row] = await readRows(db, `select json_build_object(${clock})::text as answer`);
  return { ...(JSON.parse(String(row?.answer)) as Pick<Mark, 'ms' | 'snapshot'>), backlogs: null };
}

export async function read(
  db: Queryable,
  since: Mark,
): Promise<{ reading: QueueReading; mark: Mark }> {
  const [row] = await readRows(db, readingSql, [uuidFloor(since.ms - lookBackMs), since.snapshot]);
  const { ms, snapshot, facts, wait, health, kinds, workers } = JSON.parse(
    String(row?.answer),
  ) as Answer;
  const seconds = (ms - since.ms) / 1000;
  const rate = (n: number) => (seconds > 0 ? Math.round((n / seconds) * 10) / 10 : 0);
  const per = (fact: string) => rate(facts[`dot.job.${fact}`] ?? 0);
  const reading: QueueReading = {
    at: new Date(ms).toISOString(),
    ...health,
    ...workers,
    enqueued_per_s: per('enqueued'),
    started_per_s: per('started'),
    succeeded_per_s: per('succeeded'),
    failed_per_s: per('failed'),
    wait_p50_ms: wait.p?.[0] ?? null,
    wait_p99_ms: wait.p?.[1] ?? null,
    wait_sample: wait.sample,
    kinds: kinds.slice(0, shownKinds).map((one) => ({
      ...one,
      change_per_s: since.backlogs && rate(one.backlog - (since.backlogs.get(one.kind) ?? 0)),
    })),
    kinds_in_all: kinds.length,
  };
  const backlogs = new Map(kinds.map(({ kind, backlog }) => [kind, backlog]));
  return { reading, mark: { ms, snapshot, backlogs } };
}

/**
 * How long to wait after a reading that took so long. Counting a large backlog takes a while, and
 * watching costs the database a third of one process at most.
 */
export const pause = (tookMs: number): number => Math.max(1_000 - tookMs, 2 * tookMs);

export async function* readings(
  db: Queryable,
  { signal, forMs = Number.POSITIVE_INFINITY }: WatchOptions = {},
): AsyncGenerator<QueueReading, void, void> {
  const endsAt = performance.now() + forMs;
  let mark = await firstMark(db);
  let wait = 1_000;
  do {
    const ms = Math.min(wait, Math.max(0, endsAt - performance.now()));
    await sleep(ms, undefined, signal && { signal }).catch(() => undefined);
    if (signal?.aborted) return;
    const began = performance.now();
    const next = await read(db, mark);
    wait = pause(performance.now() - began);
    mark = next.mark;
    yield next.reading;
  } while (performance.now() < endsAt);
}
