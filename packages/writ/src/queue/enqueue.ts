/**
 * Putting jobs into the queue. A call without a transaction of its own is coalesced: jobs that are
 * asked for while a batch is on its way travel together in the next, one statement and one commit
 * for all of them, and each caller gets its own answer when that commit is durable. Ids are fixed
 * before the first try, so that a batch whose answer was lost can be sent again and finds what it
 * wrote.
 */

import { followDatabase } from '../database/clock.js';
import type { AnyConnection, Queryable } from '../database/connection.js';
import { uuidv7 } from '../database/uuid.js';
import { asRefusal, refusalIn, WritError, WritRefusal } from '../errors/index.js';
import { refuseSecrets } from '../secrets/redaction.js';
import { countEach, measuring } from '../telemetry/meter.js';
import { type Duration, milliseconds } from './duration.js';
import type { JobKind } from './job.js';

export interface EnqueueOptions {
  /**
   * Makes the enqueue idempotent: a second job of this kind and tenant with the same key is not
   * enqueued.
   */
  readonly key?: string;
  /**
   * As in every acting call, and the job's key unless one is given: another input under it is
   * refused (`once_conflict`).
   */
  readonly once?: string | undefined;
  /** Not before this much time has passed, or not before that moment. */
  readonly delay?: Duration | Date;
  /** Cancelled when no worker has begun by then; aborted when one has. */
  readonly deadline?: Duration | Date;
  /** Higher first; 0 unless given, −32768 to 32767. */
  readonly priority?: number;
  readonly tenant?: string | undefined;
  readonly attempts?: number;
  /** Labels for people and dashboards. Not data: the input is. */
  readonly labels?: Record<string, unknown>;
  /**
   * What the limits of the kind count together, a customer or an account for instance; without one,
   * the kind as a whole.
   */
  readonly limitKey?: string;
  readonly correlationId?: string;
  readonly parentJobId?: string;
  readonly sourceRef?: string;
  readonly targetRef?: string;
}

export interface CallOptions {
  /**
   * Your own transaction: the job is enqueued if and only if it commits. A pool, or a client
   * outside a transaction, is refused.
   */
  readonly db?: AnyConnection;
  /** As in every acting call. */
  readonly once?: string | undefined;
}

export type InputOf<Sent> = Sent extends undefined
  ? [input?: Sent, options?: EnqueueOptions & EnqueueCall]
  : [input: Sent, options?: EnqueueOptions & EnqueueCall];

export interface EnqueueCall extends CallOptions {
  /** False sends this job alone instead of with others that are asked for at the same time. */
  readonly coalesce?: boolean;
}

export type ManyItem<Sent> = EnqueueOptions &
  (Sent extends undefined ? { readonly input?: Sent } : { readonly input: Sent });

export interface Enqueued {
  readonly jobId: string;
  /** A job with this key was there already; jobId is its id, and nothing was enqueued. */
  readonly duplicate: boolean;
  /** Only of duplicates: whether the job that is there has the same input. */
  readonly samePayload?: boolean;
}

/** One job on its way. */
export interface Item {
  readonly id: string;
  readonly kind: string;
  /** Where in a trace it is enqueued, if somebody traces. */
  readonly traceparent: string | undefined;
  /**
   * What it shares with others that differ from it only in id and input, and so can take the short
   * way with it.
   */
  readonly alike:
    | { readonly kind: string; readonly tenant: string | undefined; readonly priority: number }
    | undefined;
  readonly input: string | undefined;
  /** Everything about it, as the general gate takes it. */
  json(): string;
  /** Gives it another id. */
  renew(): void;
}

const unsafeEscape = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/i;

export async function toItem(
  job: JobKind<never, unknown>,
  input: unknown,
  options: EnqueueOptions,
  traceparent?: string,
): Promise<Item> {
  if (job.validated) await job.parse(input);
  return new JobItem(job, input, options, traceparent);
}

/** Many of one kind, each by itself an item, or why it is none. */
export function toItems(
  job: JobKind<never, unknown>,
  items: readonly ManyItem<never>[],
  traceparent?: string,
): Promise<(Item | WritRefusal)[]> {
  return Promise.all(
    items.map(({ input, ...rest }: EnqueueOptions & { readonly input?: unknown }) =>
      toItem(job, input, rest, traceparent).catch((error: unknown) => {
        if (error instanceof WritRefusal) return error;
        throw error;
      }),
    ),
  );
}

/**
 * A job as it was asked for. What is sent is what was looked at here: a toJSON may make something
 * else of it each time.
 */
export class JobItem implements Item {
  id = uuidv7();
  readonly alike: Item['alike'];
  readonly input: string | undefined;
  readonly kind: string;
  readonly traceparent: string | undefined;
  readonly #options: EnqueueOptions;
  #json: string | undefined;

  constructor(
    job: JobKind<never, unknown>,
    input: unknown,
    options: EnqueueOptions,
    traceparent?: string,
  ) {
    const { delay, deadline, tenant } = options;
    for (const moment of [delay, deadline]) {
      if (moment instanceof Date && Number.isNaN(moment.getTime()))
        throw new WritRefusal('invalid_duration', 'an invalid Date');
    }
    this.kind = job.kind;
    this.traceparent = traceparent;
    this.#options = options;
    try {
      this.input = JSON.stringify(input) as string | undefined;
      this.alike = isPlain(options)
        ? { kind: job.kind, tenant, priority: options.priority ?? 0 }
        : undefined;
      this.#json = this.alike ? undefined : this.#whole();
    } catch (error) {
      if (error instanceof WritError) throw error;
      throw new WritRefusal('invalid_input', `${job.kind}: ${(error as Error).message}`, {
        cause: error,
      });
    }
    // JSON.stringify writes NUL and unpaired surrogates as escapes; a database text can hold
    // neither.
    const looked =
      this.#json ?? `${this.input ?? ''}${tenant === undefined ? '' : JSON.stringify(tenant)}`;
    if (looked.includes('\\u') && unsafeEscape.test(looked))
      throw new WritRefusal('invalid_text', `a job of kind ${job.kind}`);
    refuseSecrets(looked, `a job of kind ${job.kind}`);
  }

  json(): string {
    return this.#json ?? this.#whole();
  }

  renew(): void {
    const before = this.id;
    this.id = uuidv7();
    this.#json = this.#json?.replace(before, this.id); // the first text in it
  }

  #whole(): string {
    const { delay, deadline, ...options } = this.#options;
    const json = JSON.stringify({
      id: this.id,
      kind: this.kind,
      key: options.key ?? options.once,
      tenant: options.tenant,
      priority: inJson(options.priority) || undefined,
      delay_ms: delay === undefined || delay instanceof Date ? undefined : milliseconds(delay),
      process_after: delay instanceof Date ? delay : undefined,
      deadline_ms:
        deadline === undefined || deadline instanceof Date ? undefined : milliseconds(deadline),
      deadline_at: deadline instanceof Date ? deadline : undefined,
      max_attempts: inJson(options.attempts),
      safe_payload: options.labels,
      limit_key: options.limitKey,
      correlation_id: options.correlationId,
      parent_job_id: options.parentJobId,
      source_ref: options.sourceRef,
      target_ref: options.targetRef,
      traceparent: this.traceparent,
    });
    return this.input === undefined ? json : `${json.slice(0, -1)},"input":${this.input}}`;
  }
}

/**
 * JSON writes null for NaN and infinity, which would mean the default. As text the gate refuses
 * them.
 */
const inJson = (value: number | undefined) =>
  typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;

const plainOptions = new Set(['tenant', 'priority', 'db', 'coalesce']);

/** Whether a job has nothing but its input, a tenant and an ordinary priority. */
function isPlain(options: EnqueueOptions): boolean {
  for (const name in options)
    if (!plainOptions.has(name) && options[name as keyof EnqueueOptions] !== undefined)
      return false;
  const { priority = 0 } = options;
  return Number.isInteger(priority) && priority >= -32768 && priority <= 32767;
}

/** Whether all of them can be sent the short way, as jobs that differ in id and input alone. */
function alikeOf(items: readonly Item[]): Item['alike'] {
  const { alike: first, input } = items[0] as Item;
  if (!first) return undefined;
  for (const { alike, input: other } of items) {
    if (
      alike?.kind !== first.kind ||
      alike.tenant !== first.tenant ||
      alike.priority !== first.priority
    )
      return undefined;
    if ((other === undefined) !== (input === undefined)) return undefined;
  }
  return first;
}

interface Answer {
  enqueued: number;
  duplicates: { index: number; job_id: string; same_payload: boolean }[];
  refused: { index: number; reason: string; detail?: string }[];
}

/**
 * Sends items in one call. Each has its own outcome: taken, a duplicate, or refused; if atomic, one
 * refusal leaves all of them out. Items that the database refuses because of this machine's clock
 * are sent once more, with ids of the database's time.
 */
export async function send(
  db: Queryable,
  items: readonly Item[],
  actor: string,
  atomic = false,
): Promise<(Enqueued | WritRefusal)[]> {
  const outcomes = await sendOnce(db, items, actor, atomic);
  const untimely = items.filter(
    (_, n) => (outcomes[n] as Partial<WritRefusal>).code === 'invalid_job_id',
  );
  if (!untimely[0] || !(await followDatabase(db, untimely[0].id))) return outcomes;
  for (const item of untimely) item.renew();
  if (atomic) return sendOnce(db, items, actor, atomic);
  const renewed = await sendOnce(db, untimely, actor, atomic);
  return outcomes.map((outcome, n) => renewed[untimely.indexOf(items[n] as Item)] ?? outcome);
}

async function sendOnce(
  db: Queryable,
  items: readonly Item[],
  actor: string,
  atomic: boolean,
): Promise<(Enqueued | WritRefusal)[]> {
  const alike = alikeOf(items);
  const traces = items.some((item) => item.traceparent)
    ? `{${items.map((item) => item.traceparent ?? 'null').join(',')}}`
    : undefined;
  const { rows } = alike
    ? await db.query(
        `select writ.fn_job_enqueue_alike($1, $2::text::uuid[], $3::text::json, $4, $5, $6, $7${traces ? ', $8::text::text[]' : ''})::text as answer`,
        [
          alike.kind,
          `{${items.map((item) => item.id).join(',')}}`,
          items[0]?.input === undefined ? null : `[${items.map((item) => item.input).join(',')}]`,
          actor,
          alike.tenant ?? 'default',
          alike.priority,
          atomic,
          ...(traces ? [traces] : []),
        ],
      )
    : await db.query(
        'select writ.fn_job_enqueue_many($1::text::jsonb, $2, p_atomic => $3)::text as answer',
        [`[${items.map((item) => item.json()).join(',')}]`, actor, atomic],
      );
  const answer = JSON.parse(String(rows[0]?.answer)) as Answer;
  const refusal = refusalIn(answer);
  if (refusal) return items.map(() => refusal);
  const outcomes: (Enqueued | WritRefusal)[] = items.map(({ id }) => ({
    jobId: id,
    duplicate: false,
  }));
  for (const d of answer.duplicates) {
    // The id we fixed ourselves, come back: an earlier try of this very call had committed.
    if (d.job_id !== items[d.index]?.id)
      outcomes[d.index] = { jobId: d.job_id, duplicate: true, samePayload: d.same_payload };
  }
  for (const r of answer.refused) outcomes[r.index] = asRefusal(r.reason, r.detail);
  if (measuring() && answer.enqueued > 0) countEach('writ.jobs.enqueued', kindsOf(items, outcomes));
  return outcomes;
}

/** Of each that was enqueued just now. */
function* kindsOf(
  items: readonly Item[],
  outcomes: readonly (Enqueued | WritRefusal)[],
): Iterable<string> {
  for (const [index, { kind }] of items.entries())
    if (!(outcomes[index] instanceof WritRefusal) && !(outcomes[index] as Enqueued).duplicate)
      yield kind;
}
