/** Which database a command speaks to, and one session with it. */
import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { Queryable } from '../database/connection.js';
import type { EmbeddedServer } from '../database/embedded.js';
import { assertSchemaFits } from '../database/made-by.js';
import { fromDatabase, refusalIn, WritError } from '../errors/index.js';
import { runningServer, serverFolder, urlOf } from './dev-servers.js';
import { exitCodes, Failure, wrongUsage } from './failure.js';
import { describeTarget, keepSecret } from './secrets.js';

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'; // there, but another user's
  }
}

/**
 * The connection string to use: the option, the environment, or the embedded server of this folder.
 */
export function connectionString(option: string | undefined): string {
  const given = option ?? (process.env.DATABASE_URL || undefined);
  if (given !== undefined)
    return checked(given, option === undefined ? 'DATABASE_URL' : '--database-url');
  const server = runningServer();
  if (server) return checked(urlOf(server), 'the record of `writ dev`');
  // A file of the folder is no answer: whoever made the folder chose what it says.
  const ignored = existsSync(join(serverFolder(), 'server.json'))
    ? ' .writ/server.json is not used: anybody could have written it.'
    : '';
  throw new Failure(
    exitCodes.unavailable,
    'database_unreachable',
    `No database is given, and no embedded server of yours runs in this folder.${ignored}`,
    'Set DATABASE_URL or --database-url, or run `writ dev` here in another terminal.',
  );
}

/** Where to listen, when that is not the database's own address. */
export const listenUrl = (text: string): string => checked(text, '--listen-url');

/** A text that can be used as a connection string; `origin` names where it was found. */
export function checked(text: string, origin: string): string {
  // The text itself is not shown: it may hold a password.
  const wrong = wrongUsage(
    `${origin} is not a PostgreSQL connection string.`,
    'It begins with postgres:// and names user, password, host and database.',
  );
  if (!/^postgres(ql)?:\/\//.test(text)) throw wrong;
  try {
    keepSecret(text);
  } catch {
    throw wrong;
  }
  return text;
}

/** Who a change is made by, for the record. */
export function actor(option?: string): string {
  if (option) return option;
  try {
    return `cli:${userInfo().username}`;
  } catch {
    return 'cli'; // a process without an entry in the system's user list
  }
}

/**
 * Ends an embedded server. One that is gone already, as after a Ctrl-C that reached it too, is not
 * waited for.
 */
export async function stopServer(server: EmbeddedServer): Promise<void> {
  if (server.pid !== undefined && isAlive(server.pid)) await server.stop();
}

export type Row = Record<string, unknown>;

export class Session {
  readonly client: pg.Client;
  readonly url: string;
  readonly target: string;

  constructor(client: pg.Client, url: string) {
    this.client = client;
    this.url = url;
    this.target = describeTarget(url);
  }

  /**
   * A second session beside this one, with the same database or another, that does not wait long
   * for anything.
   */
  beside<T>(use: (session: Session) => Promise<T>, url = this.url): Promise<T> {
    return withSession(url, use, { installed: false, withinMs: 5_000 });
  }

  async rows<T = Row>(sql: string, params: unknown[] = []): Promise<T[]> {
    try {
      return (await this.client.query(sql, params)).rows as T[];
    } catch (error) {
      throw fromDatabase(error);
    }
  }

  /** Calls a gate; a refusal is thrown. `call` is everything after `writ.`. */
  async gate<T = Row>(call: string, params: unknown[] = []): Promise<T> {
    const [row] = await this.rows<{ answer: T }>(`select writ.${call} as answer`, params);
    const refusal = refusalIn(row?.answer);
    if (refusal) throw refusal;
    return row?.answer as T;
  }
}

/** For what asks several things at once: one connection answers one question at a time. */
export function inTurn({ client }: Session): Queryable {
  let last: Promise<unknown> = Promise.resolve();
  return {
    query: (sql, params) => {
      const next = last.then(() => client.query(sql, params));
      last = next.catch(() => undefined);
      return next;
    },
  };
}

export interface SessionOptions {
  /** False for commands that install Writ, or look whether it is installed. */
  readonly installed?: boolean;
  /** How long connecting and each statement may take. */
  readonly withinMs?: number;
}

export async function withSession<T>(
  url: string,
  use: (session: Session) => Promise<T>,
  options: SessionOptions = {},
): Promise<T> {
  const target = describeTarget(url);
  const client = new pg.Client({
    connectionString: url,
    application_name: 'writ cli',
    connectionTimeoutMillis: options.withinMs ?? 10_000,
    ...(options.withinMs !== undefined && { query_timeout: options.withinMs }),
  });
  client.on('error', () => undefined); // the statement in hand reports it
  try {
    await client.connect();
  } catch (error) {
    throw unreachable(error, target);
  }
  try {
    const session = new Session(client, url);
    if (options.installed !== false) {
      if (!(await isInstalled(session))) throw new WritError('schema_missing', target);
      await assertSchemaFits(client);
    }
    return await use(session);
  } finally {
    await client.end().catch(() => undefined);
  }
}

export async function isInstalled(session: Session): Promise<boolean> {
  const [row] = await session.rows<{ yes: boolean }>(
    `select to_regclass('writ.job_queue') is not null as yes`,
  );
  return row?.yes === true;
}

function unreachable(error: unknown, target: string): Failure {
  const { code, message, errors } = error as Error & { code?: string; errors?: Error[] };
  const why = message || errors?.map((each) => each.message).join(', ') || String(error);
  const refused = code?.startsWith('28') || code === '3D000';
  return new Failure(
    exitCodes.unavailable,
    'database_unreachable',
    `The database ${target} cannot be reached: ${why}`,
    refused
      ? 'The server answered: check user, password and database name.'
      : 'Check the address and that the server runs; `writ dev` starts an embedded one.',
    { cause: error },
  );
}
