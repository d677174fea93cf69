/**
 * For the tests of programs that use Writ: a database of its own for every test, copied from a
 * template in milliseconds; a clock that can be moved, which leases, delays and retries follow; and
 * a way to run jobs until none is left. Everything on a real PostgreSQL.
 */
import { createHash, randomBytes } from 'node:crypto';
import pg from 'pg';
import type { ConnectOptions } from '../connect-options.js';
import { type EmbeddedServer, startEmbedded } from '../database/embedded.js';
import { migrate } from '../database/migrate.js';
import { readMigrations, readSchemaObjects } from '../database/schema.js';
import { type Duration, milliseconds } from '../queue/duration.js';
import type { HandledJob } from '../queue/job.js';
import type { WorkerOptions } from '../queue/worker/options.js';
import { Writ } from '../writ.js';

export {
  type FaultHook,
  type FaultPoint,
  faultPoints,
  onFaultPoint,
} from '../queue/worker/fault-points.js';
export { type GeneratorOptions, generateSignals } from './signals.js';
export { Simulation, type SimulationOptions, type World } from './simulation.js';

export interface TestClock {
  /** Moves the clock of every gate in this database on; what is due becomes due. */
  advance(by: Duration): Promise<void>;
  /** Back to real time. */
  reset(): Promise<void>;
}

export interface TestDatabase {
  /** Through the pooler, where WRIT_TEST_POOLER_URL names one. */
  readonly connectionString: string;
  /**
   * Past the pooler: for LISTEN, and for whatever needs a session. Without a pooler the same as
   * connectionString.
   */
  readonly directConnectionString: string;
  readonly clock: TestClock;
  /** Connects; closed together with the database. */
  connect(
    options?: Pick<
      ConnectOptions,
      | 'max'
      | 'actor'
      | 'artifacts'
      | 'secrets'
      | 'secretsCache'
      | 'writeBudget'
      | 'spool'
      | 'observe'
    >,
  ): Promise<Writ>;
  /** Runs one statement as the administrator, for looking behind the gates. */
  query(sql: string, params?: unknown[]): Promise<Record<string, unknown>[]>;
  /** Closes what was connected, and drops the database. */
  drop(): Promise<void>;
}

let embedded: Promise<EmbeddedServer> | undefined;

/**
 * The server that tests use: WRIT_TEST_DATABASE_URL (an administrator's), or an embedded one that
 * this process starts once. Where WRIT_TEST_POOLER_URL leads to the same server through a pooler,
 * everything but LISTEN and the making of databases goes that way.
 */
async function server(): Promise<string> {
  const given = process.env.WRIT_TEST_DATABASE_URL;
  if (given) return given;
  embedded ??= startEmbedded({ settings: { fsync: 'off', max_connections: '200' } });
  return (await embedded).connectionString;
}

/**
 * What this process keeps of a server. A connection for each database made and each dropped would
 * cost as much as the dropping does.
 */
interface Kept {
  readonly administrator: pg.Pool;
  readonly template: Promise<string>;
}

const keptOf = new Map<string, Kept>();

function kept(admin: string): Kept {
  const before = keptOf.get(admin);
  if (before) return before;
  const administrator = new pg.Pool({ connectionString: admin, max: 1, allowExitOnIdle: true });
  // a server that stops under it; the next statement says so
  administrator.on('error', () => undefined);
  const made = { administrator, template: template(admin) };
  keptOf.set(admin, made);
  return made;
}

/** Ends the embedded server, if this process started one. */
export async function stopTestServer(): Promise<void> {
  const running = embedded;
  embedded = undefined;
  const stopping = await running;
  if (!stopping) return;
  await keptOf.get(stopping.connectionString)?.administrator.end();
  keptOf.delete(stopping.connectionString);
  await stopping.stop();
}

const urlOf = (admin: string, database: string): string => {
  const url = new URL(admin);
  url.pathname = `/${database}`;
  return url.toString();
};

async function asAdministrator<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

/**
 * A connection that has been closed here is on its way out there for a moment. Thrown out in it,
 * its client would tell nobody but the process.
 */
async function untilLeft(client: pg.Pool, database: string): Promise<void> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const { rows } = await client.query(
      'select exists (select from pg_stat_activity where datname = $1) as yes',
      [database],
    );
    if (!rows[0].yes) return;
    await new Promise((resume) => setTimeout(resume, 10));
  }
}

/**
 * A database for a test lives for minutes: a few days of partitions are enough, and copied in half
 * the time. One more than are kept, or a test at midnight would see them made.
 */
async function fewPartitions(client: pg.Client): Promise<void> {
  await client.query(
    `update writ_data.dot_config set value = '3' where key = 'queue.partition.days_ahead'`,
  );
  const { rows } =
    await client.query(`select format('drop table writ_data.%I', c.relname) as sql from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where c.relkind = 'r' and c.relnamespace = 'writ_data'::regnamespace and c.relname ~ '_[0-9]{8}$' and right(c.relname, 8) > to_char(clock_timestamp() at time zone 'UTC' + interval '4 days', 'YYYYMMDD')`);
  for (const { sql } of rows) await client.query(sql);
}

/** One template per version of the schema and day; whoever comes first makes it. */
async function template(admin: string): Promise<string> {
  const schema = [...readMigrations(), ...readSchemaObjects()].map((part) => part.sha256).join();
  const day = new Date().toISOString().slice(0, 10).replaceAll('-', '');
  const name = `writ_template_${createHash('sha256').update(schema).digest('hex').slice(0, 12)}_${day}`;
  await asAdministrator(admin, async (client) => {
    await client.query(`select pg_advisory_lock(hashtextextended('writ.template', 0))`);
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
    if (rowCount) return;
    // Made under another name first: a template that exists is a template that is complete.
    await client.query(`drop database if exists ${name}_new`);
    await client.query(`create database ${name}_new`);
    await asAdministrator(urlOf(admin, `${name}_new`), async (fresh) => {
      await migrate(fresh, { enable: true });
      await fewPartitions(fresh);
    });
    await client.query(`alter database ${name}_new rename to ${name}`);
  });
  return name;
}

/** A fresh database with Writ installed and switched on. */
export async function testDatabase(): Promise<TestDatabase> {
  const admin = await server();
  const { administrator, template } = kept(admin);
  const from = await template;
  const name = `writ_test_${randomBytes(6).toString('hex')}`;
  // Files are copied faster than written to the WAL, but with a checkpoint, which is cheap only
  // where nothing is flushed.
  const { rows } = await administrator.query(`select current_setting('fsync') = 'off' as unsafe`);
  await administrator.query(
    `create database ${name} template ${from}${rows[0].unsafe ? ' strategy file_copy' : ''}`,
  );
  const directConnectionString = urlOf(admin, name);
  const connectionString = urlOf(process.env.WRIT_TEST_POOLER_URL || admin, name);
  const pool = new pg.Pool({ connectionString, max: 2 });
  // The database is dropped under it, perhaps while a connection is on its way out.
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  const connected: Writ[] = [];
  let offsetMs = 0;
  const setClock = async () => {
    // Replaced, not set: a setting could be changed by any role, a function only by its owner.
    await pool.query(
      `create or replace function writ.now() returns timestamptz language sql volatile
       as $$ select pg_catalog.clock_timestamp() + interval '${offsetMs} milliseconds' $$`,
    );
  };
  return {
    connectionString,
    directConnectionString,
    clock: {
      advance: async (by) => {
        offsetMs += milliseconds(by);
        await setClock();
      },
      reset: async () => {
        offsetMs = 0;
        await setClock();
      },
    },
    connect: async (options = {}) => {
      const writ = await Writ.connect({
        connectionString,
        listenConnectionString: directConnectionString,
        ...options,
      });
      connected.push(writ);
      return writ;
    },
    query: async (sql, params) => (await pool.query(sql, params)).rows,
    drop: async () => {
      await Promise.all(connected.map((writ) => writ.close()));
      await pool.end();
      await untilLeft(administrator, name);
      await administrator.query(`drop database if exists ${name} with (force)`);
    },
  };
}

export interface RunUntilIdleOptions extends WorkerOptions {
  /** Moves this database's clock over delays and retries instead of waiting for them. */
  readonly skipTime?: TestDatabase;
  /** Gives up after this much real time; 30 s unless given. */
  readonly within?: Duration;
}

/** Works until nothing of these kinds is queued or running and, with `skipTime`, nothing waits. */
export async function runUntilIdle(
  writ: Writ,
  handlers: readonly HandledJob[],
  options: RunUntilIdleOptions = {},
): Promise<void> {
  const { skipTime, within = '30s', ...workerOptions } = options;
  const giveUpAt = Date.now() + milliseconds(within);
  const kinds = handlers.map((handled) => handled.job.kind);
  const worker = await writ.work(handlers, {
    poll: '20ms',
    onError: () => undefined,
    ...workerOptions,
  });
  try {
    for (;;) {
      const health = await writ.jobs.health({ kinds });
      if (health.backlog === 0 && health.in_progress === 0) {
        if (!skipTime || health.waiting === 0) return;
        const [row] = await skipTime.query(
          'select greatest(1, ceil(extract(epoch from min(process_after) - writ.now()) * 1000))::bigint as ms from writ.job_queue where status in ($1, $2) and job_kind = any ($3)',
          ['queued', 'retry_waiting', kinds],
        );
        if (row?.ms) await skipTime.clock.advance(Number(row.ms));
      }
      if (Date.now() > giveUpAt) throw new Error(`not idle: ${JSON.stringify(health)}`);
      await new Promise((resume) => setTimeout(resume, 10));
    }
  } finally {
    await worker.stop();
  }
}
