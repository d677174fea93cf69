/**
 * Jobs of days gone by. Their ids carry the real time, so they are put in place as the owner of the
 * tables would.
 */
import { randomBytes } from 'node:crypto';
import type { Asks } from './bulk.js';

const dayMs = 86_400_000;

/** A UUIDv7 of that many days ago. */
export function idOf(daysAgo: number): string {
  const ms =
    Math.floor(Date.now() / dayMs) * dayMs - daysAgo * dayMs + Math.floor(Math.random() * dayMs);
  const hex = ms.toString(16).padStart(12, '0') + randomBytes(10).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

export async function makeDay(
  db: Asks,
  daysAgo: number,
  tables = ['job', 'job_execution', 'job_cleaned', 'event_batch'],
): Promise<void> {
  await db.query(`do $$ begin
    set local role writ_owner;
    perform writ_data.make_partition(t, (clock_timestamp() at time zone 'UTC')::date - ${daysAgo}) from unnest('{${tables}}'::text[]) t;
  end $$`);
}

/** The days of a table that are older than yesterday, as days ago. */
export async function oldDays(db: Asks, table: string): Promise<number[]> {
  const rows = await db.query(
    `select (clock_timestamp() at time zone 'UTC')::date - to_date(right(c.relname, 8), 'YYYYMMDD') as ago
     from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent = $1::regclass order by 1`,
    [`writ_data.${table}`],
  );
  // A database has yesterday; one that was made before midnight has the day before that.
  return rows.map((row) => Number(row.ago)).filter((ago) => ago > 2);
}

export type Old =
  | 'succeeded'
  | 'cancelled'
  | 'dead_letter'
  | 'committed'
  | 'retry_waiting'
  | 'queued';

/**
 * Jobs that were enqueued that many days ago and have become this; what has ended, ended a minute
 * later.
 */
export async function oldJobs(
  db: Asks,
  daysAgo: number,
  count: number,
  became: Old,
  key?: string,
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => idOf(daysAgo)).sort();
  await db.query(
    `insert into writ_data.job (job_id, tenant_id, job_kind, event_domain, idempotency_key, input, payload_classification, executor, max_attempts, priority,
       process_after, enqueued_by, enqueued_at, source_system)
     select id, 'default', 'chore', 'dot', $2 || n, '{"old":true}', 'safe_metadata', 'external_worker', 5, 0, at, 'test', at, 'writ'
     from unnest($1::uuid[]) with ordinality u(id, n) cross join lateral (select clock_timestamp() - $3 * interval '1 day' as at) t`,
    [ids, key ?? null, daysAgo],
  );
  await db.query(
    `insert into writ_data.job_key (tenant_id, job_kind, idempotency_key, job_id) select tenant_id, job_kind, idempotency_key, job_id from writ_data.job
     where job_id = any ($1) and idempotency_key is not null`,
    [ids],
  );
  const ended = `select id, 1, 1, $2, $3, $4::boolean, at, case when $2 <> 'ABORTED' then at end, case when $2 <> 'COMMITTED' then at end, case when $2 = 'ABORTED' then 'x' end
    from unnest($1::uuid[]) u(id) cross join lateral (select clock_timestamp() - $5 * interval '1 day' + interval '1 minute' as at) t`;
  const columns =
    'job_id, execution_no, attempt, status, abort_kind, final, started_at, committed_at, finished_at, error_code';
  const execution = {
    succeeded: ['DONE', null, false],
    cancelled: ['ABORTED', 'cancelled', true],
    dead_letter: ['ABORTED', 'permanent', true],
    committed: ['COMMITTED', null, false],
    retry_waiting: ['ABORTED', 'transient', false],
    queued: undefined,
  }[became];
  if (execution)
    await db.query(`insert into writ_data.job_execution (${columns}) ${ended}`, [
      ids,
      ...execution,
      daysAgo,
    ]);
  if (became === 'retry_waiting') {
    await db.query(
      `insert into writ_data.job_wait (due_at, job_kind, tenant_id, priority, job_id, attempts, execution_no, reason)
       select clock_timestamp() + interval '1 year', 'chore', 'default', 0, id, 1, 2, 'retry' from unnest($1::uuid[]) u(id)`,
      [ids],
    );
  }
  if (became === 'queued') {
    await db.query(
      `select writ_data.make_ready($1::uuid[], x.k, x.t, x.l, x.p, x.a, x.n, x.o, x.d) from (select array_agg('chore'::text), array_agg('default'::text), array_agg(null::text),
         array_agg(0::smallint), array_agg(false), array_agg(0::smallint), array_agg(1), array_agg(null::timestamptz) from unnest($1::uuid[])) x(k, t, l, p, a, n, o, d)`,
      [ids],
    );
  }
  return ids;
}
