/**
 * `writ dev`: a PostgreSQL of this folder's own, for as long as the command runs. The data stays in .writ/; server.json there tells the other
 * commands where it listens, and names the server's own process, so that a server that outlived this command is found and used as well.
 */
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { startEmbedded } from '../../database/embedded.js';
import { WritError } from '../../errors/index.js';
import { Writ } from '../../writ.js';
import { contextOf, wholeNumber } from '../command.js';
import { isAlive, runningServer, type ServerFile, serverFile, serverFolder, stopServer, withSession } from '../connection.js';
import { exitCodes, Failure } from '../failure.js';
import type { Output } from '../output.js';
import { interruption } from '../signals.js';

export function addDev(program: Command): void {
  program
    .command('dev')
    .description('start an embedded PostgreSQL in .writ/ with Writ installed, until Ctrl-C')
    .option('--port <number>', 'port to listen on; otherwise a free one', wholeNumber(1, 65_535))
    .action(async ({ port }: { port?: number }, command: Command) => {
      const { output } = contextOf(command);
      const folder = serverFolder();
      const running = runningServer(folder);
      if (running && (await answers(running))) sayRunning(output, running, true);
      else await serve(output, folder, port);
    });
}

function sayRunning(output: Output, { connectionString, pid }: ServerFile, already: boolean): void {
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
  output.line();
  if (already) return;
  output.line('Commands in this folder find it by themselves: try `writ queue stats` in another terminal.');
  output.line('Ctrl-C stops it; the data stays in .writ/.');
}

async function serve(output: Output, folder: string, port: number | undefined): Promise<void> {
  if (!output.json) output.note(existsSync(join(folder, 'data')) ? 'Starting PostgreSQL …' : 'Creating a PostgreSQL in .writ/ …');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, '.gitignore'), '*\n');
  const server = await startEmbedded({ directory: folder, ...(port === undefined ? {} : { port }) });
  const { first, release } = interruption({ alone: true });
  const file = serverFile(folder);
  try {
    await install(server.connectionString);
    const word: ServerFile = { connectionString: server.connectionString, pid: server.pid ?? process.pid };
    writeFileSync(file, `${JSON.stringify(word, null, 2)}\n`, { mode: 0o600 });
    chmodSync(file, 0o600); // a file that was there keeps its old mode otherwise
    sayRunning(output, word, false);
    const ended = await firstOf(first, word.pid);
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
    await stopServer(server);
    release();
  }
}

async function install(connectionString: string): Promise<void> {
  const writ = await Writ.connect({ connectionString, max: 1 });
  try {
    await writ.migrate({ enable: true });
  } catch (error) {
    if (!(error instanceof WritError) || error.code !== 'schema_changed') throw error;
    const remedy = 'Use the package that made .writ/, or remove .writ/ to begin with an empty database.';
    throw new Failure(exitCodes.unavailable, error.code, error.message, remedy, { cause: error });
  } finally {
    await writ.close();
  }
}

/** A process can be there that is not the server any more; the server is there when it answers. */
async function answers({ connectionString }: ServerFile): Promise<boolean> {
  return withSession(connectionString, async () => true, { installed: false }).catch(() => false);
}

/** What comes first: a signal, or the death of the server's process. */
async function firstOf(signal: Promise<NodeJS.Signals>, pid: number): Promise<NodeJS.Signals | 'died'> {
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
