import { printable } from '../../errors/printable.js';
import { redactError } from '../../secrets/redaction.js';

/** Who hears of trouble, unless somebody else wants to: standard error. */
export type ErrorListener = (
  error: unknown,
  job?: { id: string; kind: string; attempt: number },
) => void;

/** A listener that throws must not stop the worker that tells it something, and none is told a secret. */
export function guarded(listener: ErrorListener): ErrorListener {
  return (thrown, job) => {
    const error = redactError(thrown);
    try {
      listener(error, job);
    } catch (failure) {
      printError(redactError(failure));
      printError(error, job);
    }
  };
}

export function printError(
  error: unknown,
  job?: { id: string; kind: string; attempt: number },
): void {
  const message = error instanceof Error ? error.message : String(error);
  const text = job
    ? `writ: ${job.kind} ${job.id} attempt ${job.attempt}: ${message}`
    : `writ: ${message}`;
  process.stderr.write(`${printable(text)}\n`);
}
