/**
 * Jobs of the queue: finding them, waiting for them, stopping them, and enqueueing dead letters
 * again.
 */
import { type Acting, act, actorOf, type Host, tenantOf } from '../database/acting.js';
import { gate, readRows } from '../database/gate.js';
import { cursorOf, type Page, type PageOptions, placeIn, readPage } from '../database/listing.js';
import { isUuid } from '../database/uuid.js';
import { Waiters } from '../database/waiters.js';
import { refusalIn, WritRefusal } from '../errors/index.js';
import { type JobState, jobStates } from '../machines/job.js';
import { refuseSecrets } from '../secrets/redaction.js';
import { type QueueReading, readings, type WatchOptions } from './readings.js';

/** A job as specification 002 names its fields. */
export interface Job {
  readonly job_id: string;
  readonly tenant_id: string;
  readonly job_kind: string;
  readonly event_domain: string;
  readonly idempotency_key: string;
  readonly source_ref: string | null;
  readonly target_ref: string | null;
  /** Where its input is, or the input's hash. */
  readonly payload_ref: string | null;
  readonly safe_payload: Readonly<Record<string, unknown>>;
  readonly payload_classification: 'safe_metadata' | 'restricted';
  readonly executor: string;
  /** Null: somebody deleted its row past the gates, and no worker will run it. */
  readonly status: JobState | null;
  readonly attempts: number;
  readonly max_attempts: number;
  readonly last_error: string | null;
  readonly last_error_code: string | null;
  readonly last_error_at: string | null;
  readonly lease_name: string | null;
  readonly lease_holder: string | null;
  readonly leased_until: string | null;
  readonly process_after: string;
  readonly deadline_at: string | null;
  readonly priority: number;
  readonly correlation_id: string | null;
  readonly causation_event_id: string | null;
  readonly parent_job_id: string | null;
  readonly workflow_id: string | null;
  readonly enqueued_by: string;
  readonly enqueued_at: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
  readonly source_system: string;
  readonly result_ref: string | null;
  readonly cancel_requested_at: string | null;
  readonly limit_key: string | null;
  readonly traceparent: string | null;
}

const listed = [
  'job_id',
  'tenant_id',
  'job_kind',
  'idempotency_key',
  'status',
  'attempts',
  'max_attempts',
  'priority',
  'process_after',
  'deadline_at',
  'enqueued_at',
  'started_at',
  'finished_at',
  'last_error_code',
  'last_error',
  'correlation_id',
  'parent_job_id',
  'workflow_id',
  'cancel_requested_at',
] as const;

export type ListedJob = Pick<Job, (typeof listed)[number]>;

export interface JobFilter extends PageOptions {
  readonly status?: JobState | undefined;
  readonly kind?: string | undefined;
  readonly tenant?: string | undefined;
  readonly correlationId?: string | undefined;
  /** Id of a workflow; its jobs come in the order in which they were enqueued. */
  readonly workflow?: string | undefined;
}

/** One attempt at a job. */
export interface Execution {
  readonly execution_no: number;
  readonly attempt: number;
  readonly status: 'LEASED' | 'IN_PROGRESS' | 'COMMITTED' | 'DONE' | 'ABORTED';
  readonly abort_kind: string | null;
  /** The attempt that ended the job. */
  readonly final: boolean;
  readonly lease_owner: string | null;
  readonly started_at: string | null;
  readonly committed_at: string | null;
  readonly finished_at: string | null;
  readonly error_code: string | null;
  readonly error_message: string | null;
  readonly error_stack: string | null;
}

/** One fact about a job, as `writ.event_outbox` has it. */
export interface JobEvent {
  readonly id: string;
  readonly event_type: string;
  readonly occurred_at: string;
  readonly actor_ref: string;
  readonly safe_payload: Readonly<Record<string, unknown>>;
}

/** Each is absent where there is none. */
export interface JobPayload {
  readonly input?: unknown;
  readonly result?: unknown;
}

/** Jobs that were emitted together. Its status follows from theirs. */
export interface JobWorkflow {
  readonly workflow_id: string;
  readonly tenant_id: string;
  readonly workflow_kind: string;
  readonly generator: string;
  readonly status: 'active' | 'succeeded' | 'failed' | 'partially_failed' | 'cancelled';
  readonly correlation_id: string | null;
  readonly enqueued_by: string;
  readonly enqueued_at: string;
  readonly finished_at: string | null;
  readonly workflow_key: string | null;
  readonly jobs: number;
  readonly open: number;
  readonly succeeded: number;
  readonly dead: number;
  readonly cancelled: number;
}

export interface QueueHealth {
  /** Jobs that can be claimed now. */
  readonly backlog: number;
  /** Delays and retries. */
  readonly waiting: number;
  readonly in_progress: number;
  /** Dead letters that nobody has requeued. */
  readonly dead_letter_open: number;
  readonly oldest_queued_age_s: number | null;
  readonly lease_active: number;
  readonly lease_expired: number;
  readonly workers: number;
  readonly enabled: boolean;
}

export interface CancelledJob {
  readonly job_id: string;
  /** By request where a worker holds it. */
  readonly status: 'cancelled' | 'cancel_requested';
}

export interface RequeuedJob {
  /** The new job. It has the key of the dead letter. */
  readonly job_id: string;
  /** The dead letter. */
  readonly parent_job_id: string;
}

export interface RefusedRequeue {
  readonly parent_job_id: string;
  readonly reason: string;
  readonly message: string;
}

export interface RequeueOptions extends Acting {
  /** Why it will work now. */
  readonly reason: string;
}

/** Statuses that few of many jobs are in: an index or a small table leads to them. */
const found: readonly JobState[] = [
  'queued',
  'retry_waiting',
  'leased',
  'in_progress',
  'dead_letter',
  'cancelled',
];
/** A search that no index serves looks at so many jobs, and leaves the rest to the next page. */
const searched = 20_000;

export class Jobs {
  readonly #host: Host;
  readonly #waiters: Waiters;

  constructor(host: Host) {
    this.#host = host;
    this.#waiters = new Waiters(
      host.db,
      `select u.id::text, j.status from unnest($1::text::uuid[]) u(id)
       left join lateral (select * from writ.job_queue x where x.job_id = u.id offset 0) j on true
       where j.job_id is null
         or j.status in ('succeeded', 'dead_letter', 'cancelled', 'cleaned')`,
      'job_not_found',
      host.signal,
      'job_not_finished',
    );
  }

  /**
   * The newest first. The status of a job is derived, so no index has it. Jobs in most statuses
   * are found where they stand. Any other search walks the jobs, a part of them for each page.
   */
  async list(filter: JobFilter = {}): Promise<Page<ListedJob>> {
    const { status, kind, workflow, correlationId, after } = filter;
    // The status becomes a part of the statement.
    if (status !== undefined && !jobStates.includes(status))
      throw new WritRefusal('invalid_argument', `${status} is not a status of a job`);
    if (workflow !== undefined && !isUuid(workflow)) return { items: [], next: null };
    const related = workflow !== undefined || correlationId !== undefined;
    const stands = !related && status !== undefined && found.includes(status);
    const walks = !related && (!stands || status === 'cancelled');
    const until = walks ? await this.#searchedUntil(after) : undefined;
    const { items, next } = await readPage<ListedJob>(
      this.#host.db,
      {
        columns: listed.map((column) => `${stands ? 'q' : 'e'}.${column}`).join(', '),
        from: stands
          ? (inside) => `(select e.job_id from writ.v_job_by_status e ${inside}) e
              cross join lateral (
                select * from writ.job_queue j where j.job_id = e.job_id offset 0
              ) q`
          : 'writ.job_queue e',
        where: [
          // A constant, so that PostgreSQL reads only the place where such jobs stand.
          [`e.status = '${status}'`, status],
          ['e.job_kind = ?', kind],
          ['e.tenant_id = ?', tenantOf(this.#host, filter)],
          ['e.workflow_id = ?::text::uuid', workflow],
          ['e.correlation_id = ?', correlationId],
          ['e.job_id >= ?::text::uuid', until],
        ],
        key: [['e.job_id', 'uuid']],
        order: workflow === undefined ? 'desc' : 'asc',
      },
      filter,
    );
    return { items, next: next ?? (until === undefined ? null : cursorOf([until])) };
  }

  /** Where a search stops; undefined where fewer jobs are left. */
  async #searchedUntil(after: string | undefined): Promise<string | undefined> {
    const from = after === undefined ? undefined : (placeIn(after, 1)[0] as string);
    if (from !== undefined && !isUuid(from)) throw new WritRefusal('invalid_cursor', from);
    const [row] = await readRows(
      this.#host.db,
      `select job_id::text as id from writ.v_job
       where $1::text is null or job_id < $1::text::uuid
       order by job_id desc offset ${searched} limit 1`,
      [from ?? null],
    );
    return row ? String(row.id) : undefined;
  }

  async get(id: string, options: { readonly tenant?: string | undefined } = {}): Promise<Job> {
    const job = isUuid(id)
      ? await this.#one<Job>('writ.job_queue', 'job_id', id, options)
      : undefined;
    if (!job) throw new WritRefusal('job_not_found', id);
    return job;
  }

  async #one<Row>(
    view: string,
    column: string,
    id: string,
    options: { readonly tenant?: string | undefined },
  ): Promise<Row | undefined> {
    const { items } = await readPage<Row>(
      this.#host.db,
      {
        columns: '*',
        from: view,
        where: [
          [`${column} = ?::text::uuid`, id],
          ['tenant_id = ?', tenantOf(this.#host, options)],
        ],
        key: [[column, 'uuid']],
      },
      { limit: 1 },
    );
    return items[0];
  }

  /** The attempts at a job, in order. */
  async executions(
    id: string,
    options: PageOptions & { readonly tenant?: string | undefined } = {},
  ): Promise<Page<Execution>> {
    if (!isUuid(id)) throw new WritRefusal('job_not_found', id);
    return readPage<Execution>(
      this.#host.db,
      {
        columns: `execution_no, attempt, status, abort_kind, final, lease_owner, started_at,
          committed_at, finished_at, error_code, error_message, error_stack`,
        from: 'writ.job_execution e',
        where: [
          ['job_id = ?::text::uuid', id],
          [
            'exists (select from writ.v_job j where j.job_id = e.job_id and j.tenant_id = ?)',
            tenantOf(this.#host, options),
          ],
        ],
        key: [['execution_no', 'integer']],
        order: 'asc',
      },
      options,
    );
  }

  /** The facts about a job, in order. */
  events(id: string, options: { readonly tenant?: string | undefined } = {}): Promise<JobEvent[]> {
    return this.#ask<JobEvent[]>('fn_job_events', id, options);
  }

  /** The input and the result of a job, for logins that may read them. */
  payload(id: string, options: { readonly tenant?: string | undefined } = {}): Promise<JobPayload> {
    return this.#ask<JobPayload>('fn_job_payload', id, options);
  }

  #ask<Answer>(
    name: string,
    id: string,
    options: { readonly tenant?: string | undefined },
  ): Promise<Answer> {
    if (!isUuid(id)) throw new WritRefusal('job_not_found', id);
    return gate<Answer>(this.#host.db, `${name}($1, $2)`, [
      id,
      tenantOf(this.#host, options) ?? null,
    ]);
  }

  /** A workflow. `list({ workflow })` has its jobs. */
  async workflow(
    id: string,
    options: { readonly tenant?: string | undefined } = {},
  ): Promise<JobWorkflow> {
    const workflow = isUuid(id)
      ? await this.#one<JobWorkflow>('writ.job_workflow', 'workflow_id', id, options)
      : undefined;
    if (!workflow) throw new WritRefusal('unknown_workflow', id);
    return workflow;
  }

  /** The backlog, running jobs, dead letters and workers, of some kinds or of all. */
  health({ kinds }: { readonly kinds?: readonly string[] | undefined } = {}): Promise<QueueHealth> {
    return kinds
      ? gate(this.#host.db, 'fn_job_queue_health($1::text::text[])', [
          `{${kinds.map((kind) => JSON.stringify(kind)).join(',')}}`,
        ])
      : gate(this.#host.db, 'fn_job_queue_health()', []);
  }

  /** A reading of the queue each second, until `signal` is aborted. */
  watch(options: WatchOptions = {}): AsyncGenerator<QueueReading, void, void> {
    return readings(this.#host.db, options);
  }

  /** Resolves when the job has ended, with its result if this login may read it. */
  async finished(
    id: string,
    {
      timeoutMs,
      ...options
    }: { readonly timeoutMs?: number | undefined; readonly tenant?: string | undefined } = {},
  ): Promise<Job & { readonly result?: unknown | undefined }> {
    await this.get(id, options);
    await this.#waiters.ended(id.toLowerCase(), timeoutMs);
    const job = await this.get(id, options);
    if (job.status !== 'succeeded' || job.result_ref === null) return job;
    try {
      const { result } = await this.payload(id, options);
      return { ...job, result };
    } catch (error) {
      if ((error as { code?: unknown }).code === 'permission_denied') return job;
      throw error;
    }
  }

  /** Cancels a job: at once when no worker holds it, by request when one does. */
  async cancel(
    id: string,
    { reason, ...options }: Acting & { readonly reason?: string | undefined } = {},
  ): Promise<CancelledJob> {
    if (!isUuid(id)) throw new WritRefusal('job_not_found', id);
    refuseSecrets(reason, 'the reason');
    const { job_id, status } = await act<CancelledJob>(
      this.#host,
      'fn_job_cancel($1, $2, $3, $4)',
      [id, reason ?? null, actorOf(this.#host, options), tenantOf(this.#host, options) ?? null],
      options,
    );
    return { job_id, status };
  }

  /** Enqueues a dead letter again, as a new job with the same key. */
  async requeue(id: string, { reason, ...options }: RequeueOptions): Promise<RequeuedJob> {
    if (!isUuid(id)) throw new WritRefusal('dead_letter_not_found', id);
    refuseSecrets(reason, 'the reason');
    const { job_id } = await act<{ job_id: string }>(
      this.#host,
      'fn_job_dead_letter_replay($1, $2, $3, $4)',
      [id, reason, actorOf(this.#host, options), tenantOf(this.#host, options) ?? null],
      options,
    );
    return { job_id, parent_job_id: id };
  }

  /** Enqueues up to 1,000 dead letters again, each by itself. The answers are in their order. */
  async requeueMany(
    ids: readonly string[],
    { reason, ...options }: RequeueOptions,
  ): Promise<(RequeuedJob | RefusedRequeue)[]> {
    const wrong = ids.find((id) => !isUuid(id));
    if (wrong !== undefined) throw new WritRefusal('dead_letter_not_found', wrong);
    refuseSecrets(reason, 'the reason');
    const answers = await act<unknown[]>(
      this.#host,
      'fn_job_requeue_many($1::text::uuid[], $2, $3, $4)',
      [
        `{${ids.join(',')}}`,
        reason,
        actorOf(this.#host, options),
        tenantOf(this.#host, options) ?? null,
      ],
      options,
    );
    return answers.map((answer, n) => {
      const parent_job_id = ids[n] as string;
      const refusal = refusalIn(answer);
      return refusal
        ? { parent_job_id, reason: refusal.code, message: refusal.message }
        : { job_id: (answer as { job_id: string }).job_id, parent_job_id };
    });
  }

  close(): void {
    this.#waiters.close();
  }
}
