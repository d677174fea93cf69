import type pg from 'pg';
import { WritError } from '../../errors/index.js';
import type { Transaction } from './context.js';

/**
 * A client of a pool as an effect has it: for one transaction. A statement that comes after the
 * effect has ended would run outside every transaction, or in that of the next job, and is refused.
 * One that nobody awaits may fail: that fails the transaction, and not the process.
 */
export class Lent {
  readonly tx: Transaction;
  /** Why the first statement that failed did. */
  failed: unknown;
  #over = false;

  /** `onLate` hears of every statement that was refused. */
  constructor(client: pg.PoolClient, onLate: (error: WritError) => void) {
    const send = client.query as (...args: unknown[]) => unknown;
    const query = (...args: unknown[]) => {
      if (this.#over) return refuse(args, onLate);
      const asked = send.apply(client, args);
      if (asked instanceof Promise)
        asked.catch((error) => {
          this.failed ??= error;
        });
      return asked;
    };
    this.tx = new Proxy(client, {
      get: (target, name) => (name === 'query' ? query : Reflect.get(target, name)),
    });
  }

  end(): void {
    this.#over = true;
  }
}

/**
 * In each of the ways in which a client answers: by a promise, to a callback, or to a query of a
 * library's own.
 */
function refuse(args: readonly unknown[], onLate: (error: WritError) => void): unknown {
  const error = new WritError('transaction_ended');
  onLate(error);
  if (typeof (args[0] as { submit?: unknown } | null)?.submit === 'function') throw error;
  const callback = args.find((one) => typeof one === 'function') as
    | ((error: Error) => void)
    | undefined;
  if (callback) return void setImmediate(callback, error);
  const refused = Promise.reject(error);
  refused.catch(() => undefined); // onLate has heard of it
  return refused;
}
