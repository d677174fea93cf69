/**
 * The jobs that carry actions out: what they are given, how much time they have, and how they say
 * what came of it.
 */
import { errorCode, isConnectionLoss } from '../../errors/index.js';
import { type HandledJob, ownJob } from '../../queue/job.js';
import type { JobContext, Transaction, WorkItem } from '../../queue/worker/context.js';
import { redactSecrets } from '../../secrets/redaction.js';
import type { FailureReason, Result } from '../events.js';
import type { Doing, Parameters } from '../policy-document.js';

/** One attempt at an action, or at undoing one. */
export interface ActionJob {
  readonly governor_id: string;
  readonly sku_id?: string;
  readonly tenant: string;
  readonly action_id: string;
  readonly attempt: number;
  readonly kind: 'action' | 'rollback';
  readonly doing: Doing;
  /**
   * When the governor gives it up, and when it was enqueued: milliseconds, by the database's clock.
   */
  readonly due_at: number;
  readonly now: number;
  /** Of a rollback: the action that is undone, and where that was carried out. */
  readonly of?: string;
  readonly reference?: string;
  readonly idempotency_key: string;
  readonly completion_timeout_ms?: number;
  readonly probe?: { readonly url: string };
  readonly policy_id?: string;
  readonly signal_id?: string;
  readonly initiated_by?: string;
}

export type ActionContext = JobContext<ActionJob> &
  Pick<WorkItem, 'commitBy' | 'commitWith' | 'databaseTime'>;

/** What is said about an attempt: that it has ended, or that it was taken on and where. */
export type Report = { readonly result: Result } | { readonly acknowledged: string };

/**
 * Tells the governor. What is told and the commit of the job are one transaction: who was fenced
 * tells nothing.
 */
export interface Reporter {
  /**
   * Throws unless the governor waits for just this job: nothing outside the database is done for
   * another.
   */
  begin(context: ActionContext): Promise<void>;
  result(context: ActionContext, result: Result): Promise<void>;
  /**
   * That it was done after all, when its time was over: whoever has given it up undoes it once
   * more.
   */
  late(context: ActionContext, result: Result): Promise<void>;
  /** What `effect` does in the transaction is part of it, too: who was fenced has done nothing. */
  effect(context: ActionContext, effect: (tx: Transaction) => Promise<Report>): Promise<void>;
}

/** How an attempt ended, without the names of the attempt. */
export type Outcome = Omit<Result, 'action_id' | 'attempt'>;

export const resultOf = ({ action_id, attempt }: ActionJob, outcome: Outcome): Result => ({
  action_id,
  attempt,
  ...outcome,
});

/** Only the governor tries again. */
export function actionJob(
  kind: string,
  run: (context: ActionContext) => Promise<void>,
): HandledJob {
  return ownJob(`governor.${kind}`, { retry: { attempts: 1 }, timeout: '1m' }).handle(run as never);
}

/** The most that a receipt takes. */
const longestMessage = 1_000;
const mostLabels = 20;
const labelName = /^[A-Za-z][A-Za-z0-9_.-]{0,63}$/;

/** A text that can be stored and shown: without secrets, and not too long. */
const storable = (text: string) =>
  redactSecrets(text).replaceAll('\0', '').slice(0, longestMessage).toWellFormed();

export function failed(reason: FailureReason, message: string, code?: number): Outcome {
  const error_message = storable(message);
  return {
    ok: false,
    failure_reason: reason,
    ...(code !== undefined && { response_code: code }),
    ...(error_message && { error_message }),
  };
}

/**
 * Of what somebody says has changed, what a receipt can hold: names with texts, numbers and
 * booleans.
 */
export function labelsOf(value: unknown): Parameters {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
  const plain = Object.entries(value).filter(
    ([name, one]) =>
      labelName.test(name) && (typeof one === 'string' || typeof one === 'boolean' || isExact(one)),
  ) as [string, string | number | boolean][];
  return Object.fromEntries(
    plain
      .slice(0, mostLabels)
      .map(([name, one]) => [name, typeof one === 'string' ? storable(one) : one]),
  );
}

const isExact = (value: unknown) =>
  typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER;

type Baseline = NonNullable<Result['baseline']>;
const baselines: readonly unknown[] = ['restored', 'not_restored', 'unknown'] satisfies Baseline[];

/** What was done, with what is known of the baseline. */
export function succeeded(said: unknown): Outcome {
  const { baseline, ...rest } = (typeof said === 'object' && said !== null ? said : {}) as Record<
    string,
    unknown
  >;
  const result = labelsOf(rest);
  return {
    ok: true,
    baseline: baselines.includes(baseline) ? (baseline as Baseline) : 'unknown',
    ...(Object.keys(result).length > 0 && { result }),
  };
}

/** Tries something, given until when. */
export type Act = (signal: AbortSignal, leftMs: number) => Promise<Outcome>;

/** Has something done in the time that there is, and reports. */
export type Attempt = (context: ActionContext, act: Act) => Promise<void>;

/** The time until the governor gives it up. */
export const leftOf = ({ input, databaseTime }: ActionContext) => input.due_at - databaseTime;

/**
 * Does something until the governor gives it up, which is a moment: what the job stood in the queue
 * is gone. When the job itself is over (its worker stops, its lease is lost), that is thrown, and
 * another worker may do it; when its time is over, that is how it ended, and `onLate` hears of it
 * if it was done all the same.
 */
export async function inTime(
  context: ActionContext,
  act: Act,
  onLate: (done: Outcome) => void,
): Promise<Outcome> {
  const { input, signal } = context;
  const leftMs = leftOf(context);
  const late = failed('timeout', `not done within ${input.due_at - input.now} ms`);
  if (leftMs <= 0) return late;
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(new Error(late.error_message)), leftMs);
  // One that does not listen is not waited for.
  const gone = new Promise<Outcome>((resolve) =>
    over.signal.addEventListener('abort', () => resolve(late), { once: true }),
  );
  const acting = act(AbortSignal.any([signal, over.signal]), leftMs);
  acting.then(
    (done) => over.signal.aborted && done.ok && onLate(done),
    () => undefined, // thrown below, unless nobody waits any more
  );
  try {
    return await Promise.race([gone, acting]);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (over.signal.aborted) return late;
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Whether a fault leaves nobody to report to: the job is another's by now, or the database is away.
 */
export const isGone = (error: unknown) =>
  isConnectionLoss(error) || ['lease_lost', 'already_committed'].includes(errorCode(error) ?? '');
