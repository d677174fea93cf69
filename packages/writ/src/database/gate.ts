/** Calling a gate: its answer, or its refusal thrown; and reading what a view shows. */
import { fromDatabase, refusalIn, WritRefusal } from '../errors/index.js';
import { inTime } from './budget.js';
import type { Queryable } from './connection.js';
import { PreparedPool } from './prepared.js';

/** `call` is everything after `writ.`. With `withinMs` it has to answer in that time. */
export async function gate<Answer>(
  db: Queryable,
  call: string,
  params: readonly (string | number | null)[],
  withinMs?: number,
): Promise<Answer> {
  assertText(call.slice(0, call.indexOf('(')), params);
  return ask<Answer>(db, `select writ.${call}::text as answer`, params, (sql, values) =>
    withinMs === undefined ? db.query(sql, values) : askWithin(db, withinMs, call, values),
  );
}

/** Refuses what no text in the database can hold. */
export function assertText(where: string | undefined, params: readonly unknown[]): void {
  for (const text of params) {
    if (typeof text === 'string' && (text.includes('\0') || !text.isWellFormed()))
      throw new WritRefusal('invalid_text', where);
  }
}

/**
 * Sends a statement that calls a gate. Its column `answer` is the gate's answer, as text: some
 * libraries rename the keys of a JSON answer.
 */
export async function ask<Answer>(
  db: Queryable,
  sql: string,
  params: readonly unknown[],
  send: Queryable['query'] = (text, values) => db.query(text, values),
): Promise<Answer> {
  let answer: unknown;
  try {
    const { rows } = await send(sql, [...params]);
    answer = JSON.parse(String(rows[0]?.answer));
  } catch (error) {
    throw fromDatabase(error);
  }
  const refusal = refusalIn(answer);
  if (refusal) throw refusal;
  return answer as Answer;
}

/**
 * A connection of the caller's own cannot be given a limit for locks: it may be in the middle of a
 * transaction.
 */
function askWithin(
  db: Queryable,
  ms: number,
  call: string,
  params: unknown[] = [],
): ReturnType<Queryable['query']> {
  if (db instanceof PreparedPool) return db.ask(ms, `${call}::text`, params);
  return inTime(db.query(`select writ.${call}::text as answer`, params), ms, `${call}::text`);
}

/**
 * Makes a call again that PostgreSQL broke off because two waited for each other: nothing of it was
 * done. Not for calls in a transaction of the caller's, which is over then.
 */
export async function unlessBrokenOff<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  for (let tries = 1; ; tries++) {
    try {
      return await call();
    } catch (error) {
      const { code } = error as { code?: string };
      if ((code !== '40P01' && code !== '40001') || tries === 5) throw error;
    }
  }
}

export async function readRows<Row = Record<string, unknown>>(
  db: Queryable,
  sql: string,
  params: readonly unknown[] = [],
): Promise<Row[]> {
  assertText(undefined, params);
  try {
    return (await db.query(sql, [...params])).rows as Row[];
  } catch (error) {
    throw fromDatabase(error);
  }
}

/** The rows of a select, as JSON: what a library makes of times and numbers is its own affair. */
export async function readJson<Row>(
  db: Queryable,
  select: string,
  params: readonly unknown[] = [],
): Promise<Row[]> {
  const rows = await readRows(db, `select to_json(v)::text as answer from (${select}) v`, params);
  return rows.map(({ answer }) => JSON.parse(String(answer)) as Row);
}
