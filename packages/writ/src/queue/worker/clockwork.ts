/**
 * The worker's clock. Once a second, or when a waiting job is due, it turns the queue's clockwork
 * (fn_job_tick), gives back claims whose answer was lost, renews the heartbeat, tells the worker to
 * look for work, and dispatches new facts to consumers. An idle worker asks to be woken; it renews
 * that at most once per look, and nothing relies on it. A login without writ_engine leaves the
 * clockwork and the dispatch to the processes that have it.
 */
import type { PreparedPool } from '../../database/prepared.js';
import { isConnectionLoss, refusalIn } from '../../errors/index.js';

export const executor = 'external_worker';

export type Look = (workerId: string) => Promise<number | undefined>;

export interface ClockworkOptions {
  readonly gates: PreparedPool;
  readonly workerId: string;
  readonly kinds: readonly string[];
  readonly pollMs: number;
  /** Whether the login may turn the clockwork and dispatch facts. */
  readonly engine: boolean;
  /**
   * What layers above do at each look. Each answers in how many milliseconds it wants to look
   * again, or undefined.
   */
  readonly looks: readonly Look[];
  /** What the heartbeat tells about the worker. */
  readonly details: () => Record<string, unknown>;
  /** Something may be claimable; of these kinds jobs wait that may only run alone. */
  readonly onLook: (alone: readonly string[]) => void;
  readonly onError: (error: unknown) => void;
}

/** When a waiting job is due, and the kinds whose waiting jobs may only run alone. */
interface Tick {
  readonly next_due_ms: number | null;
  readonly alone?: readonly string[];
  /** There is more to do at once. */
  readonly more?: boolean;
}

const noTick: Tick = { next_due_ms: null };
const beatEveryMs = 10_000;
const beat = '$1, $2, $3::text[], $4, $5::text[], $6, $7::text::jsonb';
const soonMs = 100;
/** The gate takes no more. */
const longestIdleS = 3_600;

export class Clockwork {
  readonly #options: ClockworkOptions;
  /** Claims whose answer was lost: if they happened, nobody will run what they hold. */
  readonly #unheard = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #looking = false;
  #look: Promise<void> = Promise.resolve();
  #stopped = false;
  // By performance.now(), like every time here: nobody can set that clock.
  #idleUntil = 0;
  #beatAt = Number.NEGATIVE_INFINITY;
  /** When the look under way began, or the next one is due. */
  #turnsAt = performance.now();
  #answered = false;

  constructor(options: ClockworkOptions) {
    this.#options = options;
  }

  /** Whether enqueues wake this worker at the moment. */
  get idle(): boolean {
    return this.#idleUntil > performance.now();
  }

  /** How long a look has been under way or overdue. */
  get standsForMs(): number {
    return Math.max(0, performance.now() - this.#turnsAt);
  }

  /** Whether the database answered the last look. */
  get answered(): boolean {
    return this.#answered;
  }

  unheard(token: string): void {
    this.#unheard.add(token);
  }

  /** A retry, or a timer, may be due before the next look. */
  soon(ms = soonMs): void {
    if (this.#looking || this.#stopped || this.#turnsAt - performance.now() < ms) return;
    clearTimeout(this.#timer);
    this.#lookIn(Math.max(ms, 5));
  }

  /**
   * Resolves when a look that was on its way is over, or after `ms`: whoever stops must not take
   * the connection from under it.
   */
  async stop(ms: number): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    let enough: NodeJS.Timeout | undefined;
    await Promise.race([this.#look, new Promise((resolve) => (enough = setTimeout(resolve, ms)))]);
    clearTimeout(enough);
  }

  look(): Promise<void> {
    if (!this.#looking && !this.#stopped) this.#look = this.#lookNow();
    return this.#look;
  }

  async #lookNow(): Promise<void> {
    const { gates, workerId, pollMs, engine, onLook, onError } = this.#options;
    this.#looking = true;
    this.#turnsAt = performance.now();
    let next = pollMs;
    let answered = false;
    try {
      const tick = await this.#part(() => (engine ? this.#tick() : Promise.resolve(noTick)));
      if (tick && tick.next_due_ms !== null) next = Math.min(next, Math.max(tick.next_due_ms, 5));
      if (tick?.more) next = Math.min(next, 5);
      for (const token of this.#unheard) {
        // A lease that cannot be given back expires.
        await this.#part(() =>
          gates.query('select writ.fn_lease_release($1, $2)', [token, workerId]),
        );
        this.#unheard.delete(token);
      }
      next = Math.min(next, await this.#lookAbove());
      const due = performance.now() - this.#beatAt > beatEveryMs;
      const beat = await this.#part(() => (due ? this.#beat(null) : Promise.resolve(noTick)));
      answered = tick !== undefined && beat !== undefined;
      onLook(tick?.alone ?? beat?.alone ?? []);
      if (!engine) return;
      // Last, and in a transaction of its own: it may take long.
      const followed = await gates.query('select writ.fn_consumer_dispatch_many() as answer');
      if ((followed.rows[0].answer as { more?: boolean }).more) next = Math.min(next, 5);
    } catch (error) {
      if (isConnectionLoss(error)) answered = false;
      onError(error);
    } finally {
      this.#looking = false;
      this.#answered = answered;
      if (!this.#stopped) this.#lookIn(next);
    }
  }

  /** One part of a look. If it fails, the others go on; a lost connection ends the look. */
  async #part<Answer>(part: () => Promise<Answer>): Promise<Answer | undefined> {
    try {
      return await part();
    } catch (error) {
      if (isConnectionLoss(error)) throw error;
      this.#options.onError(error);
      return undefined;
    }
  }

  async #tick(): Promise<Tick> {
    const { gates, workerId } = this.#options;
    const { rows } = await gates.query('select writ.fn_job_tick($1) as answer', [workerId]);
    return rows[0].answer as Tick;
  }

  /** A fault above must not keep this worker from its own queue. */
  async #lookAbove(): Promise<number> {
    const { looks, workerId, pollMs, onError } = this.#options;
    let next = pollMs;
    for (const look of looks) {
      try {
        next = Math.min(next, Math.max((await look(workerId)) ?? pollMs, 5));
      } catch (error) {
        onError(error);
      }
    }
    return next;
  }

  #lookIn(ms: number): void {
    this.#turnsAt = performance.now() + ms;
    this.#timer = setTimeout(() => void this.look(), ms);
  }

  /**
   * Asks to be woken. Whoever calls this looks once more: what was enqueued before the declaration
   * was visible has woken nobody.
   */
  async declareIdle(): Promise<void> {
    const { pollMs } = this.#options;
    await this.#beat(Math.min(1.5 * (pollMs / 1000) + 0.5, longestIdleS));
    this.#idleUntil = performance.now() + pollMs;
  }

  async #beat(idleSeconds: number | null): Promise<Pick<Tick, 'alone'>> {
    const { gates, workerId, kinds, details } = this.#options;
    const { rows } = await gates.query(`select writ.fn_queue_heartbeat(${beat}) as answer`, [
      workerId,
      executor,
      ['dot'],
      beatEveryMs / 1000,
      kinds,
      idleSeconds,
      JSON.stringify(details()),
    ]);
    this.#beatAt = performance.now();
    const refusal = refusalIn(rows[0].answer);
    if (refusal) throw refusal;
    return rows[0].answer as Pick<Tick, 'alone'>;
  }
}
