/**
 * A relay tells destinations what happened. It asks for the next work, sends it, and says what
 * became of it; the position of a destination moves in the transaction that says so. One that dies
 * in between leaves a turn that ends by itself, and the next sends the same events, with the same
 * ids, again. Any number of relays share the work, a destination at a time.
 */
import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import type pg from 'pg';
import type { Queryable } from '../database/connection.js';
import { gate } from '../database/gate.js';
import { isConnectionLoss, WritError, WritRefusal } from '../errors/index.js';
import { asError } from '../errors/thrown.js';
import { pass } from '../queue/worker/fault-points.js';
import { Listener } from '../queue/worker/listener.js';
import { guarded, printError, tell } from '../queue/worker/listeners.js';
import { delivering } from '../telemetry/delivery.js';
import { count, measure } from '../telemetry/meter.js';
import { type Bus, heldByBus, heldByOrder, type NotSent, type Outcome } from './buses/bus.js';
import { type CompactFact, envelopeOf, inRunOrder, streamOf, traceOf } from './facts.js';

export interface Destination {
  readonly name: string;
  readonly bus: string;
  readonly config: Readonly<Record<string, unknown>>;
}

/** Makes what sends to a destination. Made once, and again when its config has changed. */
export type BusMaker = (destination: Destination) => Bus | Promise<Bus>;

export interface RelayOptions {
  readonly buses: Readonly<Record<string, BusMaker>>;
  readonly name?: string | undefined;
  /** Destinations that are told something at the same time; 4 unless given. */
  readonly concurrency?: number | undefined;
  /** Calls of gates whose events are sent in one turn; 200 unless given. */
  readonly batch?: number | undefined;
  readonly onError?: ((error: unknown) => void) | undefined;
  /** What became of each call of a destination. */
  readonly onTold?: ((told: Told) => void) | undefined;
}

export interface Told {
  readonly destination: string;
  readonly delivered: number;
  readonly failed: number;
  /** Dead letters that came of it. */
  readonly dead: number;
  /** It accepts nothing, and was paused. */
  readonly paused: boolean;
  /** Why the first that was not accepted was not. */
  readonly reason?: string;
}

export interface RelayHost {
  readonly db: Queryable;
  readonly listenConnection: pg.ClientConfig;
}

interface Work {
  readonly idle?: boolean;
  readonly turn: string;
  readonly next_ms?: number | null;
  readonly destination: string;
  readonly bus: string;
  readonly failures: number;
  readonly config: Record<string, unknown>;
  readonly retries: [attempts: number, fact: CompactFact][];
  readonly events: CompactFact[];
  readonly blocked: string[];
  readonly more: boolean;
  readonly lag_ms: number;
  readonly turn_ms: number;
}

type How = 'ok' | 'failed' | 'held' | 'later';

const pollMs = 1_000;
/** So much of its turn a relay sends for, so that it is still heard when it says how it went. */
const partOfTurn = 2 / 3;
/**
 * While a destination accepts nothing, it is tried with so many streams. More than one: an event
 * that nobody wants must not stand in the way of the others.
 */
const probes = 3;
/**
 * A bus that was not needed for so long is closed, as that of a destination that was removed;
 * longer than any turn.
 */
const idleBusMs = 10 * 60_000;
/** How soon to look again after something was recorded that an older transaction still hides. */
const impatienceMs = [2, 5, 10, 20, 50, 100, 200, 400];

export class Relay {
  readonly name: string;
  readonly #host: RelayHost;
  readonly #options: RelayOptions;
  readonly #listener: Listener;
  readonly #buses = new Map<
    string,
    { readonly config: string; readonly bus: Promise<Bus>; usedAt: number }
  >();
  readonly #stop = new AbortController();
  readonly #onError: (error: unknown) => void;
  #loops: Promise<unknown> = Promise.resolve();
  #wakeUps = new Set<() => void>();

  constructor(host: RelayHost, options: RelayOptions) {
    this.name = options.name ?? `${hostname()}:${process.pid}:${randomBytes(3).toString('hex')}`;
    this.#host = host;
    this.#options = options;
    this.#onError = guarded(options.onError ?? printError);
    this.#listener = new Listener({
      connection: host.listenConnection,
      channels: ['outbox_wake'],
      onWake: () => this.#wake(),
      onConnected: () => this.#wake(),
      onError: (error) => this.#onError(error),
    });
  }

  async start(): Promise<void> {
    await this.#listener.start();
    this.#loops = Promise.all(
      Array.from({ length: this.#options.concurrency ?? 4 }, (_, n) =>
        this.#loop(`${this.name}/${n + 1}`, n === 0),
      ),
    );
  }

  /** Lets what is being sent end; what has no answer yet is sent again by the next relay. */
  async stop(): Promise<void> {
    this.#stop.abort();
    this.#wake();
    await this.#loops;
    await this.#listener.stop();
    for (const { bus } of this.#buses.values())
      await bus.then((open) => open.close()).catch(this.#onError);
  }

  #wake(): void {
    for (const wakeUp of this.#wakeUps) wakeUp();
  }

  /** Resolves after the time, or when something was recorded. Answers whether it was. */
  #sleep(ms: number): Promise<boolean> {
    return new Promise((resolve) => {
      const done = (woken: boolean) => {
        clearTimeout(timer);
        this.#wakeUps.delete(wakeUp);
        resolve(woken);
      };
      const wakeUp = () => done(true);
      const timer = setTimeout(() => done(false), ms);
      this.#wakeUps.add(wakeUp);
      if (this.#stop.signal.aborted) done(true);
    });
  }

  /**
   * One loop is the eager one, which looks by the clock and when woken; the others help while there
   * is more than it can do.
   */
  async #loop(name: string, eager: boolean): Promise<void> {
    let impatience = impatienceMs.length;
    let lookedTwice = false;
    while (!this.#stop.signal.aborted) {
      try {
        const work = await gate<Work>(
          this.#host.db,
          'fn_outbox_take($1, $2::text::text[], $3::text::integer)',
          [
            name,
            `{${Object.keys(this.#options.buses).join(',')}}`,
            String(this.#options.batch ?? 200),
          ],
        );
        if (!work.idle) {
          await this.#tell(work);
          impatience = 0;
          lookedTwice = false;
          continue;
        }
        if (!eager) {
          await this.#sleep(pollMs);
          continue;
        }
        // What was recorded before this relay had declared itself idle has woken nobody.
        if (!lookedTwice) {
          lookedTwice = true;
          continue;
        }
        await this.#closeIdle();
        const soon = impatienceMs[impatience++] ?? pollMs;
        if (await this.#sleep(Math.max(1, Math.min(soon, work.next_ms ?? pollMs)))) impatience = 0;
      } catch (error) {
        if (!this.#stop.signal.aborted) this.#onError(error);
        await this.#sleep(isConnectionLoss(error) ? 200 : pollMs);
      }
    }
  }

  async #busOf({ destination: name, bus, config }: Work): Promise<Bus> {
    const text = JSON.stringify([bus, config]);
    const known = this.#buses.get(name);
    if (known?.config === text) {
      known.usedAt = performance.now();
      return known.bus;
    }
    await known?.bus.then((old) => old.close()).catch(this.#onError);
    const make = this.#options.buses[bus] as BusMaker;
    const made = Promise.resolve().then(() => make({ name, bus, config }));
    this.#buses.set(name, { config: text, bus: made, usedAt: performance.now() });
    made.catch(() => this.#buses.delete(name));
    return made;
  }

  async #closeIdle(): Promise<void> {
    for (const [name, { bus, usedAt }] of this.#buses) {
      if (performance.now() - usedAt < idleBusMs) continue;
      this.#buses.delete(name);
      await bus.then((open) => open.close()).catch(this.#onError);
    }
  }

  async #tell(work: Work): Promise<void> {
    await pass('relay_taken');
    const blocked = new Set(work.blocked);
    const retried = work.retries.map(([, fact]) => fact);
    // What is told once more, as by a replay, may be due again at the same time.
    const again = new Set(retried.map(([id]) => id));
    const fresh = inRunOrder(work.events).filter(([id]) => !again.has(id));
    const sendable = [...retried, ...fresh.filter((fact) => !blocked.has(streamOf(fact)))];
    const behind = fresh.filter((fact) => blocked.has(streamOf(fact)));
    const began = performance.now();
    const outcomes = await delivering(
      work.destination,
      work.bus,
      () => sendable.map(traceOf),
      sendable.length,
      () => this.#send(work, sendable),
    );
    if (sendable.length > 0)
      measure('writ.outbox.duration', (performance.now() - began) / 1_000, work.destination);
    await pass('relay_sent');
    const report: unknown[] = behind.map((fact) => told(fact, 'held'));
    const tried: unknown[] = [];
    let sent = 0;
    let failed = 0;
    let down = false;
    let gone = false;
    const stuck = new Map<string, How>();
    sendable.forEach((fact, n) => {
      const outcome = outcomes[n] as Outcome;
      const how = howOf(outcome, stuck.get(streamOf(fact)));
      if (how === 'ok') sent++;
      else if (!stuck.has(streamOf(fact))) stuck.set(streamOf(fact), how);
      if (how === 'failed') failed++;
      if (!outcome.ok) {
        down ||= outcome.busDown === true;
        gone ||= outcome.gone === true;
      }
      const line = told(fact, how, outcome);
      report.push(line);
      if (outcome.ok || !outcome.held) tried.push(line);
    });
    // Where nothing got through, or nothing was tried, nothing has moved: the new ones stay in the
    // record, and are not written down one by one.
    const moves = sent > 0 || sendable.length === 0 || (failed > 0 && !(down || gone));
    const first = outcomes.find((outcome) => !outcome.ok && !outcome.held) as NotSent | undefined;
    await this.#done(
      work,
      moves,
      moves ? report : tried,
      gone ? 'gone' : down ? 'down' : null,
      first?.reason,
    );
  }

  async #send(work: Work, facts: readonly CompactFact[]): Promise<Outcome[]> {
    if (facts.length === 0) return [];
    const late = AbortSignal.timeout(Math.floor(work.turn_ms * partOfTurn));
    const signal = AbortSignal.any([this.#stop.signal, late]);
    let doing = 'could not be opened';
    let outcomes: Outcome[];
    try {
      const bus = await this.#busOf(work);
      doing = 'failed';
      outcomes = await (work.failures > 0
        ? this.#probe(bus, facts, signal)
        : publish(bus, facts, signal));
    } catch (error) {
      if (this.#stop.signal.aborted) throw error;
      this.#onError(error);
      const reason = `the bus ${doing}: ${error instanceof WritError ? error.code : asError(error).name}`;
      return facts.map(() => ({ ok: false, retryable: true, busDown: true, ms: 0, reason }));
    }
    // A whole turn without one answer is an answer.
    if (late.aborted && outcomes.every((outcome) => !outcome.ok && outcome.held))
      outcomes[0] = { ...(outcomes[0] as NotSent), busDown: true };
    return outcomes;
  }

  /**
   * Tries a destination that accepted nothing the last time with the first events of a few streams,
   * any of them, and goes on with the rest if one was accepted. One that refuses everything, in
   * whatever words, has nothing thrown away for it.
   */
  async #probe(bus: Bus, facts: readonly CompactFact[], signal: AbortSignal): Promise<Outcome[]> {
    const firsts = new Map<string, number>();
    for (const [at, fact] of facts.entries())
      if (!firsts.has(streamOf(fact))) firsts.set(streamOf(fact), at);
    const chosen = new Set(shuffled([...firsts.values()]).slice(0, probes));
    const outcomes: Outcome[] = facts.map(() => heldByBus);
    const publishAt = async (places: readonly number[]) => {
      const answers = await publish(
        bus,
        places.map((at) => facts[at] as CompactFact),
        signal,
      );
      for (const [n, at] of places.entries()) outcomes[at] = answers[n] as Outcome;
    };
    await publishAt([...chosen]);
    const tried = [...chosen].map((at) => ({ at, outcome: outcomes[at] as Outcome }));
    if (tried.some(({ outcome }) => outcome.ok)) {
      const failed = new Set(
        tried.flatMap(({ at, outcome }) =>
          outcome.ok ? [] : [streamOf(facts[at] as CompactFact)],
        ),
      );
      for (const [at, fact] of facts.entries())
        if (failed.has(streamOf(fact)) && !chosen.has(at)) outcomes[at] = heldByOrder;
      await publishAt(
        [...facts.keys()].filter(
          (at) => !chosen.has(at) && !failed.has(streamOf(facts[at] as CompactFact)),
        ),
      );
      return outcomes;
    }
    for (const { at, outcome } of tried)
      if (!outcome.ok && !outcome.held) outcomes[at] = { ...outcome, busDown: true };
    return outcomes;
  }

  async #done(
    work: Work,
    moves: boolean,
    report: readonly unknown[],
    trouble: string | null,
    reason: string | undefined,
  ): Promise<void> {
    const telling = gate<Omit<Told, 'destination' | 'reason'>>(
      this.#host.db,
      'fn_outbox_done($1, $2::text::uuid, $3::text::boolean, $4::text::json, $5, $6)',
      [
        work.destination,
        work.turn,
        String(moves),
        JSON.stringify(report),
        trouble,
        reason?.slice(0, 500) ?? null,
      ],
    );
    telling.catch(() => undefined); // looked at below; a fault point may wait in between
    await pass('relay_told');
    try {
      const told = await telling;
      count('writ.outbox.events', told.delivered, work.destination, 'delivered');
      count('writ.outbox.events', told.failed, work.destination, 'failed');
      count('writ.outbox.events', told.dead, work.destination, 'dead');
      tell(() =>
        this.#options.onTold?.({
          destination: work.destination,
          ...told,
          ...(reason !== undefined && { reason }),
        }),
      );
    } catch (error) {
      // Its turn was over, or the destination is gone: whoever has it now tells the same again.
      if (
        !(error instanceof WritRefusal) ||
        !['not_the_relay', 'destination_not_found'].includes(error.code)
      )
        throw error;
    }
  }
}

/** Holds a bus to its word: it answers for each event. */
async function publish(
  bus: Bus,
  facts: readonly CompactFact[],
  signal: AbortSignal,
): Promise<Outcome[]> {
  const outcomes = await bus.publish(facts.map(envelopeOf), signal);
  if (outcomes.length !== facts.length)
    throw new TypeError(`${bus.name} has ${outcomes.length} answers for ${facts.length} events`);
  return outcomes;
}

function shuffled<T>(values: T[]): T[] {
  for (let last = values.length - 1; last > 0; last--) {
    const other = Math.floor(Math.random() * (last + 1));
    [values[last], values[other]] = [values[other] as T, values[last] as T];
  }
  return values;
}

/**
 * `before` is what became of an earlier event of its stream in the same call, if that was not
 * accepted.
 */
function howOf(outcome: Outcome, before: How | undefined): How {
  if (outcome.ok) return 'ok';
  if (!outcome.held) return outcome.busDown || outcome.gone ? 'later' : 'failed';
  return before === 'failed' ? 'held' : 'later';
}

function told(fact: CompactFact, how: How, outcome?: Outcome): unknown[] {
  const [id, , stream, , , , runSeq] = fact;
  if (!outcome || outcome.ok)
    return [id, stream, runSeq, how, outcome && Math.round(outcome.ms), outcome?.status ?? null];
  const { ms, status = null, reason, retryable, retryAfterMs = null } = outcome;
  return [id, stream, runSeq, how, Math.round(ms), status, reason, retryable, retryAfterMs];
}
