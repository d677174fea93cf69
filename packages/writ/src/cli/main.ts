#!/usr/bin/env node
/**
 * The command `writ`. Each command is a file in commands/; here is what they share: errors and exit
 * codes.
 */
import { CommanderError } from 'commander';
import { printableJson } from '../errors/printable.js';
import { redact } from '../secrets/passwords.js';
import { exitCodes, explain } from './failure.js';
import { onScreen } from './output.js';
import { addNamed, program } from './program.js';

/** No line of a message that others wrote begins as one of ours does. */
const indented = (line: string): string => (line.startsWith('    at ') ? line : `  ${line}`);

function report(error: unknown): number {
  // Commander has printed its own message already.
  if (error instanceof CommanderError)
    return error.exitCode === 0 ? exitCodes.fine : exitCodes.usage;
  const { json, debug } = program.opts<{ json?: boolean; debug?: boolean }>();
  const { code, message, remedy, exitCode } = explain(error);
  if (json)
    process.stderr.write(
      `${printableJson(redact(JSON.stringify({ error: { code, message, remedy } })))}\n`,
    );
  const said = json ? [] : [`writ: ${message}`, `      ${remedy}`];
  const traced = debug ? [error, error instanceof Error ? error.cause : undefined] : [];
  const traces = traced
    .filter((each) => each instanceof Error)
    .map(({ stack = '' }, i) => (i === 0 ? stack : `cause: ${stack}`));
  for (const line of [...said, ...traces.flatMap((trace) => trace.split('\n').map(indented))])
    process.stderr.write(`${onScreen(redact(line))}\n`);
  return exitCode;
}

// A reader that stops reading, such as `head`, is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) =>
  process.exit(error.code === 'EPIPE' ? exitCodes.fine : exitCodes.failed),
);

try {
  await addNamed(process.argv.slice(2));
  await program.parseAsync();
} catch (error) {
  process.exitCode = report(error);
}
// Said explicitly, so that nothing left open keeps a finished command alive.
process.exit(process.exitCode ?? exitCodes.fine);
