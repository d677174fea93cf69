import { countEach, measure, measuring } from '../../telemetry/meter.js';
import type { ClaimAnswer } from './claims.js';
import { type ContextHost, WorkItem } from './context.js';
import type { Outcome } from './outcome.js';

export interface Reported {
  readonly position: number;
  readonly outcome: Outcome;
}

/**
 * A claimed batch as the worker sees it. Jobs run in its order: those up to `startedUpto` may run,
 * because the database knows that they are started and charges them if this process dies; the rest
 * are innocent until the mark moves on.
 */
export class Lease {
  readonly token: string;
  readonly items: readonly WorkItem[];
  /** How long a handler may run whose kind does not say. */
  readonly timeoutMs: number;
  /** Its one job is suspected of killing its worker: nothing runs beside it. */
  readonly alone: boolean;
  /** Places 1…startedUpto are marked as started in the database. */
  startedUpto: number;
  /** How many have been handed to a handler. */
  begun = 0;
  /** So many, the first ones, are still here. Those behind went back. */
  held: number;
  /** Outcomes that the database has not been told yet. */
  outcomes: Reported[] = [];
  /** Jobs whose end the database has not confirmed. */
  open: number;
  reporting = false;
  /** Some of its jobs have spans, which want to know when the database has been told. */
  traced = false;
  /**
   * The database no longer knows the token: nothing of it may be reported, and its handlers should
   * stop.
   */
  lost = false;

  constructor(
    token: string,
    items: readonly WorkItem[],
    startedUpto: number,
    timeoutMs: number,
    alone: boolean,
  ) {
    this.alone = alone;
    this.token = token;
    this.timeoutMs = timeoutMs;
    this.items = items;
    this.held = items.length;
    this.open = items.length;
    this.startedUpto = Math.min(startedUpto, items.length);
  }

  /** What a claim answered. */
  static of(
    { lease_token: token, jobs, started_upto, timeout_s, alone = false }: ClaimAnswer,
    host: ContextHost,
  ): Lease {
    const items = jobs.map((row, index) => new WorkItem(row, index + 1, token, host));
    if (measuring()) {
      countEach(
        'writ.jobs.claimed',
        items.map(({ kind }) => kind),
      );
      for (const { kind, queueMs } of items)
        if (queueMs !== undefined) measure('writ.job.queue_time', queueMs / 1_000, kind);
    }
    return new Lease(token, items, started_upto, timeout_s * 1000, alone);
  }

  get unstarted(): number {
    return Math.max(0, this.held - this.startedUpto);
  }

  get readyToRun(): number {
    return Math.min(this.startedUpto, this.held) - this.begun;
  }

  /** Jobs that no handler has been given. */
  get waiting(): readonly WorkItem[] {
    return this.items.slice(this.begun, this.held);
  }
}

export const holds = (leases: Iterable<Lease>, jobId: string): boolean =>
  [...leases].some((lease) => lease.items.some((item) => item.id === jobId));
