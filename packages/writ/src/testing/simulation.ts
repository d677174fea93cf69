/**
 * A governor in memory, for tests, measurements and for trying a policy out: the machine and its table as they are, a clock that moves from signal to signal, and a world that answers as it is
 * told. What it gives is what a database would have: the events, as they are replayed, and the receipts.
 */
import { canonicalize } from '../ledger/canonical.js';
import { decide as decideNow, decideVersion } from './decide.js';
import type { Effect } from './decision.js';
import type {
  Answers,
  Bounds,
  Content,
  Entitlement,
  GovernorEvent,
  Permission,
  QuotaRead,
  Result,
} from './events.js';
import type { GeneratedSignal } from './generator.js';
import {
  type Decide,
  firstDue,
  type Governor,
  nextOf,
  type Stepped,
  step,
  unborn,
} from './machine.js';
import { policyHash } from './policy.js';
import type { PolicyDocument } from './policy-document.js';
import { type Question, questionOf } from './questions.js';

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
  /** How an attempt at an action, or at undoing one, ends and after how many milliseconds; undefined: nobody hears of it again. At once and well unless given. */
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
  #governor: Governor;
  now: number;
  /** Canonical JSON, a line each. */
  readonly events: string[] = [];
  readonly receipts: string[] = [];
  /** What comes back, and when, soonest first. */
  #coming: Mail[] = [];
  #mails = 0;
  #versions = 0;
  readonly #arrivals: number[] = [];
  readonly #signals = new Map<number, Content>();

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

  get governor(): Governor {
    return this.#governor;
  }

  publish(document: PolicyDocument | null, { shadow = false, actor = 'somebody' } = {}): void {
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
    this.#handle({ from: 'host' }, content, this.#governor.waiting);
    this.#drain();
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
      else this.#drain();
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
    // Timers that were due before it go first.
    this.#drain(this.now);
    const mail_seq = ++this.#mails;
    if (content.kind === 'signal') this.#signals.set(mail_seq, content);
    this.#handle(
      { from: 'mailbox', mail_seq, arrived_at: this.now },
      content,
      this.#governor.waiting,
    );
    this.#drain();
  }

  #drain(until = this.now + 1): void {
    for (let one = nextOf(this.#governor, until); one; one = nextOf(this.#governor, until)) {
      const { pending, dueAt, waiting } = one;
      const { content: waits, from } = pending;
      if (waits.kind === 'held') {
        const place = {
          from: from === 'mailbox' ? ('postponed' as const) : ('inserted' as const),
          mail_seq: waits.mail_seq,
        };
        this.#handle(place, this.#signals.get(waits.mail_seq) as Content, waiting);
      } else {
        const place = {
          from: from === 'timer' ? ('timer' as const) : ('inserted' as const),
          ...(dueAt !== undefined && { due_at: dueAt }),
        };
        this.#handle(place, waits as Content, waiting);
      }
    }
  }

  #handle(
    place: Pick<GovernorEvent, 'from' | 'mail_seq' | 'arrived_at' | 'due_at'>,
    content: Content,
    waiting: Governor['waiting'],
  ): void {
    const { state, events, last } = this.#governor;
    const question = questionOf(this.#governor, content);
    const isAnew = state === 'degraded' && content.kind === 'timer' && content.timer === 'state';
    const event: GovernorEvent = {
      event_seq: events + 1,
      at: Math.max(this.now, last),
      decide: decideVersion,
      ...place,
      content,
      ...(question && { answers: this.#answer(question) }),
      ...(isAnew && { answers: { process_id: 'simulation' } }),
    };
    const stepped: Stepped = step(this.#governor, event, waiting, this.#decide);
    this.#governor = stepped.governor;
    this.events.push(canonicalize(event));
    this.receipts.push(...stepped.entries);
    if (
      content.kind === 'signal' &&
      stepped.settled.some(([arrival]) => arrival === content.arrival_seq)
    )
      this.#signals.delete(event.mail_seq as number);
    for (const effect of stepped.effects) if (effect.type === 'attempt') this.#carry(effect);
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
