/**
 * What goes wrong in a command, as a person should read it: what happened, to what, what to do; and
 * the exit code that says it to a program.
 */

import { remedyOf } from '../errors/advice/codes.js';
import { fromDatabase, WritError } from '../errors/index.js';

export const exitCodes = {
  fine: 0,
  failed: 1,
  usage: 2,
  unavailable: 3,
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export const exitCodeHelp = `
Exit codes:
  0    fine
  1    the command failed, was refused, or found a problem
  2    wrong usage: an unknown command, option or argument
  3    the database cannot be reached, or Writ is not installed there
  130  ended at once by a second Ctrl-C or signal`;

/** A failure that a command itself finds. */
export class Failure extends Error {
  override name = 'Failure';
  readonly exitCode: ExitCode;
  readonly code: string;
  readonly remedy: string;

  constructor(
    exitCode: ExitCode,
    code: string,
    message: string,
    remedy: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.exitCode = exitCode;
    this.code = code;
    this.remedy = remedy;
  }
}

export const wrongUsage = (message: string, remedy: string, options?: ErrorOptions) =>
  new Failure(exitCodes.usage, 'invalid_argument', message, remedy, options);

/** A server that cannot listen where it was told to. */
export function cannotListen(where: string, error: unknown, remedy: string): Failure {
  const { code, message } = error as NodeJS.ErrnoException;
  const why = code === 'EADDRINUSE' ? 'another process uses it' : message;
  return new Failure(
    exitCodes.failed,
    code ?? 'unexpected',
    `Cannot listen on ${where}: ${why}.`,
    remedy,
    {
      cause: error,
    },
  );
}

export interface Explanation {
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
  readonly exitCode: ExitCode;
}

const unavailable = [
  'database_unreachable',
  'schema_missing',
  'schema_behind',
  'schema_newer',
  'schema_changed',
  'schema_prerelease',
  'embedded_unavailable',
  'dev_record_untrusted',
];
const usage = [
  'invalid_argument',
  'invalid_duration',
  'invalid_secrets_place',
  'vault_not_configured',
];

export function explain(thrown: unknown): Explanation {
  const error = asWritError(fromDatabase(thrown));
  if (error instanceof Failure) return error;
  if (error instanceof WritError) {
    const exitCode = unavailable.includes(error.code)
      ? exitCodes.unavailable
      : usage.includes(error.code)
        ? exitCodes.usage
        : exitCodes.failed;
    return { code: error.code, message: error.message, remedy: remedyOf(error), exitCode };
  }
  const { code } = error as { code?: unknown };
  return {
    code: typeof code === 'string' ? code : 'unexpected',
    message: error instanceof Error && error.message ? error.message : String(error),
    remedy: 'Run it again with --debug to see where it happened.',
    exitCode: exitCodes.failed,
  };
}

/**
 * Commands look at Writ's own objects only, so one that is not there means a schema that is older
 * than this package.
 */
function asWritError(error: unknown): unknown {
  if (error instanceof WritError || !(error instanceof Error)) return error;
  const { code } = error as Error & { code?: string };
  const missing = code === '42P01' || code === '42883' || code === '42703';
  return missing && /\bwrit/.test(error.message)
    ? new WritError('schema_behind', error.message, { cause: error })
    : error;
}
