/**
 * A real nats-server with JetStream, on loopback, that can be killed and started again on what it
 * has stored.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const env = { ...process.env, PATH: `${process.env.PATH}${delimiter}/usr/sbin` };

/** Why there is none here; undefined if there is one. */
export const natsMissing =
  spawnSync('nats-server', ['--version'], { env }).status === 0
    ? undefined
    : 'nats-server is not installed: the bus of NATS is NOT tested here (Debian: apt-get install nats-server)';

export interface NatsServer extends AsyncDisposable {
  readonly url: string;
  /** SIGKILL: nothing is said to anybody, nothing is flushed. */
  kill(): Promise<void>;
  start(): Promise<void>;
}

export async function startNats(...flags: string[]): Promise<NatsServer> {
  const folder = mkdtempSync(join(tmpdir(), 'writ-nats-'));
  const port = await freePort();
  let child: ChildProcess | undefined;
  const kill = async () => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  };
  const start = async () => {
    child = spawn(
      'nats-server',
      ['-js', '-sd', folder, '-a', '127.0.0.1', '-p', String(port), ...flags],
      { env, stdio: 'ignore' },
    );
    await listening(port, child);
  };
  await start();
  return {
    url: `nats://127.0.0.1:${port}`,
    kill,
    start,
    [Symbol.asyncDispose]: async () => {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

/** The server says nothing when it is ready; that it takes a connection is what it says. */
async function listening(port: number, child: ChildProcess): Promise<void> {
  while (child.exitCode === null) {
    const socket = connect(port, '127.0.0.1');
    const open = await Promise.race([
      once(socket, 'connect').then(() => true),
      once(socket, 'error').then(() => false),
    ]).catch(() => false);
    socket.destroy();
    if (open) return;
    await new Promise((resume) => setTimeout(resume, 20));
  }
  throw new Error(`nats-server ended with ${child.exitCode}`);
}
