/**
 * Events that another engine tells us of, each within the write budget. Past it, or with the
 * database away, a StepStarted is kept in the spool, if there is one: that a step has begun is
 * worth knowing, and not worth keeping the step waiting for. Everything else is refused, for
 * whoever executes the run to tell again: nothing counts as done that is not in the log.
 *
 * What is in the spool is appended once a second, as soon as the database answers, and before
 * anything else of the same run. An event that was appended after all, or is handed over twice, is
 * recognised by its key.
 */
import { inTime } from '../database/budget.js';
import type { Queryable } from '../database/connection.js';
import { gate } from '../database/gate.js';
import { isUuid } from '../database/uuid.js';
import { isConnectionLoss, WritError, WritRefusal } from '../errors/index.js';
import { refuseSecrets } from '../secrets/redaction.js';
import type { SpoolEntry } from '../spool/entry.js';
import { type Merged, type Refused, Spool } from '../spool/spool.js';
import { assertReferencesOnly } from './events.js';

/** An event as another engine tells it. */
export interface AppendedEvent {
  readonly eventType: string;
  /** `RUN` unless given. */
  readonly stepId?: string;
  readonly logicalAttemptId?: string;
  readonly engineAttemptId?: string;
  readonly eventData?: object;
  /** When it happened, by the engine's clock, as ISO 8601; when it is stored unless given. */
  readonly emittedAt?: string;
  /** The version of the program that tells of it. */
  readonly adapterVersion?: string;
  /** The event of the same run that it follows from. */
  readonly parentEventId?: string;
}

export interface Appended {
  readonly runSeq: number;
  readonly eventId: string;
  /** It was there already. */
  readonly idempotent: boolean;
  readonly persistedAt: string;
  readonly spooled?: undefined;
}

/**
 * The database did not take it in time: it is on the disk of this machine, and will be appended
 * later. Only what `failOpen` names.
 */
export interface Spooled {
  readonly spooled: true;
}

export interface AppendsHost {
  readonly db: Queryable;
  readonly actor: string;
  readonly writeBudgetMs: number;
  /** The folder of the spool. */
  readonly spool: string | undefined;
  /** Which events may go there; StepStarted unless given. */
  readonly failOpen?: readonly FailOpenEvent[] | undefined;
}

interface Kept {
  readonly runId: string;
  readonly event: AppendedEvent;
  readonly actor: string;
  readonly tenant: string | null;
}

/**
 * Events that may be configured to be in the log later than they happened. Nothing counts as done
 * by them.
 */
const mayFailOpen = ['StepStarted', 'StepSkipped', 'RunQueued'] as const;
export type FailOpenEvent = (typeof mayFailOpen)[number];
const mergeEveryMs = 1_000;

export class Appends {
  readonly #host: AppendsHost;
  readonly #spool: Spool<Kept> | undefined;
  readonly #failOpen: readonly string[];
  /**
   * Runs with something in the spool that this connection has put there, by the number of the last.
   */
  readonly #behind = new Map<string, number>();
  #kept = 0;
  #timer: NodeJS.Timeout | undefined;
  #lastTrouble = '';

  constructor(host: AppendsHost) {
    this.#host = host;
    this.#failOpen = host.failOpen ?? ['StepStarted'];
    const never = this.#failOpen.find((type) => !(mayFailOpen as readonly string[]).includes(type));
    if (never !== undefined)
      throw new WritError(
        'invalid_argument',
        `failOpen: ${never} never waits in a spool; ${mayFailOpen.join(', ')} may`,
      );
    if (host.spool === undefined) return;
    this.#spool = new Spool(host.spool);
    this.#timer = setInterval(() => void this.#mergeByItself(), mergeEveryMs).unref();
  }

  async append(
    runId: string,
    event: AppendedEvent,
    tenant: string | null,
  ): Promise<Appended | Spooled> {
    if (!isUuid(runId)) throw new WritRefusal('RUN_NOT_FOUND', runId);
    assertReferencesOnly(event.eventData ?? {});
    refuseSecrets(JSON.stringify(event), `an event of run ${runId}`);
    const kept = { runId: runId.toLowerCase(), event, actor: this.#host.actor, tenant };
    const began = performance.now();
    try {
      if (this.#behind.has(kept.runId)) await this.#catchUp();
      return await this.#write(kept, this.#host.writeBudgetMs - (performance.now() - began));
    } catch (error) {
      if (!this.#spool || !this.#failOpen.includes(event.eventType) || !isConnectionLoss(error))
        throw error;
      await this.#spool.append(kept);
      this.#behind.set(kept.runId, ++this.#kept);
      return { spooled: true };
    }
  }

  async #write({ runId, event, actor, tenant }: Kept, withinMs: number): Promise<Appended> {
    const answer = await gate<{
      run_seq: number;
      event_id: string;
      idempotent: boolean;
      persisted_at: string;
    }>(
      this.#host.db,
      'fn_run_append($1::text::uuid, $2::text::jsonb, $3, $4)',
      [runId, JSON.stringify(event), actor, tenant],
      withinMs,
    );
    return {
      runSeq: answer.run_seq,
      eventId: answer.event_id,
      idempotent: answer.idempotent,
      persistedAt: new Date(answer.persisted_at).toISOString(),
    };
  }

  /** Appends what is in the spool, of this process and of others that are gone. */
  async merge(): Promise<Merged> {
    if (!this.#spool) return { merged: 0, refused: 0, damaged: [] };
    const upto = this.#kept;
    const merged = await this.#spool.merge((entry) => this.#take(entry));
    for (const [runId, number] of this.#behind) if (number <= upto) this.#behind.delete(runId);
    for (const file of merged.damaged) warn(new WritError('spool_damaged', file));
    return merged;
  }

  async #take({ payload, at }: SpoolEntry<Kept>): Promise<Refused | undefined> {
    const event = { ...payload.event, eventData: { ...payload.event.eventData, spooledAt: at } };
    try {
      await this.#write({ ...payload, event }, this.#host.writeBudgetMs);
      return undefined;
    } catch (error) {
      if (!isForGood(error)) throw error;
      warn(
        new WritError(
          'spool_refused',
          `${event.eventType} of run ${payload.runId}: ${error.message}`,
        ),
      );
      return { code: error.code, detail: error.message };
    }
  }

  /**
   * Within the budget, what this run has in the spool comes first: a step that has ended should not
   * be seen to begin. A spool that cannot be read must not keep the rest from the log.
   */
  async #catchUp(): Promise<void> {
    try {
      await inTime(this.merge(), this.#host.writeBudgetMs, 'the spool');
    } catch (error) {
      if (isConnectionLoss(error)) throw error;
    }
  }

  /** While the database is away there is nothing to say: that is what the spool is for. */
  async #mergeByItself(): Promise<void> {
    try {
      await this.merge();
      this.#lastTrouble = '';
    } catch (error) {
      if (isConnectionLoss(error) || String(error) === this.#lastTrouble) return;
      this.#lastTrouble = String(error);
      warn(error as WritError);
    }
  }

  /** What can be merged is; the rest stays for whoever comes next. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    if (this.#spool) await this.#mergeByItself();
    await this.#spool?.close();
  }
}

/** For those who look after the machine: nobody waits for an answer here. */
function warn({ name, message, code, remedy }: WritError): void {
  process.emitWarning(message, { type: name, code, ...(remedy && { detail: remedy }) });
}

/** The gate says no and always will, or PostgreSQL cannot take what is in it. */
function isForGood(error: unknown): error is Error & { code: string } {
  const { code } = error as { code?: unknown };
  return error instanceof WritRefusal
    ? !error.retryable
    : typeof code === 'string' && /^22...$/.test(code);
}
