/**
 * Consumers: from each event of a type a job follows, once. The database keeps them, and every
 * worker's clockwork drives them.
 */
import { type Acting, act, actorOf, type Host } from '../database/acting.js';
import { type Page, type PageOptions, readPage } from '../database/listing.js';
import { type Duration, milliseconds } from './duration.js';
import type { JobKind } from './job.js';

/**
 * The input of a consumer's job: which event, not what it was about. `subject` is the id of the job
 * that it happened to.
 */
export interface EventReference {
  readonly eventId: string;
  readonly eventType: string;
  readonly subject: string;
}

export interface ConsumerOptions extends Acting {
  /** The type of event, as `writ.event_type_registry` lists them: `dot.job.dead_letter`. */
  readonly on: string;
  /** The kind of job that follows; the name of one that is registered, too. */
  readonly job: JobKind<EventReference, unknown> | string;
  /** Only events of jobs of this kind. */
  readonly subjectKind?: string;
  /** Only events of jobs whose kind belongs to this domain. */
  readonly subjectDomain?: string;
  readonly priority?: number;
  readonly delay?: Duration;
  readonly attempts?: number;
}

export interface Consumer {
  readonly name: string;
  readonly on: string;
  readonly jobKind: string;
  readonly subjectKind: string | null;
  readonly subjectDomain: string | null;
  readonly priority: number;
  readonly delayMs: number;
  readonly attempts: number | null;
  readonly registeredBy: string;
  readonly registeredAt: string;
  /** Why the queue does not take its jobs. It stays where it is, and nothing is lost. */
  readonly refused: string | null;
}

export interface RegisteringHost extends Host {
  /** Makes a kind known to the database. */
  readonly register: (job: JobKind<never, unknown>) => Promise<void>;
}

export class Consumers {
  readonly #host: RegisteringHost;

  constructor(host: RegisteringHost) {
    this.#host = host;
  }

  /**
   * Registers a consumer, for events from now on; or changes one, which then goes on where it is.
   */
  async put(name: string, options: ConsumerOptions): Promise<void> {
    const { on, job, subjectKind, subjectDomain, priority, delay, attempts } = options;
    if (typeof job !== 'string')
      await this.#host.register(job as unknown as JobKind<never, unknown>);
    const rest = {
      subject_kind: subjectKind,
      subject_domain: subjectDomain,
      // JSON has no NaN: as text it is refused for what it is.
      priority: Number.isNaN(priority) ? 'NaN' : priority,
      delay_ms: delay === undefined ? undefined : milliseconds(delay),
      max_attempts: attempts,
    };
    await act(
      this.#host,
      'fn_consumer_register($1, $2, $3, $4::text::jsonb, $5)',
      [
        name,
        on,
        typeof job === 'string' ? job : job.kind,
        JSON.stringify(rest),
        actorOf(this.#host, options),
      ],
      options,
    );
  }

  /** Removes a consumer. Jobs that it has enqueued stay. */
  async remove(name: string, options: Acting = {}): Promise<void> {
    await act(
      this.#host,
      'fn_consumer_remove($1, $2)',
      [name, actorOf(this.#host, options)],
      options,
    );
  }

  /** By name. */
  list(options: PageOptions = {}): Promise<Page<Consumer>> {
    return readPage<Consumer>(
      this.#host.db,
      {
        columns: `consumer as name, event_type as "on", job_kind as "jobKind",
          subject_kind as "subjectKind", subject_domain as "subjectDomain", priority,
          delay_ms as "delayMs", max_attempts as attempts, registered_by as "registeredBy",
          registered_at as "registeredAt", refused`,
        from: 'writ.consumer_registry',
        key: [['consumer', 'text']],
        order: 'asc',
      },
      options,
    );
  }
}
