/**
 * What Writ asks of a database connection: run a statement with parameters, answer rows. A `pg`
 * client or pool is one as it is; a transaction of postgres.js, Kysely or Drizzle becomes one here,
 * so that a job can be enqueued inside the caller's own transaction.
 */
import { WritError } from '../errors/index.js';
import { linesFor } from './libraries.js';

export interface Queryable {
  query(sql: string, params?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
}

/**
 * `pg` clients and pools, transactions of postgres.js, Kysely, Drizzle and TypeORM, and every
 * object with `query(sql, params)`.
 */
export type AnyConnection =
  | { query(sql: string, params?: unknown[]): PromiseLike<unknown> }
  | { unsafe(sql: string, params?: never[]): PromiseLike<unknown> }
  | { executeQuery(query: never): PromiseLike<unknown> }
  | { execute(query: never): PromiseLike<unknown> };

type Rows = { rows: Record<string, unknown>[] };

function rowsOf(result: unknown): Rows {
  if (Array.isArray(result)) return { rows: result as Rows['rows'] };
  const rows = (result as Partial<Rows> | null | undefined)?.rows;
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

/**
 * Sees the caller's own transaction as a connection, and refuses a connection that is in none: a
 * job that was enqueued through it would survive the caller's rollback. It runs only statements of
 * the form `select writ.GATE(…) as answer`.
 *
 * A `pg` client knows that it is in a transaction. Any other connection costs one more round trip:
 * the first statement reads the id of the transaction, and the gate is called only if the id is
 * still the same. Outside a transaction each statement has an id of its own, so a pool is refused,
 * and so is a transaction object whose transaction has ended, as after an enqueue that nobody
 * awaited.
 */
export function transactionOf(connection: AnyConnection): Queryable {
  const lines = linesFor(connection);
  if (lines?.always) throw new WritError('transaction_required', lines.text);
  const db = queryable(connection);
  return {
    query: async (sql, params = []) => {
      if (knowsItsTransaction(connection)) return db.query(sql, params);
      const { rows } = await db.query('select pg_catalog.pg_current_xact_id()::text as xid');
      const xid = rows[0]?.xid;
      if (typeof xid !== 'string')
        throw new WritError('invalid_argument', 'db answered no row with the selected column');
      const sameTransaction = `where pg_catalog.pg_current_xact_id()::text = $${params.length + 1}`;
      const answer = await db.query(`${sql} ${sameTransaction}`, [...params, xid]);
      if (answer.rows.length === 0)
        throw new WritError(
          'transaction_required',
          lines?.text ?? 'each statement on it commits by itself',
        );
      return answer;
    },
  };
}

/**
 * Whether a `pg` client is in a transaction and idle, so that the next statement runs inside it.
 * With a statement under way, which may be a BEGIN or a COMMIT, the client's last known status says
 * nothing.
 */
function knowsItsTransaction(connection: object): boolean {
  const { readyForQuery } = connection as { readyForQuery?: unknown };
  return (
    readyForQuery === true &&
    has(connection, 'getTransactionStatus') &&
    (connection.getTransactionStatus() as unknown) === 'T'
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
