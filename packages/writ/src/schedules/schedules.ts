/**
 * Schedules: defining, listing, pausing and removing them. The scheduler in every worker fires
 *            them.
 */
import { type Acting, act, actorOf, type Host, tenantOf } from '../database/acting.js';
import { readRows } from '../database/gate.js';
import { type Page, type PageOptions, readPage } from '../database/listing.js';
import { WritRefusal } from '../errors/index.js';
import type { Duration } from '../queue/duration.js';
import { type EnqueueOptions, toItem } from '../queue/enqueue.js';
import { JobKind } from '../queue/job.js';
import { Cron } from './cron.js';
import { type CatchUp, catchUps } from './due.js';

export interface ScheduleRule {
  /**
   * Five fields, minute to day of week, or one of `@hourly`, `@daily`, `@weekly`, `@monthly`,
   * `@yearly`.
   */
  readonly cron: string;
  /** An IANA name such as `Europe/Berlin`; `UTC` unless given. */
  readonly timeZone?: string;
  /**
   * Which ticks fire late that no worker was there for: `none`, the `last` (unless given), or
   * `all`.
   */
  readonly catchUp?: CatchUp;
}

/** What a caller knows of a schedule that it changes. */
export interface KnownSchedule {
  /** Its version, 0 for none; another one refuses the call (`schedule_moved`). */
  readonly version?: number;
}

export interface ScheduledJobOptions
  extends Pick<
    EnqueueOptions,
    'priority' | 'tenant' | 'attempts' | 'labels' | 'correlationId' | 'sourceRef' | 'targetRef'
  > {
  /** Counted from the moment when the tick fires. */
  readonly deadline?: Duration;
}

export type ScheduleOptions<Sent> = ScheduleRule &
  ScheduledJobOptions &
  KnownSchedule &
  Acting &
  (Sent extends undefined ? { readonly input?: Sent } : { readonly input: Sent });

export interface Schedule {
  readonly name: string;
  readonly tenant: string;
  readonly cron: string;
  readonly timeZone: string;
  readonly catchUp: CatchUp;
  /** Counts changes of its definition. */
  readonly version: number;
  readonly kind: string;
  /** What its jobs are enqueued with, beside the input. */
  readonly jobOptions: Readonly<Record<string, unknown>>;
  readonly nextTick: string;
  readonly lastTick: string | null;
  readonly lastJobId: string | null;
  readonly pausedAt: string | null;
  readonly pausedBy: string | null;
  readonly updatedAt: string;
  readonly updatedBy: string;
}

/** A tick that has fired. */
export interface FiredTick {
  readonly tick: string;
  readonly jobId: string;
  readonly firedAt: string;
  readonly firedBy: string;
}

export interface ScheduleHost extends Host {
  /** Makes a kind known to the database. */
  readonly register: (job: JobKind<never, unknown>) => Promise<void>;
  /** Counts a call as one that is on its way. */
  readonly calling: <T>(call: () => Promise<T>) => Promise<T>;
}

interface PutAnswer {
  readonly changed: boolean;
  readonly next_tick: string;
}

export class Schedules {
  readonly #host: ScheduleHost;

  constructor(host: ScheduleHost) {
    this.#host = host;
  }

  /**
   * Defines a schedule, or replaces its definition. The same definition again changes nothing, so a
   * program can do this each time it starts. `job` is the name of a registered kind, too.
   */
  put(
    name: string,
    job: string,
    options: ScheduleOptions<unknown>,
  ): Promise<{ readonly changed: boolean; readonly nextTick: string }>;
  put<Sent, Received>(
    name: string,
    job: JobKind<Sent, Received>,
    options: ScheduleOptions<Sent>,
  ): Promise<{ readonly changed: boolean; readonly nextTick: string }>;
  put(
    name: string,
    job: JobKind<never, unknown> | string,
    options: ScheduleOptions<unknown>,
  ): Promise<{ readonly changed: boolean; readonly nextTick: string }> {
    const { register, calling } = this.#host;
    const kind = typeof job === 'string' ? new JobKind<never, unknown>(job, undefined, {}) : job;
    return calling(async () => {
      const cron = ruleOf(options);
      // Looked at before the kind is registered: what is refused leaves nothing behind.
      const item = await toItem(kind, options.input, options);
      if (kind === job) await register(kind);
      return this.#put(name, cron, options, item.json());
    });
  }

  async #put(
    name: string,
    cron: Cron,
    options: ScheduleRule & ScheduledJobOptions & KnownSchedule & Acting,
    json: string,
  ) {
    const { id, kind, tenant, ...job } = JSON.parse(json) as Record<string, unknown>;
    const definition = {
      cron: cron.text,
      time_zone: cron.zone.name,
      catch_up: options.catchUp ?? 'last',
      kind,
      job,
    };
    const next = cron.next(await this.#now());
    const answer = await act<PutAnswer>(
      this.#host,
      'fn_schedule_put($1, $2::text::jsonb, $3, $4, $5, $6::text::integer)',
      [
        name,
        JSON.stringify(definition),
        next.toISOString(),
        actorOf(this.#host, options),
        this.#tenantOf(options),
        versionOf(options),
      ],
      options,
      { means: [name, definition, this.#tenantOf(options), versionOf(options)] }, // the next tick is of this moment
    );
    return { changed: answer.changed, nextTick: answer.next_tick };
  }

  /** Ticks come by the clock of the database. */
  async #now(): Promise<Date> {
    const [row] = await readRows(
      this.#host.db,
      'select (extract(epoch from writ.now()) * 1000)::bigint::text as ms',
    );
    return new Date(Number(row?.ms));
  }

  #tenantOf(options: Acting): string {
    return tenantOf(this.#host, options) ?? 'default';
  }

  /** By name, of a tenant or of all. */
  list(options: PageOptions & { readonly tenant?: string } = {}): Promise<Page<Schedule>> {
    return this.#read(undefined, tenantOf(this.#host, options), options);
  }

  async get(name: string, options: { readonly tenant?: string } = {}): Promise<Schedule> {
    const { items } = await this.#read(name, this.#tenantOf(options), { limit: 1 });
    if (!items[0]) throw new WritRefusal('schedule_not_found', name);
    return items[0];
  }

  #read(
    name: string | undefined,
    tenant: string | undefined,
    page: PageOptions,
  ): Promise<Page<Schedule>> {
    return this.#host.calling(() =>
      readPage<Schedule>(
        this.#host.db,
        {
          columns: `schedule as name, tenant_id as tenant, cron, time_zone as "timeZone",
            catch_up as "catchUp", version, job_kind as kind, job_options as "jobOptions",
            next_tick as "nextTick", last_tick as "lastTick", last_job_id as "lastJobId",
            paused_at as "pausedAt", paused_by as "pausedBy", updated_at as "updatedAt",
            updated_by as "updatedBy"`,
          from: 'writ.schedule',
          where: [
            ['schedule = ?', name],
            ['tenant_id = ?', tenant],
          ],
          key: [
            ['schedule', 'text'],
            ['tenant_id', 'text'],
          ],
          order: 'asc',
        },
        page,
      ),
    );
  }

  /** The ticks of a schedule that have fired, the newest first. */
  ticks(
    name: string,
    options: PageOptions & { readonly tenant?: string } = {},
  ): Promise<Page<FiredTick>> {
    return readPage<FiredTick>(
      this.#host.db,
      {
        columns: 'tick, job_id as "jobId", fired_at as "firedAt", fired_by as "firedBy"',
        from: 'writ.schedule_tick',
        where: [
          ['schedule = ?', name],
          ['tenant_id = ?', this.#tenantOf(options)],
        ],
        key: [['tick', 'timestamptz']],
      },
      options,
    );
  }

  /**
   * Stops a schedule from firing; jobs that it has enqueued go on. Answers whether it was running.
   */
  pause(name: string, options: Acting = {}): Promise<{ readonly changed: boolean }> {
    return this.#move('fn_schedule_pause', name, options);
  }

  /**
   * Lets a schedule go on. Its catch-up rule says what happens to ticks that it missed. Answers
   * whether it was paused.
   */
  resume(name: string, options: Acting = {}): Promise<{ readonly changed: boolean }> {
    return this.#move('fn_schedule_resume', name, options);
  }

  async #move(gate: string, name: string, options: Acting) {
    const { changed } = await this.#call<{ changed: boolean }>(gate, name, options);
    return { changed };
  }

  /**
   * Enqueues the job of a schedule at once, paused or not. The next tick comes as it would have.
   */
  async runNow(name: string, options: Acting = {}): Promise<{ readonly jobId: string }> {
    return {
      jobId: (await this.#call<{ job_id: string }>('fn_schedule_run_now', name, options)).job_id,
    };
  }

  /** Removes a schedule; jobs that it has enqueued stay. */
  async remove(name: string, options: Acting & KnownSchedule = {}): Promise<void> {
    await this.#host.calling(() =>
      act(
        this.#host,
        'fn_schedule_remove($1, $2, $3, $4::text::integer)',
        [name, actorOf(this.#host, options), this.#tenantOf(options), versionOf(options)],
        options,
      ),
    );
  }

  #call<Answer>(name: string, schedule: string, options: Acting): Promise<Answer> {
    return this.#host.calling(() =>
      act<Answer>(
        this.#host,
        `${name}($1, $2, $3)`,
        [schedule, actorOf(this.#host, options), this.#tenantOf(options)],
        options,
      ),
    );
  }
}

const versionOf = ({ version }: KnownSchedule): string | null =>
  version === undefined ? null : String(version);

function ruleOf({ cron, timeZone = 'UTC', catchUp }: ScheduleRule): Cron {
  if (catchUp !== undefined && !catchUps.includes(catchUp))
    throw new WritRefusal('invalid_catch_up', String(catchUp));
  return new Cron(cron, timeZone);
}
