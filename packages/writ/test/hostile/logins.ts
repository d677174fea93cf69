/** Database logins for tests: each has the roles that it is given and nothing else. */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { TestDatabase } from '../../src/testing/index.js';

export interface Binding {
  readonly principal_id?: string;
  readonly tenant_id?: string;
}

export interface Login {
  readonly name: string;
  readonly connectionString: string;
  /** Runs one statement and answers its rows. */
  query<Row = Record<string, unknown>>(sql: string, params?: unknown[]): Promise<Row[]>;
  /** Calls a gate with parameters by name, as text, and answers what it answers. */
  call(gate: string, parameters?: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** The SQLSTATE that a statement raises, or 'done'. It is rolled back. */
  attempt(sql: string, params?: unknown[]): Promise<string>;
  end(): Promise<void>;
}

/** Makes a login with these roles; with a binding it is registered as an administrator would. */
export async function login(
  db: Pick<TestDatabase, 'query' | 'connectionString'>,
  roles: readonly string[],
  binding?: Binding,
): Promise<Login> {
  const name = `test_${roles[0] ?? 'stranger'}_${randomBytes(5).toString('hex')}`;
  await db.query(`create role ${name} login password 'test'`);
  for (const role of roles) await db.query(`grant ${role} to ${name}`);
  if (binding) {
    const definition = JSON.stringify({ ...binding, roles });
    const put = `select writ.fn_login_put($1, $2::jsonb, 'test')::text as answer`;
    const [row] = await db.query(put, [name, definition]);
    if (String(row?.answer).includes('"refused"')) throw new Error(String(row?.answer));
  }
  const url = new URL(db.connectionString);
  url.username = name;
  url.password = 'test';
  const client = new pg.Client({ connectionString: url.toString() });
  await client.connect();
  return {
    name,
    connectionString: url.toString(),
    query: async (sql, params) => (await client.query(sql, params)).rows as never,
    call: async (gate, parameters = {}) => {
      const names = Object.keys(parameters);
      const list = names.map((key, index) => `p_${key} => $${index + 1}`).join(', ');
      const { rows } = await client.query(
        `select writ.${gate}(${list}) as answer`,
        Object.values(parameters),
      );
      return rows[0].answer;
    },
    attempt: async (sql, params) => {
      await client.query('begin');
      try {
        await client.query(sql, params);
        return 'done';
      } catch (error) {
        return String((error as { code?: string }).code);
      } finally {
        await client.query('rollback');
      }
    },
    end: async () => {
      await client.end();
      await db.query(`drop owned by ${name}`);
      await db.query(`drop role ${name}`);
    },
  };
}
