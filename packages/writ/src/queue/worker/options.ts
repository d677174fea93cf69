/** What a worker is given: by whoever starts it, and by the connection that it belongs to. */
import type pg from 'pg';
import type { PreparedPool } from '../../database/prepared.js';
import { WritError } from '../../errors/index.js';
import type { ArtifactStore } from '../artifacts.js';
import { type Duration, milliseconds } from '../duration.js';
import type { Look } from './clockwork.js';
import type { ClaimedJob, StepOfRun } from './context.js';
import type { ErrorListener } from './listeners.js';

export interface WorkerOptions {
  /** Handlers that run at the same time; 10 unless given. */
  readonly concurrency?: number;
  /**
   * Length of a lease, half a second at least; it is renewed every third of it. 30 s unless given.
   */
  readonly lease?: Duration;
  /**
   * How long the event loop may stand still before renewal stops, and a look before `health`
   * reports it; 60 s unless given.
   */
  readonly stall?: Duration;
  /** How often to look without being woken; 1 s unless given. */
  readonly poll?: Duration;
  /**
   * How long `stop` waits for running handlers before it aborts and releases their jobs; 10 s
   * unless given.
   */
  readonly grace?: Duration;
  /** Jobs per claim at most; 500 unless given. */
  readonly batch?: number;
  /**
   * Hears of failed attempts and of faults of the worker itself. Prints to standard error unless
   * given.
   */
  readonly onError?: ErrorListener;
  readonly name?: string;
}

/** What the probes of an orchestrator ask a worker. */
export interface WorkerHealth {
  /** Its loops turn. A worker that is not live does not recover; start it again. */
  readonly live: boolean;
  /**
   * It reaches the database and may claim jobs. During an outage a worker is live and not ready.
   */
  readonly ready: boolean;
}

const day = 86_400_000;
/**
 * A shorter one ends before it is renewed, and its jobs count as crashes. `lease: 30` means 30 ms.
 */
const shortestLeaseMs = 500;

/**
 * The options in milliseconds and numbers, with their defaults. A timer of more than 24 days would
 * fire at once, and NaN would stop every loop.
 */
export function worked(options: WorkerOptions) {
  return {
    concurrency: whole('concurrency', options.concurrency ?? 10, 1, 10_000),
    batch: whole('batch', options.batch ?? 500, 1, 5_000),
    leaseMs: whole('lease', milliseconds(options.lease ?? '30s'), shortestLeaseMs, day),
    stallMs: whole('stall', milliseconds(options.stall ?? '60s'), 1, day),
    pollMs: whole('poll', milliseconds(options.poll ?? '1s'), 1, day),
    graceMs: whole('grace', milliseconds(options.grace ?? '10s'), 0, day),
  };
}

function whole(name: string, value: number, least: number, most: number): number {
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new WritError(
    'invalid_argument',
    `${name} of a worker is a whole number from ${least} to ${most}, not ${value}`,
  );
}

/** A job whose handler is about to begin, or asks for a secret. */
export interface AskingJob {
  readonly input: unknown;
  readonly job: ClaimedJob;
  readonly step: StepOfRun | undefined;
}

/** Where handlers get secrets from. */
export interface JobSecrets {
  /**
   * The input with the secrets that belong into it, in memory only; undefined if none does, which
   * for most jobs is found out without waiting.
   */
  filled(asking: AskingJob): Promise<unknown> | undefined;
  secret(asking: AskingJob, name: string): Promise<string>;
}

export interface WorkerHost {
  readonly transactions: pg.Pool;
  readonly gates: PreparedPool;
  /** How long the database may take with a write before it counts as unanswered. */
  readonly writeBudgetMs: number;
  readonly connection: pg.ClientConfig;
  /** For LISTEN, where the pool goes through a pooler that cannot. */
  readonly listenConnection: pg.ClientConfig;
  /** Where handlers put what is too large for a row. */
  readonly artifacts?: ArtifactStore | undefined;
  /** What layers above do at each look of the worker. */
  readonly looks: readonly Look[];
  /** Whether the login has writ_engine, and so turns the clockwork. */
  readonly engine: boolean;
  readonly secrets: JobSecrets;
  /** What else stops with the worker. */
  readonly onStopping?: (() => Promise<void>) | undefined;
  /** Hears of runs that ended with a step of this worker. */
  readonly onRunsEnded?: (runIds: readonly string[]) => void;
}
