/** Checks of the server that need no schema: its version, and whether connections are left. */
import type { Session } from '../connection.js';
import type { Checks, Finding } from './finding.js';

async function connection(db: Session): Promise<Finding[]> {
  const [row] = await db.rows<{ version: string; number: number; user: string }>(
    `select current_setting('server_version') as version, current_setting('server_version_num')::integer as number, current_user as "user"`,
  );
  const { version, number, user } = row as { version: string; number: number; user: string };
  const says = `PostgreSQL ${version} at ${db.target}, as ${user}`;
  if (number >= 150_000) return [{ check: 'connection', level: 'ok', says }];
  return [
    {
      check: 'connection',
      level: 'error',
      says,
      means: 'Writ needs PostgreSQL 15 or later.',
      remedy: 'Upgrade the server.',
    },
  ];
}

export interface ConnectionLimit {
  /** Whose connections are counted. */
  readonly of: 'server' | 'user' | 'database';
  readonly name: string;
  readonly used: number;
  readonly most: number;
}

/**
 * Of the server without what is reserved; of the user and of the database where they have a limit
 * of their own.
 */
async function readLimits(db: Session): Promise<ConnectionLimit[]> {
  return db.rows<ConnectionLimit>(
    `with client as (
       -- Without pg_monitor the type of other users' processes is not shown; those of the server itself have no user.
       select usesysid, datid from pg_stat_activity where coalesce(backend_type, 'client backend') = 'client backend' and usesysid is not null)
     select 'server' as of, '' as name, (select count(*)::integer from client) as used, current_setting('max_connections')::integer
       - current_setting('superuser_reserved_connections')::integer - coalesce(current_setting('reserved_connections', true)::integer, 0) as most
     union all
     select 'user', rolname, (select count(*)::integer from client where usesysid = oid), rolconnlimit
     from pg_roles where rolname = current_user and rolconnlimit >= 0 and not rolsuper
     union all
     select 'database', datname, (select count(*)::integer from client where datid = oid), datconnlimit
     from pg_database where datname = current_database() and datconnlimit >= 0`,
  );
}

export function judgeConnections(limits: readonly ConnectionLimit[]): Finding[] {
  const share = ({ used, most }: ConnectionLimit) => used / Math.max(1, most);
  const tightest = [...limits].sort((a, b) => share(b) - share(a))[0] as ConnectionLimit;
  const { of, name, used, most } = tightest;
  const says = `${used} of ${most} in use${of === 'server' ? '' : `, which is the limit of ${of} ${name}`}`;
  if (used < most * 0.8) return [{ check: 'connections', level: 'ok', says }];
  const raise = {
    server: 'raise max_connections',
    user: `let an administrator raise the limit: alter role "${name}" connection limit N;`,
    database: `let an administrator raise the limit: alter database "${name}" connection limit N;`,
  }[of];
  return [
    {
      check: 'connections',
      level: used < most * 0.95 ? 'warning' : 'error',
      says,
      means: 'A worker that finds no free connection cannot claim or report. Each takes up to 16.',
      remedy: `Lower the pool sizes (\`max\`), put a pooler in between, or ${raise}`,
    },
  ];
}

export const connectionChecks: Checks = {
  connection,
  connections: async (db) => judgeConnections(await readLimits(db)),
};
