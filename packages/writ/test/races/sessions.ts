/**
 * What the race tests share: sessions of their own on a test database, and ways to wait for what
 * another session does, without time.
 */
import pg from 'pg';
import type { TestDatabase } from '../../src/testing/index.js';

export interface Session {
  /** Unlike a backend's process id, this is the same through a pooler. */
  readonly name: string;
  query(sql: string, params?: unknown[]): Promise<Record<string, unknown>[]>;
  /** The answer of a gate, as JSON. */
  gate(call: string, params?: unknown[]): Promise<Record<string, unknown>>;
  end(): Promise<void>;
}

let sessions = 0;

export async function session(db: TestDatabase): Promise<Session> {
  const name = `session ${++sessions}`;
  const client = new pg.Client({ connectionString: db.connectionString, application_name: name });
  await client.connect();
  const query = async (sql: string, params: unknown[] = []) =>
    (await client.query(sql, params)).rows as Record<string, unknown>[];
  return {
    name,
    query,
    gate: async (call, params) =>
      (await query(`select writ.${call} as answer`, params))[0]?.answer as Record<string, unknown>,
    end: () => client.end(),
  };
}

/** Runs the work in a transaction of this session. */
export async function inTransaction<T>(session: Session, work: () => Promise<T>): Promise<T> {
  await session.query('begin');
  try {
    const result = await work();
    await session.query('commit');
    return result;
  } catch (error) {
    await session.query('rollback');
    throw error;
  }
}

/** Past the pooler, for whatever has to last as long as a session. */
export const direct = (db: TestDatabase): TestDatabase => ({
  ...db,
  connectionString: db.directConnectionString,
});

/**
 * Asks again until the answer is yes. The limit is for a test that fails, not for one that waits.
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  limitMs = 20_000,
): Promise<void> {
  const giveUpAt = Date.now() + limitMs;
  while (!(await condition())) {
    if (Date.now() > giveUpAt) throw new Error('the condition did not come true');
    await new Promise((resume) => setTimeout(resume, 5));
  }
}

/** Resolves when this session waits for a lock that another one holds. */
export const untilBlocked = (db: TestDatabase, waiting: Session): Promise<void> =>
  until(async () => {
    const blocked = `select from pg_stat_activity where datname = current_database() and application_name = $1 and cardinality(pg_blocking_pids(pid)) > 0`;
    return (await db.query(blocked, [waiting.name])).length > 0;
  });

/**
 * Every job whose status and whose state from executions disagree; none, or the design is broken.
 */
export const disagreements = (db: TestDatabase): Promise<Record<string, unknown>[]> =>
  db.query(`select q.job_id, q.status, s.state from writ.job_queue q join writ.v_job_state s using (job_id)
    where s.state <> case when q.status in ('queued', 'retry_waiting') then 'PENDING' when q.status in ('leased', 'in_progress') then 'RUNNING'
      when q.status = 'succeeded' then 'SUCCEEDED' when q.status = 'cleaned' then s.state else 'FAILED' end`);
