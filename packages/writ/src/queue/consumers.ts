/** Consumers: from each event of a type a job follows, once. The database keeps them, and every worker's clockwork drives them. */
import { type Duration, milliseconds } from './duration.js';
import type { JobKind } from './job.js';

/** What a consumer's job gets as its input: which event, not what it was about. `subject` is the id of the job that it happened to. */
export interface EventReference {
  readonly eventId: string;
  readonly eventType: string;
  readonly subject: string;
}

export interface ConsumerOptions {
  /** The type of event, as `writ.event_type_registry` lists them: `dot.job.dead_letter`. */
  readonly on: string;
  /** The kind of job that follows. */
  readonly job: JobKind<EventReference, unknown>;
  /** Only events of jobs of this kind. */
  readonly subjectKind?: string;
  /** Only events of jobs whose kind belongs to this domain. */
  readonly subjectDomain?: string;
  readonly priority?: number;
  readonly delay?: Duration;
  readonly attempts?: number;
}

/** A consumer as it is registered. */
export interface Consumer {
  readonly name: string;
  readonly on: string;
  readonly jobKind: string;
  readonly subjectKind: string | undefined;
  readonly subjectDomain: string | undefined;
  /** Why the queue does not take its jobs. It stays where it is, and nothing is lost. */
  readonly refused: string | undefined;
}

export interface ConsumerGates {
  readonly gate: (name: string, params: (string | null)[]) => Promise<Record<string, unknown>>;
  readonly rows: (view: string) => Promise<Record<string, unknown>[]>;
  readonly register: (job: JobKind<never, unknown>) => Promise<void>;
}

export class Consumers {
  readonly #gates: ConsumerGates;
  readonly #actor: string;

  constructor(gates: ConsumerGates, actor: string) {
    this.#gates = gates;
    this.#actor = actor;
  }

  /** Registers a consumer, for events from now on; or changes one, which then goes on where it is. */
  async put(name: string, options: ConsumerOptions): Promise<void> {
    const { on, job, subjectKind, subjectDomain, priority, delay, attempts } = options;
    await this.#gates.register(job as unknown as JobKind<never, unknown>);
    const rest = {
      subject_kind: subjectKind,
      subject_domain: subjectDomain,
      // JSON has no NaN: as text it is refused for what it is.
      priority: Number.isNaN(priority) ? 'NaN' : priority,
      delay_ms: delay === undefined ? undefined : milliseconds(delay),
      max_attempts: attempts,
    };
    await this.#gates.gate('fn_consumer_register', [
      name,
      on,
      job.kind,
      JSON.stringify(rest),
      this.#actor,
    ]);
  }

  /** Removes a consumer. Jobs that it has enqueued stay. */
  async remove(name: string): Promise<void> {
    await this.#gates.gate('fn_consumer_remove', [name, this.#actor]);
  }

  async list(): Promise<Consumer[]> {
    const text = (value: unknown) => (value === null ? undefined : String(value));
    return (await this.#gates.rows('consumer_registry')).map((row) => ({
      name: String(row.consumer),
      on: String(row.event_type),
      jobKind: String(row.job_kind),
      subjectKind: text(row.subject_kind),
      subjectDomain: text(row.subject_domain),
      refused: text(row.refused),
    }));
  }
}
