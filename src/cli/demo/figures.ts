/** What the demo claims, counted in the database: in the ledger itself, and in the record. Nothing is taken from the programs' own counters. */
import type { Session } from '../connection.js';

export interface Figures {
  readonly payments: number;
  readonly effects: number;
  readonly lost: number;
  readonly repeated: number;
  readonly unfinished: number;
  readonly executions: number;
  readonly attemptsLost: number;
  readonly givenBack: number;
  readonly events: number;
  readonly seconds: number;
  readonly jobsPerSecond: number;
}

const counted = `
  with job as (select job_id, idempotency_key, status from writ.job_queue where job_kind = 'pay'),
  entry as (select payment, count(*) as rows from ledger_entry where kind = 'pay' group by payment),
  execution as (select e.* from writ.job_execution e where e.job_id in (select job_id from job))
  select (select count(*) from job)::integer as payments,
    (select count(*) from ledger_entry where kind = 'pay')::integer as effects,
    (select count(*) from job where idempotency_key not in (select payment from entry))::integer as lost,
    (select coalesce(sum(rows - 1), 0) from entry)::integer as repeated,
    (select count(*) from job where status <> 'succeeded')::integer as unfinished,
    (select count(*) from execution)::integer as executions,
    (select count(*) from execution where abort_kind = 'lease_expired' and lease_owner = $1 and started_at is not null)::integer as "attemptsLost",
    (select count(*) from execution where abort_kind = 'lease_expired' and lease_owner = $1 and started_at is null)::integer as "givenBack",
    (select count(*) from writ.event_outbox)::integer as events,
    (select extract(epoch from max(finished_at) - min(started_at)) from execution)::float8 as seconds`;

export async function countEverything(db: Session, killed: string): Promise<Figures> {
  const [row] = await db.rows<Omit<Figures, 'jobsPerSecond'>>(counted, [killed]);
  const figures = row as Omit<Figures, 'jobsPerSecond'>;
  return { ...figures, jobsPerSecond: Math.round(figures.payments / figures.seconds) };
}

export async function effects(db: Session): Promise<number> {
  const [row] = await db.rows<{ n: number }>(`select count(*)::integer as n from ledger_entry where kind = 'pay'`);
  return row?.n ?? 0;
}

/** What a worker has in its hands: jobs begun, jobs only fetched, and jobs whose effect stands. */
export async function inTheHandsOf(db: Session, worker: string): Promise<{ begun: number; fetched: number; committed: number }> {
  const [row] = await db.rows<{ begun: number; fetched: number; committed: number }>(
    `select count(*) filter (where status = 'IN_PROGRESS')::integer as begun, count(*) filter (where status = 'LEASED')::integer as fetched,
       count(*) filter (where status = 'COMMITTED')::integer as committed
     from writ.job_execution where lease_owner = $1 and status in ('LEASED', 'IN_PROGRESS', 'COMMITTED')`,
    [worker],
  );
  return row ?? { begun: 0, fetched: 0, committed: 0 };
}
