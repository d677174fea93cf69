/**
 * The jobs that are in the hands of handlers: runs them, tells them to stop (timeout, deadline,
 * cancel, lost lease, shutdown), and ends without them those that do not. A handler that is told to
 * stop has a second to settle; after that its job is reported and its slot is free, and what it
 * still tries to commit is refused by the database.
 */
import { WritError } from '../../errors/index.js';
import { asError, unreadable } from '../../errors/thrown.js';
import { executing } from '../../telemetry/execution.js';
import { count, measure, measuring } from '../../telemetry/meter.js';
import { milliseconds } from '../duration.js';
import type { HandledJob } from '../job.js';
import { finish } from './committing.js';
import type { WorkItem } from './context.js';
import { pass } from './fault-points.js';
import type { Lease } from './lease.js';
import { failureOf, judge, type Outcome } from './outcome.js';
import type { Pace } from './pace.js';
import { resultJson } from './result.js';

const settleMs = 1_000;

interface Running {
  readonly item: WorkItem;
  readonly lease: Lease;
  readonly timeoutMs: number;
  /** By the monotonic clock, if somebody measures. */
  readonly began: number;
  stoppedAt: number | undefined;
  ended: boolean;
}

export interface HandlersOptions {
  readonly concurrency: number;
  readonly pace: Pace;
  readonly handlers: ReadonlyMap<string, HandledJob>;
  /** An attempt failed. */
  readonly onFailure: (error: unknown, item: WorkItem) => void;
  /** A handler returned secrets, which were replaced by their names. */
  readonly onRedacted: (item: WorkItem, names: readonly string[]) => void;
  /**
   * A job left the hands of its handler. Without an outcome nothing may be reported: it is no
   * longer ours.
   */
  readonly onEnd: (lease: Lease, item: WorkItem, outcome: Outcome | undefined) => void;
}

export class Handlers {
  readonly #options: HandlersOptions;
  readonly #running = new Set<Running>();
  lastBeginAt = Number.NEGATIVE_INFINITY;

  constructor(options: HandlersOptions) {
    this.#options = options;
  }

  /** How many more could run at once. */
  get free(): number {
    return this.#options.concurrency - this.#running.size;
  }

  get running(): number {
    return this.#running.size;
  }

  runningOf(lease: Lease): number {
    let jobs = 0;
    for (const running of this.#running) if (running.lease === lease) jobs++;
    return jobs;
  }

  async run(lease: Lease, item: WorkItem): Promise<void> {
    const handled = this.#options.handlers.get(item.kind);
    const timeout = handled?.job.options.timeout;
    const ofKind = timeout === undefined ? lease.timeoutMs : milliseconds(timeout);
    const timeoutMs = Math.min(item.timeoutMs ?? ofKind, ofKind);
    const running: Running = {
      item,
      lease,
      timeoutMs,
      began: measuring() ? performance.now() : 0,
      stoppedAt: undefined,
      ended: false,
    };
    this.#options.pace.began(this.#running.size);
    this.#running.add(running);
    item.startedAt = performance.now();
    this.lastBeginAt = item.startedAt;
    item.execution = executing(item);
    if (item.execution) lease.traced = true;
    let outcome: Outcome | undefined;
    try {
      await pass('started', item.id);
      if (item.abortedWith) throw item.abortedWith; // cancelled before its turn came
      if (!handled) throw new WritError('no_handler', item.kind);
      const filling = item.step && item.fill();
      if (filling) {
        await filling;
        if (item.abortedWith) throw item.abortedWith; // whoever keeps the secrets took too long
      }
      if (handled.job.validated) item.input = await handled.job.parse(item.input);
      const returned = await (item.execution
        ? item.execution.within(() => handled.run(item as never))
        : handled.run(item as never));
      if (item.commits) await finish(item.commits);
      const result = resultJson(returned, item);
      if (item.redacted) this.#options.onRedacted(item, item.redacted);
      // References go into the event of the step with its commit: the report of many steps at once
      // has no place for them.
      if (item.step && item.hasArtifacts && !item.committed) await item.commit(() => returned);
      // The output of a step that has committed is what committed with it.
      outcome = { type: 'succeeded', result: item.committed && item.step ? undefined : result };
    } catch (thrown) {
      // they decide whether the effect stands
      if (item.commits) await finish(item.commits).catch(() => undefined);
      outcome = this.#judge(thrown, item);
    }
    this.#end(running, outcome);
  }

  #judge(thrown: unknown, item: WorkItem): Outcome | undefined {
    let error = asError(thrown);
    let outcome: Outcome | undefined;
    try {
      outcome = judge(error, item);
    } catch {
      error = unreadable(); // a getter that threw only now
      outcome = judge(error, item);
    }
    if (outcome && 'code' in outcome) this.#options.onFailure(failureOf(error, item), item);
    else if (item.committed)
      this.#options.onFailure(
        new WritError('failed_after_commit', error.message, { cause: error }),
        item,
      );
    return outcome;
  }

  #end(running: Running, outcome: Outcome | undefined): void {
    if (running.ended) return; // without its handler, when its time to settle was over
    running.ended = true;
    this.#running.delete(running);
    // Whatever it returned: of a lease that is lost nothing can be reported.
    const told = running.lease.lost && !running.item.committed ? undefined : outcome;
    running.item.execution?.end(told, running.item.committed);
    if (measuring()) this.#measure(running, told);
    this.#options.pace.ended(this.#running.size);
    this.#options.onEnd(running.lease, running.item, outcome);
  }

  #measure({ item, began }: Running, outcome: Outcome | undefined): void {
    const how = outcome?.type ?? 'lost';
    count('writ.jobs.finished', 1, item.kind, how);
    measure('writ.job.duration', (performance.now() - began) / 1_000, item.kind, how);
  }

  /** Tells the handlers of some jobs to stop. */
  stop(reason: WritError, which: (item: WorkItem, lease: Lease) => boolean = () => true): void {
    for (const running of this.#running) {
      if (!which(running.item, running.lease)) continue;
      running.stoppedAt ??= performance.now();
      running.item.stop(reason);
    }
  }

  /**
   * Looks after timeouts, deadlines (which are in the database's time) and handlers that do not
   * stop.
   */
  watch(databaseClockOffset: number): void {
    const now = performance.now();
    for (const running of this.#running) {
      const { item, timeoutMs } = running;
      if (running.stoppedAt !== undefined) {
        if (now - running.stoppedAt > settleMs)
          this.#end(running, this.#judge(item.abortedWith, item));
      } else if (now - item.startedAt > timeoutMs) {
        this.stop(
          new WritError('timeout', `job ${item.id} after ${timeoutMs} ms`),
          (other) => other === item,
        );
      } else if (item.deadline !== undefined && now + databaseClockOffset > item.deadline) {
        this.stop(new WritError('deadline_exceeded', `job ${item.id}`), (other) => other === item);
      }
    }
  }
}
