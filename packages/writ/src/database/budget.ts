/**
 * The write budget: how long the database may take with a write before the caller is told that
 * nobody knows.
 */
import { WritError } from '../errors/index.js';

export const defaultBudgetMs = 3_000;
const longestMs = 3_600_000;

/** A budget, if these milliseconds can be one. */
export function budget(ms: number): number {
  if (ms < 1 || ms > longestMs)
    throw new WritError('invalid_argument', 'writeBudget is from 1 ms to 1 h');
  return ms;
}

/**
 * What `asked` answers, or WRITE_BUDGET_EXCEEDED after `ms`; what becomes of it then, nobody hears.
 */
export async function inTime<T>(asked: Promise<T>, ms: number, call: string): Promise<T> {
  let late: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    late = setTimeout(() => reject(overBudget(call, ms)), Math.max(0, ms));
  });
  asked.catch(() => undefined);
  try {
    return await Promise.race([asked, over]);
  } finally {
    clearTimeout(late);
  }
}

export function overBudget(call: string, ms: number, options?: ErrorOptions): WritError {
  return new WritError(
    'WRITE_BUDGET_EXCEEDED',
    `${call.replace(/\(.*/s, '')} after ${Math.max(0, Math.round(ms))} ms`,
    options,
  );
}
