/**
 * `writ dev`: a PostgreSQL of this folder's own, for as long as the command runs. The data stays in
 * .writ/, and so does its port. A record in a folder of the user's own tells the other commands
 * where the server listens, also one that outlived this command. server.json in .writ/ is for
 * programs of this folder; no command reads it.
 */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Command } from 'commander';
import {
  type DevServer,
  forgetServer,
  isAlive,
  keepRecord,
  madeHere,
  runningServer,
  serverFolder,
  stopServer,
  urlOf,
} from '../../database/dev-servers.js';
import { startEmbedded } from '../../database/embedded.js';
import { withClient } from '../../database/pools.js';
import { WritError } from '../../errors/index.js';
import { Writ } from '../../writ.js';
import { wholeNumber } from '../command.js';
import { cannotListen, exitCodes, Failure } from '../failure.js';
import type { Output } from '../output.js';
import { outputOf } from '../shapes.js';
import { interruption } from '../signals.js';

export function addDev(program: Command): void {
  program
    .command('dev')
    .description('start an embedded PostgreSQL in .writ/ with Writ installed, until Ctrl-C')
    .option(
      '--port <number>',
      'port to listen on; otherwise the last one, at first a free one',
      wholeNumber(1, 65_535),
    )
    .option('--adopt', 'use a .writ/ that came from elsewhere: the server runs what its data holds')
    .action(async ({ port, adopt }: { port?: number; adopt?: boolean }, command: Command) => {
      const output = outputOf(command);
      const folder = serverFolder();
      const running = runningServer(folder);
      if (running && (await answers(running))) return sayRunning(output, running, true);
      if (!adopt) assertMadeHere(folder);
      await serve(output, folder, port);
    });
}

/**
 * Data from elsewhere may hold anything: settings that run programs, links that lead out of the
 * folder.
 */
function assertMadeHere(folder: string): void {
  const stat = lstatSync(folder, { throwIfNoEntry: false });
  if (
    stat === undefined ||
    madeHere(folder) ||
    (stat.isDirectory() && readdirSync(folder).length === 0)
  )
    return;
  throw new Failure(
    exitCodes.failed,
    'unknown_data',
    `${folder} was not made by \`writ dev\` of this user, and a server runs what its data tells it to.`,
    'If it is yours, as after you moved the folder: `writ dev --adopt`. Otherwise remove it.',
  );
}

function sayRunning(output: Output, server: DevServer, already: boolean): void {
  const { pid } = server;
  const connectionString = urlOf(server);
  if (output.json) {
    output.data({ connectionString, pid, alreadyRunning: already }, { line: true });
    return;
  }
  output.line(
    already
      ? `A server runs in this folder already (process ${pid}; \`kill -INT ${pid}\` stops it).`
      : 'PostgreSQL runs, Writ is installed and switched on.',
  );
  output.line();
  output.line(`  ${output.style('bold', `DATABASE_URL=${connectionString}`)}`);
  output.line(
    `  ${output.style('bold', 'WRIT_TRUST=database')}  so that workers verify approvals: with the keys in this database, as nobody else owns it`,
  );
  output.line();
  if (already) return;
  output.line(
    'Commands in this folder find it by themselves: try `writ queue stats` in another terminal.',
  );
  output.line('Ctrl-C stops it; the data stays in .writ/.');
}

/**
 * The port of the last start: programs and settings that hold the connection string go on working.
 */
function lastPort(folder: string): number | undefined {
  const file = join(folder, 'port');
  const text = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  const port = Number(text);
  return /^\d{1,5}$/.test(text) && port >= 1 && port <= 65_535 ? port : undefined;
}

async function assertFree(port: number): Promise<void> {
  const probe = createServer();
  const error = await new Promise<Error | undefined>((done) => {
    probe.once('error', done);
    probe.listen(port, '127.0.0.1', () => probe.close(() => done(undefined)));
  });
  if (error === undefined) return;
  const remedy =
    'End that process, or choose another port with `writ dev --port N`. Later starts keep that port.';
  throw cannotListen(`port ${port} of 127.0.0.1`, error, remedy);
}

async function serve(output: Output, folder: string, given: number | undefined): Promise<void> {
  if (!output.json)
    output.note(
      existsSync(join(folder, 'data'))
        ? 'Starting PostgreSQL …'
        : 'Creating a PostgreSQL in .writ/ …',
    );
  mkdirSync(folder, { recursive: true });
  keepRecord(folder);
  writeFileSync(join(folder, '.gitignore'), '*\n');
  const port = given ?? lastPort(folder);
  if (port !== undefined) await assertFree(port);
  const server = await startEmbedded({ directory: folder, port });
  const { first, release } = interruption({ alone: true });
  const file = join(folder, 'server.json');
  try {
    await install(server.connectionString);
    const { port: at, password } = new URL(server.connectionString);
    const running: DevServer = {
      pid: server.pid ?? process.pid,
      port: Number(at),
      password: decodeURIComponent(password),
    };
    keepRecord(folder, running);
    writeFileSync(join(folder, 'port'), `${running.port}\n`);
    writeFileSync(
      file,
      `${JSON.stringify({ connectionString: urlOf(running), pid: running.pid }, null, 2)}\n`,
      { mode: 0o600 },
    );
    chmodSync(file, 0o600); // a file that was there keeps its old mode otherwise
    sayRunning(output, running, false);
    const ended = await firstOf(first, running.pid);
    if (ended === 'died') {
      throw new Failure(
        exitCodes.failed,
        'embedded_unavailable',
        'The embedded PostgreSQL ended by itself.',
        'Start it again with `writ dev`.',
      );
    }
    if (!output.json) output.note('Stopping …');
  } finally {
    rmSync(file, { force: true });
    forgetServer(folder);
    await stopServer(server);
    release();
  }
}

async function install(connectionString: string): Promise<void> {
  const writ = await Writ.connect({ connectionString, max: 1 });
  try {
    await writ.migrate({ enable: true });
  } catch (error) {
    if (
      !(error instanceof WritError) ||
      !['schema_changed', 'schema_prerelease'].includes(error.code)
    )
      throw error;
    const remedy =
      'Use the package that made .writ/, or remove .writ/ to begin with an empty database.';
    throw new Failure(exitCodes.unavailable, error.code, error.message, remedy, { cause: error });
  } finally {
    await writ.close();
  }
}

/** A process can be there that is not the server any more; the server is there when it answers. */
async function answers(server: DevServer): Promise<boolean> {
  return withClient(urlOf(server), async () => true, 10_000).catch(() => false);
}

/** What comes first: a signal, or the death of the server's process. */
async function firstOf(
  signal: Promise<NodeJS.Signals>,
  pid: number,
): Promise<NodeJS.Signals | 'died'> {
  let watch: NodeJS.Timeout | undefined;
  const death = new Promise<'died'>((resolve) => {
    watch = setInterval(() => {
      if (!isAlive(pid)) resolve('died');
    }, 500);
  });
  try {
    return await Promise.race([signal, death]);
  } finally {
    clearInterval(watch);
  }
}
