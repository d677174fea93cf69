/**
 * Callers that wait until a job, a run or a governance job has ended. A worker of this process
 * reports at once which runs it has ended. For everything else one statement asks about all that
 * are awaited, ten times a second, and less often the longer nothing ends.
 */
import { type ErrorCode, isConnectionLoss, WritError } from '../errors/index.js';
import type { Queryable } from './connection.js';
import { readRows } from './gate.js';

interface Waiter {
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

const firstMs = 100;
const slowestMs = 1_000;

export class Waiters {
  readonly #db: Queryable;
  readonly #ended: string;
  readonly #missing: ErrorCode;
  readonly #late: ErrorCode;
  readonly #signal: AbortSignal | undefined;
  readonly #waiting = new Map<string, Set<Waiter>>();
  #timer: NodeJS.Timeout | undefined;
  #everyMs = firstMs;
  #closed = false;

  /**
   * `ended` is a statement. It answers id and status of those of $1 that have ended, and of those
   * that do not exist, without a status. `late` is the error of a wait that took too long.
   */
  constructor(
    db: Queryable,
    ended: string,
    missing: ErrorCode,
    signal?: AbortSignal,
    late: ErrorCode = 'run_not_finished',
  ) {
    this.#signal = signal;
    this.#late = late;
    this.#db = db;
    this.#ended = ended;
    this.#missing = missing;
  }

  /**
   * Resolves when it has ended. Rejects when the signal aborts, the connection's own unless given.
   */
  ended(id: string, timeoutMs?: number, signal = this.#signal): Promise<void> {
    if (this.#closed) return Promise.reject(new WritError('closed'));
    if (signal?.aborted) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      let late: NodeJS.Timeout | undefined;
      const settle = () => {
        clearTimeout(late);
        signal?.removeEventListener('abort', aborted);
      };
      const waiter = {
        done: () => {
          settle();
          resolve();
        },
        failed: (error: unknown) => {
          settle();
          reject(error);
        },
      };
      const giveUp = (error: unknown) => {
        waiters.delete(waiter);
        if (waiters.size === 0 && this.#waiting.get(id) === waiters) this.#waiting.delete(id);
        waiter.failed(error);
      };
      const aborted = () => giveUp(signal?.reason);
      signal?.addEventListener('abort', aborted, { once: true });
      const waiters = this.#waiting.get(id) ?? new Set();
      waiters.add(waiter);
      this.#waiting.set(id, waiters);
      if (timeoutMs !== undefined) {
        late = setTimeout(
          () => giveUp(new WritError(this.#late, `${id} after ${timeoutMs} ms`)),
          timeoutMs,
        );
      }
      this.#everyMs = firstMs;
      this.#timer ??= setTimeout(() => void this.#look(), firstMs);
    });
  }

  /** Whether anybody waits. */
  get waited(): boolean {
    return this.#waiting.size > 0;
  }

  hear(ids: readonly string[]): void {
    for (const id of ids) {
      const waiters = this.#waiting.get(id);
      this.#waiting.delete(id);
      for (const waiter of waiters ?? []) waiter.done();
    }
  }

  async #look(): Promise<void> {
    try {
      const rows = await readRows(this.#db, this.#ended, [
        `{${[...this.#waiting.keys()].join(',')}}`,
      ]);
      this.hear(rows.filter(({ status }) => status !== null).map(({ id }) => String(id)));
      for (const { id, status } of rows)
        if (status === null) this.#fail(String(id), new WritError(this.#missing, String(id)));
      this.#everyMs = rows.length > 0 ? firstMs : Math.min(this.#everyMs * 1.25, slowestMs);
    } catch (error) {
      // While the database is away, nothing has ended that this process could know of.
      if (!isConnectionLoss(error))
        for (const id of [...this.#waiting.keys()]) this.#fail(id, error);
    }
    this.#timer =
      this.#waiting.size > 0 && !this.#closed
        ? setTimeout(() => void this.#look(), this.#everyMs)
        : undefined;
  }

  #fail(id: string, error: unknown): void {
    const waiters = this.#waiting.get(id);
    this.#waiting.delete(id);
    for (const waiter of waiters ?? []) waiter.failed(error);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const id of [...this.#waiting.keys()]) this.#fail(id, new WritError('closed'));
  }
}
