/**
 * Puts a pooler in transaction mode before a server: `mean`, the pool of this folder, or
 * `pgbouncer`, the real one, as Debian installs it. Either is a process of its own, on loopback,
 * that `stop` ends.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pgbouncerBinary } from './pgbouncer.mjs';

export interface Pooler {
  /** The way through the pooler to the same server. */
  readonly connectionString: string;
  stop(): Promise<void>;
}

export function startPooler(name: string, server: string): Promise<Pooler> {
  if (name === 'mean') return startMean(server);
  if (name === 'pgbouncer') return startPgbouncer(server);
  throw new Error(`WRIT_TEST_POOLER is ${name}, which is neither mean nor pgbouncer`);
}

async function startMean(server: string): Promise<Pooler> {
  const { hostname, port } = new URL(server);
  const child = fork(
    fileURLToPath(new URL('./pool.mjs', import.meta.url)),
    [hostname, port || '5432'],
    { execArgv: [] },
  );
  const [{ port: own }] = (await once(child, 'message')) as [{ port: number }];
  return { connectionString: through(server, own), stop: () => end(child) };
}

/**
 * It has to know passwords to pass them on, and roles come and go in the tests: so the server must
 * let loopback in without one.
 */
async function startPgbouncer(server: string): Promise<Pooler> {
  const binary = pgbouncerBinary();
  if (!binary) throw new Error('pgbouncer is not installed; on Debian: apt-get install pgbouncer');
  const { hostname, port, username } = new URL(server);
  const own = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'writ-pgbouncer-'));
  chmodSync(folder, 0o755); // as root it runs as another user, who reads this
  writeFileSync(join(folder, 'users.txt'), `"${username}" ""\n`);
  writeFileSync(
    join(folder, 'pgbouncer.ini'),
    `[databases]
* = host=${hostname} port=${port || '5432'} auth_user=${username}
[pgbouncer]
pool_mode = transaction
listen_addr = 127.0.0.1
listen_port = ${own}
unix_socket_dir =
auth_type = trust
auth_file = ${join(folder, 'users.txt')}
auth_query = select rolname, '' from pg_catalog.pg_roles where rolname = $1
max_client_conn = 1000
default_pool_size = 20
server_idle_timeout = 1
autodb_idle_timeout = 5
server_login_retry = 1
log_connections = 0
log_disconnections = 0
`,
  );
  const child = spawn(
    binary,
    [...(userInfo().uid === 0 ? ['-u', 'nobody'] : []), join(folder, 'pgbouncer.ini')],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  let said = '';
  child.stderr.on('data', (bytes: Buffer) => {
    said = (said + bytes.toString()).slice(-4_000);
  });
  const stop = async () => {
    await end(child);
    rmSync(folder, { recursive: true, force: true });
  };
  const giveUpAt = Date.now() + 20_000;
  while (!(await answers(own))) {
    if (child.exitCode === null && Date.now() < giveUpAt) continue;
    await stop();
    throw new Error(`pgbouncer did not start: ${said}`);
  }
  return { connectionString: through(server, own), stop };
}

function through(server: string, port: number): string {
  const url = new URL(server);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  return url.toString();
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

function answers(port: number): Promise<boolean> {
  return new Promise((done) => {
    const probe = connect(port, '127.0.0.1');
    probe.once('connect', () => done(probe.end() !== undefined));
    probe.once('error', () => setTimeout(() => done(false), 20));
  });
}

function freePort(): Promise<number> {
  return new Promise((done) => {
    const probe = createServer();
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => done(address && typeof address === 'object' ? address.port : 0));
    });
  });
}
