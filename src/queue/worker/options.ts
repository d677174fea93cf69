/** What a worker is given: by whoever starts it, and by the connection that it belongs to. */
import type pg from 'pg';
import type { PreparedPool } from '../../database/prepared.js';
import type { Duration } from '../duration.js';
import type { Look } from './clockwork.js';
import type { ErrorListener } from './listeners.js';

export interface WorkerOptions {
  /** Handlers that run at the same time; 10 unless given. */
  readonly concurrency?: number;
  /** Length of a lease; it is renewed every third of it. 30 s unless given. */
  readonly lease?: Duration;
  /** How long the event loop may stand still before renewal stops; 60 s unless given. */
  readonly stall?: Duration;
  /** How often to look without being woken; 1 s unless given. */
  readonly poll?: Duration;
  /** How long `stop` waits for running handlers before it aborts and releases their jobs; 10 s unless given. */
  readonly grace?: Duration;
  /** Jobs per claim at most; 500 unless given. */
  readonly batch?: number;
  /** Hears of failed attempts and of faults of the worker itself. Prints to standard error unless given. */
  readonly onError?: ErrorListener;
  readonly name?: string;
}

export interface WorkerHost {
  readonly transactions: pg.Pool;
  readonly gates: PreparedPool;
  readonly connection: pg.ClientConfig;
  /** For LISTEN, where the pool goes through a pooler that cannot. */
  readonly listenConnection: pg.ClientConfig;
  /** What layers above do at each look of the worker. */
  readonly looks: readonly Look[];
  /** Hears of runs that ended with a step of this worker. */
  readonly onRunsEnded?: (runIds: readonly string[]) => void;
}
