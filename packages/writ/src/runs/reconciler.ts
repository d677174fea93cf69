/**
 * Starts runs that were queued. Every worker looks; it keeps nothing in mind, and any number may do
 * it at once.
 */
import type { Queryable } from '../database/connection.js';
import { gate, unlessBrokenOff } from '../database/gate.js';

const soonMs = 50;

/** One look. Answers in how many milliseconds to look again, if sooner than usual. */
export async function startQueuedRuns(
  db: Queryable,
  workerId: string,
): Promise<number | undefined> {
  const { runs, next_ms: next } = await unlessBrokenOff(() =>
    gate<{ runs: string[]; next_ms: number | null }>(db, 'fn_run_dequeue_many($1)', [workerId]),
  );
  // Where some were started there may be more, and room for them soon.
  return runs.length > 0 ? soonMs : (next ?? undefined);
}
