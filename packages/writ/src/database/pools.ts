/** The connections that are our own. */
import pg from 'pg';
import type { Queryable } from './connection.js';
import { PreparedPool } from './prepared.js';

/**
 * Two pools: a handler that waits inside its transaction must not keep the calls waiting that would
 * let it go on.
 */
export interface Pools {
  readonly transactions: pg.Pool;
  readonly gates: pg.Pool;
  /** Those of `gates`, with named statements. */
  readonly prepared: PreparedPool;
}

export interface PoolOptions {
  readonly connectionString: string;
  /** How many connections handlers have for their transactions. */
  readonly max?: number | undefined;
  readonly applicationName?: string | undefined;
  readonly connectTimeoutMs?: number | undefined;
}

export function openPools({
  connectionString,
  max = 10,
  applicationName = 'writ',
  connectTimeoutMs = 0,
}: PoolOptions): Pools {
  const settings = {
    connectionString,
    application_name: applicationName,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
  };
  const gates = new pg.Pool({ ...settings, max: 4 });
  const pools = {
    transactions: new pg.Pool({ ...settings, max }),
    gates,
    prepared: new PreparedPool(gates),
  };
  // A connection that dies is replaced by the pool; whoever was using it hears of it from its own
  // statement. Without a listener Node would end the process instead.
  for (const pool of [pools.transactions, gates]) {
    pool.on('error', () => undefined);
    pool.on('connect', (client) => client.on('error', () => undefined));
  }
  return pools;
}

/** Runs statements in one transaction of one connection; nothing of them stands if one fails. */
export async function inTransaction<T>(
  pool: pg.Pool,
  use: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    const answer = await use(client);
    await client.query('commit');
    return answer;
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  } finally {
    client.release();
  }
}

/** Uses a connection of its own. With `withinMs`, connecting and each statement have so long. */
export async function withClient<T>(
  connectionString: string,
  use: (client: pg.Client) => Promise<T>,
  withinMs?: number,
): Promise<T> {
  const client = new pg.Client({
    connectionString,
    application_name: 'writ',
    ...(withinMs !== undefined && {
      connectionTimeoutMillis: withinMs,
      query_timeout: withinMs,
    }),
  });
  client.on('error', () => undefined); // the statement in hand reports it
  try {
    await client.connect();
    return await use(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Sees a pool as one connection whose statements PostgreSQL ends after so long. */
export const bounded = (pool: pg.Pool, withinMs: number): Queryable => ({
  query: (sql, params) =>
    inTransaction(pool, async (client) => {
      await client.query(`set local statement_timeout = ${Math.ceil(withinMs)}`);
      return client.query(sql, params);
    }),
});
