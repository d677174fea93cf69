/** Checks of the server that need no schema: version, clock, connections, transactions that stay open. */
import type { Session } from '../connection.js';
import { oneLine, plural, span } from '../output.js';
import type { Checks, Finding } from './finding.js';

async function connection(db: Session): Promise<Finding[]> {
  const [row] = await db.rows<{ version: string; number: number; user: string }>(
    `select current_setting('server_version') as version, current_setting('server_version_num')::integer as number, current_user as "user"`,
  );
  const { version, number, user } = row as { version: string; number: number; user: string };
  const says = `PostgreSQL ${version} at ${db.target}, as ${user}`;
  if (number >= 150_000) return [{ check: 'connection', level: 'ok', says }];
  return [{ check: 'connection', level: 'error', says, means: 'Writ needs PostgreSQL 15 or later.', remedy: 'Upgrade the server.' }];
}

/** The answer was read somewhere within the round trip, so that half of it is the uncertainty. The best of three trips is taken. */
async function clock(db: Session): Promise<Finding[]> {
  let best = { difference: 0, uncertainty: Number.POSITIVE_INFINITY };
  for (let trip = 0; trip < 3; trip++) {
    const sent = Date.now();
    const [row] = await db.rows<{ ms: number }>('select extract(epoch from clock_timestamp())::float8 * 1000 as ms');
    const received = Date.now();
    const uncertainty = (received - sent) / 2 + 1; // this clock counts whole milliseconds
    if (uncertainty < best.uncertainty) best = { difference: (row?.ms ?? 0) - (sent + received) / 2, uncertainty };
  }
  return [judgeClock(best.difference, best.uncertainty)];
}

export function judgeClock(difference: number, uncertainty: number): Finding {
  const off = Math.max(0, Math.abs(difference) - uncertainty);
  const says = `The database is ${span(Math.abs(difference))} ${difference < 0 ? 'behind' : 'ahead of'} this machine (± ${span(uncertainty)})`;
  if (off < 1_000) return { check: 'clock', level: 'ok', says };
  return {
    check: 'clock',
    level: off < 30_000 ? 'warning' : 'error',
    says,
    means: 'Leases follow the database alone, but a worker here judges deadlines by its own clock.',
    remedy: 'Synchronise both machines (NTP).',
  };
}

async function connections(db: Session): Promise<Finding[]> {
  const [row] = await db.rows<{ used: number; most: number }>(
    `select count(*)::integer as used, current_setting('max_connections')::integer as most
     from pg_stat_activity where backend_type = 'client backend'`,
  );
  const { used, most } = row as { used: number; most: number };
  return [judgeConnections(used, most)];
}

export function judgeConnections(used: number, most: number): Finding {
  const says = `${used} of ${most} in use`;
  if (used < most * 0.8) return { check: 'connections', level: 'ok', says };
  return {
    check: 'connections',
    level: used < most * 0.95 ? 'warning' : 'error',
    says,
    means: 'A worker that finds no free connection cannot claim or report.',
    remedy: 'Lower the pool sizes (`max`), put a pooler in between, or raise max_connections.',
  };
}

interface OpenTransaction {
  readonly pid: number;
  readonly who: string;
  readonly application: string;
  readonly state: string;
  readonly age_s: number;
}

export async function transactions(db: Session, longerThan = '5 minutes'): Promise<Finding[]> {
  const open = await db.rows<OpenTransaction>(
    `select pid, coalesce(usename, '?') as who, coalesce(application_name, '') as application, coalesce(state, '?') as state,
       extract(epoch from clock_timestamp() - xact_start)::float8 as age_s
     from pg_stat_activity where xact_start < clock_timestamp() - $1::interval and pid <> pg_backend_pid() and backend_type = 'client backend'
     order by xact_start limit 10`,
    [longerThan],
  );
  const [row] = await db.rows<{ all: boolean }>(`select pg_has_role('pg_read_all_stats', 'usage') as "all"`);
  const blind = row?.all ? '' : ' that this user may see';
  if (open.length === 0) return [{ check: 'transactions', level: 'ok', says: `None${blind} is open longer than ${longerThan}` }];
  const who = open.map(({ pid, who, application, state, age_s }) =>
    oneLine(`${who}${application ? ` (${application})` : ''} for ${span(age_s * 1000)}, ${state}, process ${pid}`),
  );
  return [
    {
      check: 'transactions',
      level: 'warning',
      says: `${plural(open.length, 'transaction')} open longer than ${longerThan}: ${who.join('; ')}`,
      means: 'While it is open, PostgreSQL cannot clean up what was deleted since it began, anywhere in the database.',
      remedy: 'End it where it was begun, or with select pg_terminate_backend(PROCESS).',
    },
  ];
}

export const connectionChecks: Checks = { connection, clock, connections, transactions: (db) => transactions(db) };
