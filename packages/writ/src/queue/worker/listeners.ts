import { WritError } from '../../errors/index.js';
import { printable } from '../../errors/printable.js';
import { asError, longestStack, stackOf, unreadable } from '../../errors/thrown.js';
import { redactError } from '../../secrets/redaction.js';

/** Who hears of trouble, unless somebody else wants to: standard error. */
export type ErrorListener = (
  error: unknown,
  job?: { id: string; kind: string; attempt: number },
) => void;

/**
 * A listener that throws must not stop the worker that tells it something, and none is told a
 * secret.
 */
export function guarded(listener: ErrorListener): ErrorListener {
  return (thrown, job) => {
    const error = redacted(thrown);
    tell(
      () => listener(error, job),
      () => printError(error, job),
    );
  };
}

/**
 * Calls a listener of a program's own. If it throws, or its promise fails, that is printed, and
 * nobody else is stopped by it.
 */
export function tell(listen: () => unknown, otherwise?: () => void): void {
  const fail = (failure: unknown) => {
    printError(redacted(failure));
    otherwise?.();
  };
  try {
    void Promise.resolve(listen()).catch(fail);
  } catch (failure) {
    fail(failure);
  }
}

/** An error without secrets, which can be read. */
function redacted(thrown: unknown): unknown {
  try {
    return redactError(thrown);
  } catch {
    return unreadable();
  }
}

/** Prints what happened and, of a failed attempt, where. */
export function printError(
  error: unknown,
  job?: { id: string; kind: string; attempt: number },
): void {
  const { message } = asError(error);
  const lines = [
    job ? `writ: ${job.kind} ${job.id} attempt ${job.attempt}: ${message}` : `writ: ${message}`,
  ];
  if (job && !(error instanceof WritError)) {
    const stack = stackOf(error).slice(0, longestStack).split('\n');
    lines.push(
      ...stack
        .filter((line) => /^\s+at |^Caused by: /.test(line))
        .map((line) => `  ${line.trim()}`),
    );
  }
  process.stderr.write(lines.map((line) => `${printable(line)}\n`).join(''));
}
