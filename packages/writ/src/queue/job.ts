/**
 * Kinds of jobs: a name, what its input looks like, how it is retried. The handler is attached
 * where the work is done.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { WritRefusal } from '../errors/index.js';
import { type Duration, seconds } from './duration.js';
import { parseWith } from './schema.js';
import type { JobContext } from './worker/context.js';

export interface JobOptions {
  readonly retry?: {
    /** How often the job may be tried in all; 5 unless the settings say otherwise. */
    readonly attempts?: number;
    /**
     * First ceiling of the random delay before a retry; it doubles with each attempt. 10 s unless
     * the settings say otherwise.
     */
    readonly base?: Duration;
    /** Highest ceiling of that delay; 1 h unless the settings say otherwise. */
    readonly cap?: Duration;
  };
  /** How long a handler may run; 15 minutes unless the settings say otherwise. */
  readonly timeout?: Duration;
  /**
   * How many at a time, and how many per time, for each `limitKey` of the kind. Exact, whatever the
   * number of workers.
   */
  readonly limit?: {
    /** Jobs that workers may hold at a time. */
    readonly concurrency?: number;
    /**
     * Starts per time after a burst: in any interval of length t at most burst + starts · t / per.
     */
    readonly rate?: { readonly starts: number; readonly per: Duration; readonly burst?: number };
  };
}

export type JobHandler<Input> = (context: JobContext<Input>) => unknown;

/** A kind of job with the function that does it, as a worker takes it. */
export interface HandledJob {
  readonly job: JobKind<never, unknown>;
  readonly run: JobHandler<never>;
}

/**
 * `Sent` is what a producer passes; `Received` what the handler gets: the same, unless the schema
 * transforms it.
 */
export class JobKind<Sent, Received = Sent> {
  readonly kind: string;
  readonly options: JobOptions;
  readonly #schema: StandardSchemaV1<unknown, unknown> | undefined;
  declare protected readonly types: (sent: Sent) => Received;

  constructor(
    kind: string,
    schema: StandardSchemaV1<unknown, unknown> | undefined,
    options: JobOptions,
  ) {
    this.kind = kind;
    this.options = options;
    this.#schema = schema;
  }

  /** Attaches the function that does the job. */
  handle(run: JobHandler<Received>): HandledJob {
    return { job: this as unknown as JobKind<never, unknown>, run: run as JobHandler<never> };
  }

  /** Whether inputs have to be looked at before they are handed on. */
  get validated(): boolean {
    return this.#schema !== undefined;
  }

  /** The input as the handler gets it; refuses one that does not fit the schema. */
  async parse(input: unknown): Promise<Received> {
    return (this.#schema ? await parseWith(this.#schema, input, this.kind) : input) as Received;
  }

  /**
   * The same with null for what it leaves out: a worker's definition takes away what an earlier one
   * had.
   */
  get wholeDefinition(): Record<string, unknown> {
    return Object.fromEntries(
      Object.entries(this.definition).map(([field, value]) => [field, value ?? null]),
    );
  }

  /** What the database keeps about this kind. */
  get definition(): Record<string, unknown> {
    const { retry, timeout, limit } = this.options;
    const rate = limit?.rate;
    const definition = {
      max_attempts: retry?.attempts,
      backoff_base_s: retry?.base === undefined ? undefined : seconds(retry.base),
      backoff_cap_s: retry?.cap === undefined ? undefined : seconds(retry.cap),
      timeout_s: timeout === undefined ? undefined : seconds(timeout),
      limit_concurrency: limit?.concurrency,
      limit_rate: rate === undefined ? undefined : rate.starts / seconds(rate.per),
      limit_burst: rate === undefined ? undefined : (rate.burst ?? 1),
    };
    // JSON writes null for these, which would take the value away.
    const wrong = Object.entries(definition).find(
      ([, value]) => value !== undefined && !Number.isFinite(value),
    );
    if (wrong)
      throw new WritRefusal('invalid_job_definition', `${this.kind}: ${wrong[0]} is ${wrong[1]}`);
    return definition;
  }
}

/**
 * Defines a kind of job, with a Standard Schema (zod, valibot, arktype, …) for its input, or with a
 * type alone.
 */
export function defineJob<Schema extends StandardSchemaV1>(
  kind: string,
  options: JobOptions & { readonly input: Schema },
): JobKind<StandardSchemaV1.InferInput<Schema>, StandardSchemaV1.InferOutput<Schema>>;
export function defineJob<Input = undefined>(kind: string, options?: JobOptions): JobKind<Input>;
export function defineJob(
  kind: string,
  options: JobOptions & { readonly input?: StandardSchemaV1 } = {},
): JobKind<unknown> {
  if (isReserved(kind)) throw new WritRefusal('reserved_job_kind', kind);
  const { input, ...rest } = options;
  return new JobKind(kind, input, rest);
}

/** The beginnings of Writ's own kinds. The gates refuse the same (writ_data.reserved_kind). */
const reserved = ['governance.', 'governor.', 'writ.'];

export const isReserved = (kind: string): boolean =>
  reserved.some((beginning) => kind.startsWith(beginning));

/** Defines a kind that belongs to Writ. */
export const ownJob = (kind: string, options: JobOptions): JobKind<never, unknown> =>
  new JobKind(kind, undefined, options);
