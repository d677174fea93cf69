/**
 * What Writ asks of a database connection: run a statement with parameters, answer rows. A `pg` client or pool is one as it is; a
 * transaction of postgres.js, Kysely or Drizzle becomes one here, so that a job can be enqueued inside the caller's own transaction.
 */
import { WritError } from '../errors/index.js';

export interface Queryable {
  query(sql: string, params?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
}

/** `pg` clients and pools, and transactions of postgres.js, Kysely and Drizzle. */
export type AnyConnection =
  | { query(sql: string, params?: unknown[]): PromiseLike<unknown> }
  | { unsafe(sql: string, params?: never[]): PromiseLike<unknown> }
  | { executeQuery(query: never): PromiseLike<unknown> }
  | { execute(query: never): PromiseLike<unknown> };

type Rows = { rows: Record<string, unknown>[] };

function rowsOf(result: unknown): Rows {
  if (Array.isArray(result)) return { rows: result as Rows['rows'] };
  const { rows } = result as { rows?: Rows['rows'] };
  if (!Array.isArray(rows))
    throw new WritError('invalid_argument', 'db answered neither rows nor an object with rows');
  return { rows };
}

function has<K extends string>(
  value: object,
  key: K,
): value is Record<K, (...args: unknown[]) => Promise<unknown>> {
  return typeof (value as Record<string, unknown>)[key] === 'function';
}

/** Sees a connection of any of the supported libraries as one that answers `query(sql, params)`. */
export function queryable(connection: AnyConnection): Queryable {
  // postgres.js transactions are functions; the rest are objects.
  const db = connection as object;
  if (has(db, 'unsafe'))
    return { query: async (sql, params = []) => rowsOf(await db.unsafe(sql, params)) };
  if (has(db, 'executeQuery')) {
    return {
      query: async (sql, params = []) => rowsOf(await db.executeQuery(kyselyQuery(sql, params))),
    };
  }
  if (has(db, 'query'))
    return { query: async (sql, params = []) => rowsOf(await db.query(sql, params)) };
  if (has(db, 'execute'))
    return {
      query: async (sql, params = []) => rowsOf(await db.execute(drizzleQuery(sql, params))),
    };
  throw new WritError(
    'invalid_argument',
    'db has none of the methods query, unsafe, executeQuery, execute',
  );
}

/** What Kysely calls a compiled query: plain data, so no import of Kysely is needed. */
function kyselyQuery(sql: string, parameters: unknown[]) {
  return {
    sql,
    parameters,
    query: { kind: 'RawNode', sqlFragments: [sql], parameters: [] },
    queryId: { queryId: sql },
  };
}

/** What Drizzle calls an SQL wrapper: an object that compiles itself. */
function drizzleQuery(sql: string, params: unknown[]) {
  const compiled = { sql, params, typings: params.map(() => 'none') };
  return { getSQL: () => ({ toQuery: () => compiled, ...sqlMark }), ...sqlMark };
}
const sqlMark = { shouldInlineParams: false };
