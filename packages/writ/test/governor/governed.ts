/**
 * A governor in memory: `decide` between the order of gen_statem and a clock that only moves when
 * it is told to. Every decision is made twice on frozen input and compared, and every receipt is
 * completed and validated as it would be written.
 */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { decide, decideVersion } from '../../src/governor/decide.js';
import type {
  Data,
  Decision,
  Effect,
  Held,
  InFlight,
  ReceiptDraft,
  State,
  Waits,
} from '../../src/governor/decision.js';
import type {
  ActAnswers,
  Answers,
  Bounds,
  CheckAnswers,
  Content,
  Entitlement,
  GovernorEvent,
  Permission,
  Result,
  Signal,
  TimerKind,
} from '../../src/governor/events.js';
import { eventId } from '../../src/governor/ids.js';
import type {
  ActionRule,
  GovernorPolicy,
  PolicyVersion,
} from '../../src/governor/policy-document.js';
import {
  after,
  due,
  next,
  nothing,
  type Pending,
  type TimerName,
  type Waiting,
} from '../../src/governor/statem.js';
import { receiptId } from '../../src/ledger/receipt.js';
import { validateReceipt } from '../../src/ledger/validate.js';
import { usualBounds } from '../../src/testing/simulation.js';

export const dawn = Date.UTC(2026, 0, 25, 14, 0, 0);
const governorId = '018f0000-0000-7000-8000-000000000001';

/** Undoing has less time here, so that nothing else is due before it. */
const undoing: Partial<Bounds> = { rollback_ms: 5_000 };

export const scaleUp: ActionRule = {
  action_type: 'scale_up_cloud_run',
  actuator: { kind: 'handler' },
  service: 'cloud_run_api',
  target: 'production-catalog-service',
  permission: 'run.services.update',
  parameters: { replicas_delta: 3, region: 'europe-west1' },
  bounds: { replicas_delta: { min: 1, max: 5 }, size: { in: ['small', 'large'] } },
  inverse: {
    action_type: 'scale_down_cloud_run',
    actuator: { kind: 'handler' },
    service: 'cloud_run_api',
    target: 'production-catalog-service',
    permission: 'run.services.downsize',
    parameters: { replicas_delta: -3 },
  },
  completion_timeout_ms: 900_000,
  not_restored: 'keep',
  baseline_ms: 60_000,
  cost: 10,
};

export const documentWith = (changes: Partial<GovernorPolicy> = {}): GovernorPolicy => ({
  policy_id: 'policy-scale-up-on-cpu-gt-75',
  principal: 'governor@acme.example',
  when: {
    cpu_utilization: {
      direction: 'above',
      limit: 75,
      clear: 70,
      cooldown_ms: 60_000,
      action: 'scale_up_cloud_run',
    },
    free_disk: { direction: 'below', limit: 10, clear: 20, cooldown_ms: 0 },
  },
  actions: { scale_up_cloud_run: scaleUp },
  budget: null,
  ...changes,
});

/** With another rule for the one action. */
export const ruled = (changes: Partial<ActionRule>) =>
  documentWith({ actions: { scale_up_cloud_run: { ...scaleUp, ...changes } } });

export const policyOf = (
  version: number,
  document = documentWith(),
  shadow = false,
): PolicyVersion => ({
  version,
  hash: createHash('sha256').update(JSON.stringify(document)).digest('hex'),
  shadow,
  document,
});

export const active: Entitlement = { status: 'ACTIVE', quota_limit: 1_000 };
const policy_set_hash = 'ab'.repeat(32);
export const allowed: Permission = { allowed: true, policy_set_hash };
export const forbidden: Permission = { allowed: false, policy_set_hash };
export const unreachable: Permission = { unreachable: 'no answer within 200 ms' };

type Waiter = Waits | { readonly kind: 'mail' };

function freeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    Object.values(value).forEach(freeze);
  }
  return value;
}

/** What happened: the event, and what was decided about it. */
export interface Step {
  readonly from: State | null;
  readonly event: GovernorEvent;
  readonly decision: Decision;
}

export class Governed {
  now = dawn;
  state: State | null = null;
  data: Data | null = null;
  waiting: Waiting<Waiter> = nothing;
  readonly steps: Step[] = [];
  /** What is answered when it asks. */
  act: ActAnswers = {
    action: allowed,
    inverse: allowed,
    quota: { month: '2026-01', used: 0 },
    known: true,
  };
  check: CheckAnswers = { entitlement: active, quota: { month: '2026-01', used: 0 }, failures: [] };
  recheck: NonNullable<Answers['recheck']> = {
    quota: { month: '2026-01', used: 0 },
    permission: allowed,
    inverse: allowed,
  };
  recent = 0;
  arrivals = 0;
  readonly settled = new Map<number, string>();
  private readonly signals = new Map<number, Signal>();
  /** A timer that is due crashes its governor instead of being handled. */
  poisoned = false;
  onStep: (step: Step) => void = () => {};

  /** Exists, and has looked around once. */
  static create(
    changes: Partial<Pick<Governed, 'act' | 'check' | 'onStep'>> & {
      bounds?: Partial<Bounds>;
    } = {},
  ): Governed {
    const { bounds: changed, ...rest } = changes;
    const governor = Object.assign(new Governed(), rest);
    const names = {
      sku_id: 'acme-catalog-v1',
      tenant_id: 'customer-123',
      process_id: 'host-1:4242',
    };
    governor.tell({ kind: 'create', ...names, bounds: { ...usualBounds, ...undoing, ...changed } });
    return governor;
  }

  /** stable, with a policy. */
  static stable(
    document?: GovernorPolicy,
    changes: Parameters<typeof Governed.create>[0] = {},
  ): Governed {
    const governor = Governed.create(changes);
    governor.publish(policyOf(1, document));
    return governor;
  }

  static warned(
    document?: GovernorPolicy,
    changes: Parameters<typeof Governed.create>[0] = {},
  ): Governed {
    const governor = Governed.stable(document, changes);
    governor.signal('free_disk', 5);
    return governor;
  }

  /** With an action in flight that a signal has asked for. */
  static intervening(
    document?: GovernorPolicy,
    changes: Parameters<typeof Governed.create>[0] = {},
  ): Governed {
    const governor = Governed.stable(document, changes);
    governor.signal('cpu_utilization', 82.5);
    return governor;
  }

  static refusing(): Governed {
    const governor = Governed.stable();
    governor.act = { ...governor.act, action: forbidden };
    governor.recheck = { ...governor.recheck, permission: forbidden };
    governor.ask();
    return governor;
  }

  static degraded(
    cause: 'ledger' | 'iam' | 'policy' | 'slo' = 'ledger',
    changes: Parameters<typeof Governed.create>[0] = {},
  ): Governed {
    const governor = Governed.stable(undefined, changes);
    governor.fail(cause);
    return governor;
  }

  get last(): Step {
    return this.steps.at(-1) as Step;
  }
  get inFlight(): InFlight {
    return this.data?.in_flight as InFlight;
  }
  get effects(): Effect[] {
    return this.steps.flatMap(({ decision }) => decision.effects);
  }
  timer(name: TimerName) {
    return this.waiting.timers.find((timer) => timer.name === name);
  }
  /** Signals that wait: in the buffer, postponed, or about to be tried again. */
  get held(): Held[] {
    const waiting = [...this.waiting.postponed, ...this.waiting.queue].map(
      ({ content }) => content,
    );
    return [
      ...(this.data?.storm?.buffer ?? []),
      ...waiting.filter((content) => content.kind === 'held'),
    ];
  }

  signal(type: string, value?: number, more: Partial<Signal> = {}): Step[] {
    const arrival_seq = ++this.arrivals;
    const mail_seq = arrival_seq * 10;
    const observed = { source: 'monitoring', severity: 'MEDIUM', observed_at: this.now } as const;
    const signal = {
      arrival_seq,
      signal_id: `signal-${arrival_seq}`,
      type,
      ...observed,
      ...(value !== undefined && { value }),
      ...more,
    };
    this.signals.set(mail_seq, signal);
    return this.deliver(
      { kind: 'held', mail_seq, arrival_seq },
      { kind: 'signal', ...signal },
      'mailbox',
    );
  }
  publish(policy: PolicyVersion | null): Step[] {
    return this.tell({ kind: 'policy', policy, actor: 'alice@acme.example' });
  }
  entitle(entitlement: Partial<Entitlement>): Step[] {
    const current = { ...active, ...entitlement };
    this.check = { ...this.check, entitlement: current };
    return this.tell({ kind: 'entitlement', entitlement: current, quota: this.check.quota });
  }
  ask(wish: Partial<Extract<Content, { kind: 'act' }>> = {}): Step[] {
    const action_id = `00000000-0000-4000-8000-${String(this.steps.length).padStart(12, '0')}`;
    return this.tell({
      kind: 'act',
      action_id,
      action_type: 'scale_up_cloud_run',
      parameters: {},
      initiated_by: 'bob',
      ...wish,
    });
  }
  /** Of what is in flight. */
  result(outcome: Partial<Result>): Step[] {
    const { action_id, attempt } = this.inFlight;
    return this.tell({ kind: 'result', action_id, attempt, ok: true, ...outcome });
  }
  failsUntil(attempt: number, outcome: Partial<Result> = {}): void {
    for (let n = 0; n < attempt; n++)
      this.result({ ok: false, failure_reason: 'service_error', response_code: 500, ...outcome });
  }
  fail(cause: 'ledger' | 'iam' | 'policy' | 'slo'): Step[] {
    return this.tell({
      kind: 'health_failed',
      failure: { cause, component: cause, failure_type: 'connection_timeout', message: 'gone' },
    });
  }
  tell(content: Content): Step[] {
    return this.deliver({ kind: 'mail' }, content, 'mailbox');
  }

  private deliver(waiter: Waiter, content: Content, from: GovernorEvent['from']): Step[] {
    const first = this.steps.length;
    this.handle({ from: 'mailbox', content: waiter }, content, from);
    this.drain();
    return this.steps.slice(first);
  }

  /** Time passes, and timers come due on the way. */
  pass(ms: number): Step[] {
    const first = this.steps.length;
    const until = this.now + ms;
    for (let one = due(this.waiting, until + 1); one; one = due(this.waiting, until + 1)) {
      const [pending, at, rest] = one;
      this.waiting = rest;
      this.now = Math.max(this.now, at);
      if (this.poisoned) this.crashOn(pending);
      else this.handle(pending, pending.content as Content, 'timer', at);
      this.drain();
    }
    this.now = until;
    return this.steps.slice(first);
  }

  private crashOn(pending: Pending<Waiter>): void {
    this.poisoned = false;
    const content = {
      kind: 'crash',
      event: 'timer',
      crashes: 10,
      window_ms: 60_000,
      error_message: 'TypeError',
    } as const;
    this.handle({ ...pending, content: { kind: 'mail' } }, content, 'mailbox');
  }

  private drain(): void {
    for (let one = next(this.waiting); one; one = next(this.waiting)) {
      const [pending, rest] = one;
      this.waiting = rest;
      const { content } = pending;
      if (content.kind === 'held') {
        const signal = this.signals.get(content.mail_seq) as Signal;
        this.handle(
          pending,
          { kind: 'signal', ...signal },
          pending.from === 'mailbox' ? 'postponed' : 'inserted',
        );
      } else
        this.handle(pending, content as Content, pending.from === 'timer' ? 'timer' : 'inserted');
    }
  }

  private handle(
    pending: Pending<Waiter>,
    content: Content,
    from: GovernorEvent['from'],
    due_at?: number,
  ): void {
    const event_seq = this.steps.length + 1;
    const mail_seq = pending.content.kind === 'held' ? { mail_seq: pending.content.mail_seq } : {};
    const answers = {
      act: this.act,
      check: this.check,
      recheck: this.recheck,
      recent: this.recent,
      process_id: 'host-2:77',
    };
    const event: GovernorEvent = freeze({
      ...{ event_seq, at: this.now, from, decide: decideVersion, content, answers, ...mail_seq },
      ...(due_at !== undefined && { due_at }),
    });
    const postponed = this.waiting.postponed.flatMap(({ content: one }) =>
      one.kind === 'held' ? [one] : [],
    );
    const event_id = eventId(governorId, event_seq);
    const situation = freeze({ state: this.state, data: this.data, event_id, postponed });
    const before = JSON.stringify([situation, event]);
    const decision = freeze(decide(situation, event));
    if (!isDeepStrictEqual(decide(situation, event), decision))
      expect(decide(situation, event)).toEqual(decision);
    if (JSON.stringify([situation, event]) !== before)
      expect(JSON.stringify([situation, event])).toBe(before);
    this.checkReceipts(decision, event_id, event_seq);
    const moved = this.state !== null && this.state !== decision.state;
    const step = { from: this.state, event, decision };
    const dropped = new Set(decision.dropped?.map((held) => held.mail_seq));
    const kept = this.waiting.postponed.filter(
      ({ content: one }) => !(one.kind === 'held' && dropped.has(one.mail_seq)),
    );
    const actions = decision.actions.map((action) =>
      action.type === 'start'
        ? {
            ...action,
            content: {
              kind: 'timer' as const,
              timer: action.name.replace('named:', '') as TimerKind,
            },
          }
        : action,
    );
    const handled = { event: pending, moved, postpone: decision.postpone ?? false, actions };
    this.waiting = after<Waiter>({ ...this.waiting, postponed: kept }, handled, this.now);
    this.state = decision.state;
    this.data = decision.data;
    this.steps.push(step);
    this.onStep(step);
  }

  /** Completed as they would be written: each fits its schema, and no signal is settled twice. */
  private checkReceipts({ receipts }: Decision, event_id: string, event_seq: number): void {
    receipts.forEach((draft, ordinal) => {
      for (const seq of settledBy(draft)) {
        if (this.settled.has(seq))
          expect.fail(
            `signal ${seq} is settled by ${this.settled.get(seq)} and by ${draft.reason}`,
          );
        this.settled.set(seq, draft.reason);
      }
      const arrival_seq = typeof draft.settles === 'number' ? draft.settles : draft.about;
      const completed = {
        receipt_id: receiptId(event_id, ordinal),
        timestamp: new Date(this.now).toISOString(),
        ...{
          sku_id: 'acme-catalog-v1',
          tenant_id: 'customer-123',
          status: draft.status,
          reason: draft.reason,
        },
        context: {
          ...draft.context,
          ...{
            stream: `governor:${governorId}`,
            stream_seq: event_seq * 100 + ordinal,
            event_id,
            terminal: draft.settles !== undefined,
          },
          ...(arrival_seq !== undefined && { arrival_seq }),
        },
      };
      const wrong = validateReceipt(completed);
      if (wrong) expect.fail(`${wrong.message}: ${JSON.stringify(completed)}`);
    });
  }
}

export function settledBy({ settles, context }: ReceiptDraft): number[] {
  if (typeof settles === 'number') return [settles];
  if (!settles) return [];
  const { arrival_ranges } = context as { arrival_ranges: [number, number][] };
  return arrival_ranges.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, n) => first + n),
  );
}

/** The reasons of the receipts of some steps, in order. */
export const reasonsOf = (steps: readonly Step[]) =>
  steps.flatMap(({ decision }) => decision.receipts.map(({ reason }) => reason));

/** The context of the last receipt of a reason. */
export function contextOf(
  steps: readonly Step[],
  reason: ReceiptDraft['reason'],
): Record<string, unknown> {
  const found = steps
    .flatMap(({ decision }) => decision.receipts)
    .findLast((draft) => draft.reason === reason);
  expect(found, `no receipt ${reason}`).toBeDefined();
  return (found as ReceiptDraft).context as Record<string, unknown>;
}

export const effectsOf = (steps: readonly Step[], type?: Effect['type']) =>
  steps
    .flatMap(({ decision }) => decision.effects)
    .filter((effect) => !type || effect.type === type);
