import { createHash } from 'node:crypto';
import type pg from 'pg';
import { inTime, overBudget } from './budget.js';
import type { Queryable } from './connection.js';

/**
 * A pool whose statements are prepared under names, so that the server reads and plans each but
 * once per connection. A pooler in transaction mode moves a client to connections that do not know
 * its names: the server then says so before it has done anything, and from there on the same
 * statements travel without names.
 */
export class PreparedPool implements Queryable {
  readonly #pool: pg.Pool;
  #named = true;
  /**
   * Connections of calls that have to be answered in time, also when nobody waits for them any
   * more.
   */
  readonly #asked = new Set<pg.PoolClient>();

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  async query(text: string, values: unknown[] = []): Promise<pg.QueryResult> {
    if (this.#named) {
      try {
        return await this.#pool.query({ name: nameOf(text), text, values });
      } catch (error) {
        if (!isUnknownName(error)) throw error;
        this.#named = false;
      }
    }
    return this.#pool.query(text, values);
  }

  /**
   * Calls a gate that has to answer within `ms`; `call` is everything after `writ.`. Past it the
   * caller is told so, and the call may still happen: it is for calls that may be made again. A
   * lock that is not to be had in that time ends it in the server, too. Its connection stays taken
   * until it answers, for ten times as long at most, so that calls to a database that is stuck do
   * not pile up there. It is never cancelled: that would also end the wait for a synchronous
   * standby, and count as committed what is on one disk only. `onLate` hears when a call has ended
   * that the caller was told nothing of.
   */
  async ask(
    ms: number,
    call: string,
    values: unknown[],
    onLate?: () => void,
  ): Promise<pg.QueryResult> {
    const text = `select set_config('lock_timeout', $${values.length + 1}, true), writ.${call} as answer`;
    const asking = { over: false };
    const asked = this.#ask(
      asking,
      text,
      [...values, String(Math.max(1, Math.round(ms)))],
      10 * ms,
    );
    // looked at below
    if (onLate) asked.finally(() => asking.over && onLate()).catch(() => undefined);
    try {
      return await inTime(asked, ms, call);
    } catch (error) {
      throw isOutOfTime(error) ? overBudget(call, ms, { cause: error }) : error;
    } finally {
      asking.over = true;
    }
  }

  async #ask(
    asking: { readonly over: boolean },
    text: string,
    values: unknown[],
    query_timeout: number,
  ): Promise<pg.QueryResult> {
    const client = await this.#pool.connect();
    let broken: Error | undefined;
    this.#asked.add(client);
    try {
      // nobody waits for it any more, so it is not sent
      if (asking.over) return { rows: [] } as unknown as pg.QueryResult;
      const query = { text, values, query_timeout };
      if (this.#named) {
        try {
          return await client.query({ ...query, name: nameOf(text) });
        } catch (error) {
          if (!isUnknownName(error)) throw error;
          this.#named = false;
        }
      }
      return await client.query(query);
    } catch (error) {
      broken = error as Error; // as the pool does after any error
      throw error;
    } finally {
      this.#asked.delete(client);
      client.release(broken);
    }
  }

  /**
   * Closes the pool, without waiting for what was not answered in time: calls that somebody waits
   * for have ended before.
   */
  async end(): Promise<void> {
    // Ended in the middle of a call, a client drops its connection, and the call fails.
    for (const client of this.#asked) void (client as pg.PoolClient & pg.Client).end();
    await this.#pool.end();
  }
}

/**
 * A lock was not to be had in time, or the server's own limit for statements is lower than ours.
 * Either way nothing was done.
 */
function isOutOfTime(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === '55P03' || code === '57014';
}

const names = new Map<string, string>();

/** By content: a name means the same statement on every connection, whoever prepared it. */
function nameOf(text: string): string {
  let name = names.get(text);
  if (!name) {
    name = `writ_${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
    names.set(text, name);
  }
  return name;
}

/** The connection does not have the statement, or has it from somebody else. */
function isUnknownName(error: unknown): boolean {
  const { code } = error as { code?: string };
  return code === '26000' || code === '42P05';
}
