/**
 * Steps of runs that have succeeded, from any number of leases, are reported together; and the
 * worker goes on with what follows in the same call, under one new lease. So a run does not stand
 * in line between two of its steps, and a step costs one call. For fairness to those who do stand
 * in line, a run is gone on with for ten steps at most before it joins them. One report is on its
 * way at a time: what ends meanwhile travels with the next. Whatever is out of the ordinary is left
 * to the report of its lease.
 */
import type { PreparedPool } from '../../database/prepared.js';
import { uuidv7 } from '../../database/uuid.js';
import { isConnectionLoss, refusalIn } from '../../errors/index.js';
import { count } from '../../telemetry/meter.js';
import type { ClaimAnswer } from './claims.js';
import type { WorkItem } from './context.js';
import { pass } from './fault-points.js';
import type { Lease } from './lease.js';

interface Ended {
  readonly lease: Lease;
  readonly item: WorkItem;
  readonly result: string | undefined;
}

interface Answer {
  readonly unusual?: boolean;
  readonly runs_ended?: string[];
  readonly followed?: boolean;
  readonly next_due_ms?: number;
  readonly next?: ClaimAnswer;
}

export interface StepReportsOptions {
  readonly gates: PreparedPool;
  readonly writeBudgetMs: number;
  readonly workerId: string;
  readonly kinds: readonly string[];
  readonly leaseMs: number;
  /** Whether the worker takes more work at all. */
  readonly goesOn: () => boolean;
  /** Some jobs of a lease have ended. */
  readonly onReported: (lease: Lease, jobs: number) => void;
  /** What follows, for this worker; `streakOf` says how long a run has been gone on with. */
  readonly onNext: (answer: ClaimAnswer, streakOf: (runId: string) => number) => void;
  readonly onAnswer: (answer: {
    runsEnded?: readonly string[];
    followed?: boolean;
    dueMs?: number;
  }) => void;
  /** To be reported the other way. */
  readonly onUnusual: (lease: Lease, item: WorkItem, result: string | undefined) => void;
  /** The answer to a call that may have made this lease was lost. */
  readonly onUnheard: (token: string) => void;
  readonly onError: (error: unknown) => void;
}

const byRun = (a: Ended, b: Ended): number =>
  (a.item.step?.runId ?? '') < (b.item.step?.runId ?? '') ? -1 : 1;

const longestStreak = 10;

export class StepReports {
  readonly #options: StepReportsOptions;
  #waiting: Ended[] = [];
  #sending = false;
  /** Handlers that are kept free for what follows from reports on their way. */
  reserved = 0;

  constructor(options: StepReportsOptions) {
    this.#options = options;
  }

  add(lease: Lease, item: WorkItem, result: string | undefined): void {
    this.#waiting.push({ lease, item, result });
    this.reserved++;
    if (this.#sending) return;
    this.#sending = true;
    void this.#send();
  }

  async #send(): Promise<void> {
    const { onUnusual, onError } = this.#options;
    for (;;) {
      // What was handed out with the last answer may end in this very turn of the event loop: then
      // it travels along.
      await new Promise((turn) => setImmediate(turn));
      if (this.#waiting.length === 0) break;
      const batch = this.#waiting.splice(0, 500);
      const ended = batch.filter(({ lease }) => !lease.lost).sort(byRun);
      try {
        if (ended.length > 0 && !(await this.#report(ended)))
          for (const { lease, item, result } of ended) onUnusual(lease, item, result);
      } catch (error) {
        onError(error);
        for (const { lease, item, result } of ended) onUnusual(lease, item, result);
      } finally {
        this.reserved -= batch.length;
      }
    }
    this.#sending = false;
  }

  /** Whether it was told. */
  async #report(ended: readonly Ended[]): Promise<boolean> {
    const {
      gates,
      writeBudgetMs,
      workerId,
      kinds,
      leaseMs,
      goesOn,
      onReported,
      onNext,
      onAnswer,
      onUnheard,
    } = this.#options;
    const token = goesOn() ? uuidv7() : null;
    const sent = gates.ask(
      writeBudgetMs,
      'fn_run_steps_succeed($1::uuid[], $2::int[], $3::uuid[], $4::uuid[], $5::text[], $6::boolean[], $7::text[], $8, $9, $10)',
      [
        ended.map(({ lease }) => lease.token),
        ended.map(({ item }) => item.position),
        ended.map(({ item }) => item.id),
        ended.map(({ item }) => item.step?.runId),
        ended.map(({ result }) => result ?? null),
        ended.map(({ item }) => item.streak < longestStreak),
        kinds,
        token,
        leaseMs / 1000,
        workerId,
      ],
      // It has made the lease only now, perhaps, and nobody will run what it holds.
      () => token && onUnheard(token),
    );
    sent.catch(() => undefined); // looked at below; a fault point may wait in between
    await pass('finish_sent');
    let answer: Answer;
    try {
      answer = (await sent).rows[0].answer as Answer;
    } catch (error) {
      if (token && isConnectionLoss(error)) onUnheard(token);
      throw error;
    }
    const refusal = refusalIn(answer);
    if (refusal) throw refusal;
    count('writ.reports', 1);
    if (answer.unusual) return false;
    for (const { item, lease } of ended) if (lease.traced) item.execution?.told();
    const streaks = new Map(ended.map(({ item }) => [item.step?.runId, item.streak]));
    if (answer.next) onNext(answer.next, (runId) => (streaks.get(runId) ?? 0) + 1);
    const jobs = new Map<Lease, number>();
    for (const { lease } of ended) jobs.set(lease, (jobs.get(lease) ?? 0) + 1);
    for (const [lease, count] of jobs) onReported(lease, count);
    onAnswer({
      ...(answer.runs_ended && { runsEnded: answer.runs_ended }),
      ...(answer.followed && { followed: true }),
      ...(answer.next_due_ms !== undefined && { dueMs: answer.next_due_ms }),
    });
    return true;
  }
}
