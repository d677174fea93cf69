/** Defining, listing, pausing and removing schedules. Firing them is the scheduler's, in every worker. */
import type { Queryable } from '../database/connection.js';
import { gate } from '../database/gate.js';
import { fromDatabase, WritRefusal } from '../errors/index.js';
import type { Duration } from '../queue/duration.js';
import { type EnqueueOptions, toItem } from '../queue/enqueue.js';
import type { JobKind } from '../queue/job.js';
import { Cron } from './cron.js';
import { type CatchUp, catchUps } from './due.js';

export interface ScheduleRule {
  /** Five fields, minute to day of week, or one of `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. */
  readonly cron: string;
  /** An IANA name such as `Europe/Berlin`; `UTC` unless given. */
  readonly timeZone?: string;
  /** What happens to ticks that no worker was there to fire: `none` of them fires, the `last` does (unless given), or `all` do. */
  readonly catchUp?: CatchUp;
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
  (Sent extends undefined ? { readonly input?: Sent } : { readonly input: Sent });

export interface ScheduleCall {
  readonly tenant?: string;
  /** Who asks, for the record. */
  readonly actor?: string;
}

export interface Schedule {
  readonly name: string;
  readonly tenant: string;
  readonly cron: string;
  readonly timeZone: string;
  readonly catchUp: CatchUp;
  readonly kind: string;
  readonly nextTick: Date;
  readonly lastTick: Date | null;
  readonly lastJobId: string | null;
  readonly pausedAt: Date | null;
  readonly pausedBy: string | null;
}

export interface ScheduleHost {
  readonly db: Queryable;
  readonly actor: string;
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

  /** Defines a schedule, or replaces its definition; one that is there already stays as it is, so a program can do this each time it starts. */
  async put<Sent, Received>(
    name: string,
    job: JobKind<Sent, Received>,
    options: ScheduleOptions<Sent>,
  ): Promise<{ changed: boolean; nextTick: Date }> {
    const { register, calling } = this.#host;
    const kind = job as unknown as JobKind<never, unknown>;
    return calling(async () => {
      const cron = ruleOf(options);
      // Looked at before the kind is registered: what is refused leaves nothing behind.
      const item = await toItem(kind, options.input, options);
      await register(kind);
      return this.#put(name, cron, options, item.json());
    });
  }

  async #put(name: string, cron: Cron, options: ScheduleRule & ScheduledJobOptions, json: string) {
    const { db, actor } = this.#host;
    const { id, kind, tenant, ...job } = JSON.parse(json) as Record<string, unknown>;
    const definition = {
      cron: cron.text,
      time_zone: cron.zone.name,
      catch_up: options.catchUp ?? 'last',
      kind,
      job,
    };
    const next = cron.next(await this.now());
    const answer = await gate<PutAnswer>(db, 'fn_schedule_put($1, $2::text::jsonb, $3, $4, $5)', [
      name,
      JSON.stringify(definition),
      next.toISOString(),
      actor,
      options.tenant ?? 'default',
    ]);
    return { changed: answer.changed, nextTick: new Date(answer.next_tick) };
  }

  /** The database's clock: ticks come by it. */
  async now(): Promise<Date> {
    const [row] = await this.#rows(
      `select to_char(writ.now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as now`,
      [],
    );
    return new Date(String(row?.now));
  }

  /** Every schedule, or those of a tenant, by name. */
  async list(options: { tenant?: string } = {}): Promise<Schedule[]> {
    const rows = await this.#host.calling(() =>
      this.#rows(
        `select tenant_id, schedule, cron, time_zone, catch_up, job_kind, last_job_id::text, paused_by,
           to_json(next_tick)::text as next_tick, to_json(last_tick)::text as last_tick, to_json(paused_at)::text as paused_at
         from writ.schedule where $1::text is null or tenant_id = $1 order by schedule, tenant_id`,
        [options.tenant ?? null],
      ),
    );
    return rows.map((row) => ({
      name: String(row.schedule),
      tenant: String(row.tenant_id),
      cron: String(row.cron),
      timeZone: String(row.time_zone),
      catchUp: row.catch_up as CatchUp,
      kind: String(row.job_kind),
      nextTick: asDate(row.next_tick) as Date,
      lastTick: asDate(row.last_tick),
      lastJobId: row.last_job_id as string | null,
      pausedAt: asDate(row.paused_at),
      pausedBy: row.paused_by as string | null,
    }));
  }

  /** Stops a schedule from firing; jobs that it has enqueued go on. Answers whether it was running. */
  async pause(name: string, options: ScheduleCall = {}): Promise<{ changed: boolean }> {
    const { changed } = await this.#call<{ changed: boolean }>('fn_schedule_pause', name, options);
    return { changed };
  }

  /** Lets a schedule go on; what it missed is treated by its catch-up rule. Answers whether it was paused. */
  async resume(name: string, options: ScheduleCall = {}): Promise<{ changed: boolean }> {
    const { changed } = await this.#call<{ changed: boolean }>('fn_schedule_resume', name, options);
    return { changed };
  }

  /** Enqueues the job of a schedule at once, paused or not. The next tick comes as it would have come. */
  async runNow(name: string, options: ScheduleCall = {}): Promise<{ jobId: string }> {
    return {
      jobId: (await this.#call<{ job_id: string }>('fn_schedule_run_now', name, options)).job_id,
    };
  }

  /** Removes a schedule; jobs that it has enqueued stay. */
  async remove(name: string, options: ScheduleCall = {}): Promise<void> {
    await this.#call('fn_schedule_remove', name, options);
  }

  #call<Answer>(
    name: string,
    schedule: string,
    { tenant = 'default', actor = this.#host.actor }: ScheduleCall,
  ): Promise<Answer> {
    return this.#host.calling(() =>
      gate<Answer>(this.#host.db, `${name}($1, $2, $3)`, [schedule, actor, tenant]),
    );
  }

  async #rows(sql: string, params: unknown[]): Promise<Record<string, unknown>[]> {
    try {
      return (await this.#host.db.query(sql, params)).rows;
    } catch (error) {
      throw fromDatabase(error);
    }
  }
}

function ruleOf({ cron, timeZone = 'UTC', catchUp }: ScheduleRule): Cron {
  if (catchUp !== undefined && !catchUps.includes(catchUp))
    throw new WritRefusal('invalid_catch_up', String(catchUp));
  return new Cron(cron, timeZone);
}

/** Libraries differ in what they make of a timestamp; JSON is the same everywhere. */
function asDate(json: unknown): Date | null {
  return json === null || json === undefined ? null : new Date(JSON.parse(String(json)) as string);
}
