/** Checks of the server that need no schema: its version, and whether connections are left. */

import { describeTarget } from '../database/address.js';
import { readRows } from '../database/gate.js';
import type { ConnectionLimit } from '../errors/advice/findings.js';
import { type Checks, type Finding, type Patient, well } from './finding.js';

export type { ConnectionLimit } from '../errors/advice/findings.js';

async function connection({ db, connectionString }: Patient): Promise<Finding[]> {
  const [row] = await readRows<{ version: string; number: number; user: string }>(
    db,
    `select current_setting('server_version') as version,
       current_setting('server_version_num')::integer as number, current_user as "user"`,
  );
  const { version, number, user } = row as { version: string; number: number; user: string };
  const at = connectionString === undefined ? '' : ` at ${describeTarget(connectionString)}`;
  const says = `PostgreSQL ${version}${at}, as ${user}`;
  if (number >= 150_000) return [well('connection', says, { version, user })];
  return [
    {
      check: 'connection',
      level: 'error',
      code: 'postgresql_too_old',
      facts: { version },
      says,
      means: 'Writ needs PostgreSQL 15 or later.',
    },
  ];
}

/**
 * Limits of the server, without what is reserved; and of the user and the database where they have
 * a limit of their own. Without pg_monitor the type of other users' processes is not shown; the
 * server's own processes have no user.
 */
const readLimits = ({ db }: Patient): Promise<ConnectionLimit[]> =>
  readRows(
    db,
    `with client as (
       select usesysid, datid
       from pg_stat_activity
       where coalesce(backend_type, 'client backend') = 'client backend' and usesysid is not null
     )
     select 'server' as of, '' as name, (select count(*)::integer from client) as used,
       current_setting('max_connections')::integer
         - current_setting('superuser_reserved_connections')::integer
         - coalesce(current_setting('reserved_connections', true)::integer, 0) as most
     union all
     select 'user', rolname, (select count(*)::integer from client where usesysid = oid),
       rolconnlimit
     from pg_roles
     where rolname = current_user and rolconnlimit >= 0 and not rolsuper
     union all
     select 'database', datname, (select count(*)::integer from client where datid = oid),
       datconnlimit
     from pg_database
     where datname = current_database() and datconnlimit >= 0`,
  );

export function judgeConnections(limits: readonly ConnectionLimit[]): Finding[] {
  const share = ({ used, most }: ConnectionLimit) => used / Math.max(1, most);
  const tightest = [...limits].sort((a, b) => share(b) - share(a))[0] as ConnectionLimit;
  const { of, name, used, most } = tightest;
  const whose = of === 'server' ? '' : `, which is the limit of ${of} ${name}`;
  const says = `${used} of ${most} in use${whose}`;
  if (used < most * 0.8) return [well('connections', says, { ...tightest })];
  return [
    {
      check: 'connections',
      level: used < most * 0.95 ? 'warning' : 'error',
      code: 'connections_scarce',
      facts: tightest,
      says,
      means: 'A worker that finds no free connection cannot claim or report. Each takes up to 16.',
    },
  ];
}

export const connectionChecks: Checks = {
  connection,
  connections: async (patient) => judgeConnections(await readLimits(patient)),
};
