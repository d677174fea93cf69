import { createHash } from 'node:crypto';
import type pg from 'pg';
import type { Queryable } from './connection.js';

/**
 * A pool whose statements are prepared under names, so that the server reads and plans each but once per connection. A pooler in transaction mode moves
 * a client to connections that do not know its names: the server then says so before it has done anything, and from there on the same
 * statements travel without names.
 */
export class PreparedPool implements Queryable {
  readonly #pool: pg.Pool;
  #named = true;

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
