/**
 * Who waits for the end of runs, or of governance jobs. A worker of this process tells at once which it has ended; for the others one question covers all that are waited for, ten times a second,
 * and less often the longer nothing happens.
 */
import type { Queryable } from '../database/connection.js';
import { readRows } from '../database/gate.js';
import { type ErrorCode, isConnectionLoss, WritError } from '../errors/index.js';

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
  readonly #waiting = new Map<string, Set<Waiter>>();
  #timer: NodeJS.Timeout | undefined;
  #everyMs = firstMs;
  #closed = false;

  /** `ended` answers id and status of those of $1 that have ended, and of those that are not there, without a status. */
  constructor(db: Queryable, ended: string, missing: ErrorCode) {
    this.#db = db;
    this.#ended = ended;
    this.#missing = missing;
  }

  /** Resolves when the run has ended. */
  ended(runId: string, timeoutMs?: number): Promise<void> {
    if (this.#closed) return Promise.reject(new WritError('closed'));
    return new Promise((resolve, reject) => {
      let late: NodeJS.Timeout | undefined;
      const waiter = {
        done: () => {
          clearTimeout(late);
          resolve();
        },
        failed: (error: unknown) => {
          clearTimeout(late);
          reject(error);
        },
      };
      const waiters = this.#waiting.get(runId) ?? new Set();
      waiters.add(waiter);
      this.#waiting.set(runId, waiters);
      if (timeoutMs !== undefined) {
        late = setTimeout(() => {
          waiters.delete(waiter);
          if (waiters.size === 0) this.#waiting.delete(runId);
          reject(new WritError('run_not_finished', `${runId} after ${timeoutMs} ms`));
        }, timeoutMs);
      }
      this.#everyMs = firstMs;
      this.#timer ??= setTimeout(() => void this.#look(), firstMs);
    });
  }

  /** Whether anybody waits. */
  get waited(): boolean {
    return this.#waiting.size > 0;
  }

  hear(runIds: readonly string[]): void {
    for (const runId of runIds) {
      const waiters = this.#waiting.get(runId);
      this.#waiting.delete(runId);
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
      // While the database is away, nothing has ended that we could hear of.
      if (!isConnectionLoss(error))
        for (const id of [...this.#waiting.keys()]) this.#fail(id, error);
    }
    this.#timer =
      this.#waiting.size > 0 && !this.#closed
        ? setTimeout(() => void this.#look(), this.#everyMs)
        : undefined;
  }

  #fail(runId: string, error: unknown): void {
    const waiters = this.#waiting.get(runId);
    this.#waiting.delete(runId);
    for (const waiter of waiters ?? []) waiter.failed(error);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    for (const runId of [...this.#waiting.keys()]) this.#fail(runId, new WritError('closed'));
  }
}
