#!/usr/bin/env node
/** The command `writ`. Each command is a file in commands/; here is what they share: help, options, errors and exit codes. */
import { readFileSync } from 'node:fs';
import { Command, CommanderError } from 'commander';
import { addDemo } from './commands/demo.js';
import { addDev } from './commands/dev.js';
import { addDoctor } from './commands/doctor.js';
import { addMigrate } from './commands/migrate.js';
import { addQueue } from './commands/queue/index.js';
import { addSettings } from './commands/settings.js';
import { addWorker } from './commands/worker.js';
import { exitCodeHelp, exitCodes, explain } from './failure.js';
import { redact } from './secrets.js';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string };

const program = new Command('writ')
  .description('Jobs on PostgreSQL that are never lost, never repeated, and always on the record.')
  .version(version)
  .option('--database-url <url>', 'the database; otherwise DATABASE_URL, otherwise the server of `writ dev` in this folder')
  .option('--json', 'print data as JSON, for programs')
  .option('--debug', 'print stack traces')
  .configureHelp({ showGlobalOptions: true })
  .addHelpText('after', exitCodeHelp)
  .showHelpAfterError('See --help.')
  .exitOverride();

for (const add of [addDev, addDemo, addMigrate, addWorker, addQueue, addSettings, addDoctor]) add(program);

function report(error: unknown): number {
  // Commander has printed its own message already.
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.fine : exitCodes.usage;
  const { json, debug } = program.opts<{ json?: boolean; debug?: boolean }>();
  const { code, message, remedy, exitCode } = explain(error);
  const text = json ? JSON.stringify({ error: { code, message, remedy } }) : `writ: ${message}\n      ${remedy}`;
  const trace =
    debug && error instanceof Error ? `\n${error.stack}${error.cause instanceof Error ? `\ncause: ${error.cause.stack}` : ''}` : '';
  process.stderr.write(`${redact(text + trace)}\n`);
  return exitCode;
}

// A reader that stops reading, such as `head`, is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? exitCodes.fine : exitCodes.failed));

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = report(error);
}
// Said explicitly: the embedded server's package would otherwise end an idle process with 0, whatever had happened.
process.exit(process.exitCode ?? exitCodes.fine);
