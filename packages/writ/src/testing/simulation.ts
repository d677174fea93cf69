/**
 * A governor in memory, for tests, measurements and for trying a policy out. It turns as a driver
 * does; the clock moves from signal to signal, and a world answers as it is told. The events and
 * receipts are those that a database would have.
 */
import { decide as decideNow, decideVersion } from '../governor/decide.js';
import type { Effect } from '../governor/decision.js';
import type {
  Answers,
  Bounds,
  Content,
  Entitlement,
  Failure,
  Permission,
  QuotaRead,
  Result,
} from '../governor/events.js';
import { type Decide, firstDue, type MachineState, unborn } from '../governor/machine.js';
import { policyHash } from '../governor/policy.js';
import type { GovernorPolicy } from '../governor/policy-document.js';
import type { Question } from '../governor/questions.js';
import {
  type StoredMail,
  storedData,
  storedWaiting,
  type TakenGovernor,
} from '../governor/stored.js';
import { turn } from '../governor/turn.js';
import type { GeneratedSignal } from './signals.js';

export const usualBounds: Bounds = {
  boot_ms: 30_000,
  action_ms: 500,
  rollback_ms: 30_000,
  attempts: 3,
  recheck_ms: 30_000,
  recovery_ms: 120_000,
  recovery_max_ms: 3_600_000,
  backoff_ms: [10_000, 30_000, 60_000, 300_000],
  storm_limit: 100,
  storm_window_ms: 60_000,
  storm_every_ms: 10_000,
  storm_retry_ms: 30_000,
  capacity: 1_000,
};

type Attempt = Extract<Effect, { type: 'attempt' }>;

/** How the world around it is. */
export interface World {
  /**
   * How an attempt at an action, or at undoing one, ends and after how many milliseconds;
   * undefined: nobody hears of it again. At once and well unless given.
   */
  readonly carry?: (attempt: Attempt) => (Partial<Result> & { readonly after: number }) | undefined;
  readonly permission?: (at: number) => Permission;
  readonly entitlement?: Entitlement | null;
}

export interface SimulationOptions extends World {
  readonly governorId?: string;
  readonly tenant?: string;
  readonly sku?: string;
  readonly bounds?: Partial<Bounds>;
  readonly from?: number;
  readonly decide?: Decide;
}

interface Mail {
  readonly at: number;
  readonly content: Content;
}

const yes: Permission = { allowed: true, policy_set_hash: '00'.repeat(32) };

export class Simulation {
  readonly #options: SimulationOptions;
  readonly #decide: Decide;
  #governor: MachineState;
  now: number;
  /** Canonical JSON, a line each. */
  readonly events: string[] = [];
  readonly receipts: string[] = [];
  /** What comes back, and when, soonest first. */
  #coming: Mail[] = [];
  #mails = 0;
  #versions = 0;
  readonly #arrivals: number[] = [];
  /** Signals that no receipt has settled, by their arrival. */
  readonly #held = new Map<number, StoredMail>();

  constructor(options: SimulationOptions = {}) {
    const {
      governorId = '018f0000-0000-7000-8000-000000000001',
      tenant = 'default',
      sku = 'default',
    } = options;
    this.#options = options;
    this.#decide = options.decide ?? decideNow;
    this.#governor = unborn(governorId, tenant, sku);
    this.now = options.from ?? Date.UTC(2026, 0, 1);
    const bounds = { ...usualBounds, ...options.bounds };
    this.#send({
      kind: 'create',
      sku_id: sku,
      tenant_id: tenant,
      process_id: 'simulation',
      bounds,
    });
  }

  get governor(): MachineState {
    return this.#governor;
  }

  publish(document: GovernorPolicy | null, { shadow = false, actor = 'somebody' } = {}): void {
    const policy = document && {
      version: ++this.#versions,
      hash: policyHash(document),
      shadow,
      document,
    };
    this.tell({ kind: 'policy', policy, actor });
  }

  /** A signal, at the time it was observed. */
  signal({ tenant: _, ...signal }: GeneratedSignal): void {
    this.#until(signal.observed_at);
    const { storm_window_ms, storm_limit } = this.#governor.data?.bounds ?? usualBounds;
    this.#arrivals.push(this.now);
    const recent = this.#recent(storm_window_ms);
    const storm = recent > storm_limit ? { storm: recent } : {};
    this.#send({ kind: 'signal', arrival_seq: this.#arrivals.length, ...signal, ...storm });
  }

  /** Anything else that is put into its mailbox, now. */
  tell(content: Content): void {
    this.#until(this.now);
    this.#send(content);
  }

  /** Whoever drives it has found out that something failed. */
  fail(content: Extract<Content, { kind: 'health_failed' }>): void {
    this.#until(this.now);
    this.#turn([], content.failure);
  }

  /** Time passes. */
  pass(ms: number): void {
    this.#until(this.now + ms);
  }

  /** Until a moment: what comes back, and timers, each when it is due. */
  #until(moment: number): void {
    for (let due = this.#next(); due <= moment; due = this.#next()) {
      this.now = Math.max(this.now, due);
      const [first] = this.#coming;
      if (first && first.at <= this.now) this.#send((this.#coming.shift() as Mail).content);
      else this.#turn([]);
    }
    this.now = Math.max(this.now, moment);
  }

  #next(): number {
    return Math.min(
      firstDue(this.#governor) ?? Number.POSITIVE_INFINITY,
      this.#coming[0]?.at ?? Number.POSITIVE_INFINITY,
    );
  }

  #send(content: Content): void {
    const arrival = content.kind === 'signal' ? content.arrival_seq : null;
    const mail: StoredMail = [++this.#mails, this.now, arrival, content];
    if (arrival !== null) this.#held.set(arrival, mail);
    this.#turn([mail]);
  }

  /** Turns, as a driver would, until nothing is left to do; `mails` are what has just come. */
  #turn(mails: StoredMail[], failure?: Failure): void {
    let told = failure;
    let answers: Answers | undefined;
    for (let goesOn = true; goesOn; ) {
      const { done, result } = this.#once(mails, answers, told);
      if (result.crash !== undefined) throw result.crash;
      const { question, steps } = result;
      goesOn = question !== undefined || result.more;
      answers = question && this.#answer(question);
      if (steps.length > 0) told = undefined;
      mails = mails.filter(([seq]) => seq > done);
      this.#governor = result.governor;
      for (const [, { text, entries, settled, effects }] of steps) {
        this.events.push(text);
        this.receipts.push(...entries);
        for (const [arrival] of settled) this.#held.delete(arrival);
        for (const effect of effects) if (effect.type === 'attempt') this.#carry(effect);
      }
    }
  }

  #once(mails: StoredMail[], answers: Answers | undefined, told: Failure | undefined) {
    const { id, tenant, sku, data, waiting, ...rest } = this.#governor;
    const taken: TakenGovernor = {
      ...rest,
      id,
      t: tenant,
      s: sku,
      done: 0,
      due: null,
      data: data ? storedData(data) : {},
      waiting: storedWaiting(waiting),
      crashes: 0,
      crash: null,
      mails,
      held: [...this.#held.values()],
    };
    const result = turn(taken, data?.policy ?? null, answers, told, {
      decide: this.#decide,
      decideVersion,
      processId: 'simulation',
      now: this.now,
      twice: false,
      limit: 1_000,
      mails: Number.POSITIVE_INFINITY,
      crashLimit: 10,
    });
    return { done: result.mailDone, result };
  }

  #carry(attempt: Attempt): void {
    const { carry } = this.#options;
    const ended: ReturnType<NonNullable<World['carry']>> = carry ? carry(attempt) : { after: 50 };
    if (!ended) return;
    const { after, ...result } = ended;
    const { action_id, attempt: n } = attempt;
    const baseline =
      attempt.kind === 'action' && result.ok !== false ? { baseline: 'restored' as const } : {};
    const mail: Mail = {
      at: this.now + after,
      content: { kind: 'result', action_id, attempt: n, ok: true, ...baseline, ...result },
    };
    this.#coming = [...this.#coming, mail].sort((a, b) => a.at - b.at);
  }

  #recent(windowMs: number): number {
    let first = this.#arrivals.length;
    while (first > 0 && (this.#arrivals[first - 1] as number) > this.now - windowMs) first--;
    return this.#arrivals.length - first;
  }

  #answer(question: Question): Answers {
    const { permission = () => yes, entitlement = { status: 'ACTIVE', quota_limit: null } } =
      this.#options;
    const quota: QuotaRead = this.#governor.data?.quota ?? {
      month: new Date(this.now).toISOString().slice(0, 7),
      used: 0,
    };
    const answer = permission(this.now);
    if (question.kind === 'recent')
      return { recent: this.#recent(this.#governor.data?.bounds.storm_window_ms ?? 0) };
    if (question.kind === 'check') return { check: { entitlement, quota, failures: [] } };
    if (question.kind === 'recheck')
      return { recheck: { quota, permission: answer, inverse: answer, known: true } };
    return { act: { action: answer, inverse: answer, quota, known: true } };
  }
}
