/**
 * Random plans, and random histories of runs of them, from a seed. The small engine in here follows the rules of plans in its own way, so that what
 * it writes can be held against the reducer and the oracle; every history says beside each event what had to happen at that point.
 */
import { hash } from 'node:crypto';
import { canonicalize } from '../../src/ledger/canonical.js';
import { eventId, idempotencyKey, type RunEvent } from '../../src/runs/events.js';
import type { Condition, EachStep, PlanDocument, PlanStep } from '../../src/runs/plans/document.js';

/** Numbers from a seed (mulberry32). */
export class Dice {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** From 0 up to, and without, 1. */
  roll(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  }

  chance(of: number): boolean {
    return this.roll() < of;
  }

  upTo(n: number): number {
    return Math.floor(this.roll() * n);
  }

  pick<T>(from: readonly T[]): T {
    return from[this.upTo(from.length)] as T;
  }
}

export interface Input {
  readonly list: readonly number[];
  readonly flag: boolean;
}

function randomStep(dice: Dice, id: string, earlier: readonly PlanStep[]): PlanStep {
  const after = earlier.filter(() => dice.chance(0.4)).map((step) => step.id);
  const source =
    dice.chance(0.5) && after.length > 0 ? `steps.${dice.pick(after)}.output.ok` : 'input.flag';
  const condition: Condition = dice.chance(0.5)
    ? { ref: source, is: true }
    : { not: { ref: source, exists: dice.chance(0.5) } };
  const common = {
    id,
    ...(after.length > 0 ? { after } : undefined),
    ...(dice.chance(0.25) ? { when: condition } : undefined),
    ...(dice.chance(0.25) ? { optional: true as const } : undefined),
  };
  const compensate = dice.chance(0.5) ? { compensate: { kind: `undo-${id}` } } : undefined;
  const type = dice.pick(['job', 'job', 'job', 'each', 'wait', 'timer'] as const);
  if (type === 'job') return { ...common, type, kind: 'work', ...compensate };
  if (type === 'each')
    return {
      ...common,
      type,
      kind: 'work',
      over: { $ref: 'input.list' },
      parallel: 1 + dice.upTo(3),
      ...compensate,
    };
  if (type === 'timer') return { ...common, type, ms: 1000 };
  return {
    ...common,
    type,
    event: id,
    ...(dice.chance(0.5) ? { timeoutMs: 1000, onTimeout: 'skip' as const } : undefined),
  };
}

export function randomPlan(dice: Dice): PlanDocument {
  const steps: PlanStep[] = [];
  const count = 1 + dice.upTo(8);
  while (steps.length < count)
    steps.push(randomStep(dice, `${dice.pick(['load', 'model.a', 'x-1'])}${steps.length}`, steps));
  return {
    schemaVersion: 1,
    planId: 'random',
    planVersion: '1.2.0',
    ...(dice.chance(0.3) ? { onFailure: 'pause' } : undefined),
    steps,
  };
}

/** What had to happen at a point of a history, as texts in order. */
export type Obligations = readonly string[];

export interface History {
  readonly plan: PlanDocument;
  readonly input: Input;
  readonly outputs: (stepId: string) => unknown;
  readonly events: readonly RunEvent[];
  /** Before each event, and at the end. */
  readonly obligations: readonly Obligations[];
  readonly status: string;
  /** The states of steps, undoings and items at the end. */
  readonly states: ReadonlyMap<string, string>;
}

/** Makes the events of one log: in order, with the ids and keys that they must have. */
export class LogWriter {
  readonly events: RunEvent[] = [];
  private readonly runId: string;
  private readonly planVersion: string;

  constructor(runId: string, planVersion: string) {
    this.runId = runId;
    this.planVersion = planVersion;
  }

  write(
    eventType: string,
    stepId: string,
    eventData: object = {},
    logicalAttemptId = '1',
  ): RunEvent {
    const { runId } = this;
    const runSeq = this.events.length + 1;
    const at = new Date(Date.UTC(2026, 0, 1) + runSeq * 250).toISOString();
    const key = idempotencyKey(runId, stepId, logicalAttemptId, eventType, this.planVersion);
    const place = { runId, runSeq, eventId: eventId(runId, runSeq), stepId, logicalAttemptId };
    const event = {
      ...place,
      engineAttemptId: '1',
      eventType,
      eventData,
      idempotencyKey: key,
      emittedAt: at,
      persistedAt: at,
    };
    this.events.push(event);
    return event;
  }
}

export const planSha256 = (plan: PlanDocument) => hash('sha256', canonicalize(plan), 'hex');

export const failure = {
  error: {
    errorCode: 'handler_error',
    errorMessage: 'no luck',
    retryable: false,
    failureCategory: 'USER',
    failureSource: 'handler',
  },
};
export const output = (id: string) => ({
  uri: `writ:result/${id}`,
  kind: 'output',
  sha256: 'ab'.repeat(32),
  sizeBytes: 11,
});

type Action = () => void;
const ended = ['SUCCESS', 'FAILED', 'SKIPPED'];

/** An engine in a few lines: a set of things that can happen, of which one is picked. */
class Simulation {
  readonly obligations: Obligations[] = [];
  readonly states = new Map<string, string>();
  status = 'PENDING';
  private readonly attempts = new Map<string, number>();
  private readonly skipReasons = new Map<string, string>();
  private readonly succeededAt = new Map<string, number>();
  private readonly asked = new Map<string, 'retry' | 'skip'>();
  private cancelled = false;
  private pauseAsked = false;
  private resumeAsked = false;
  private ordinal = 0;
  private readonly log: LogWriter;

  constructor(
    readonly dice: Dice,
    readonly plan: PlanDocument,
    readonly input: Input,
    readonly good: ReadonlyMap<string, boolean>,
    runId: string,
  ) {
    this.log = new LogWriter(runId, plan.planVersion);
  }

  get events(): readonly RunEvent[] {
    return this.log.events;
  }

  run(limit: number): void {
    this.start();
    for (let turn = 0; turn < limit; turn++) {
      const signals = this.dice.chance(0.06) ? this.signals() : [];
      const actions = signals.length > 0 ? signals : [...this.due().values(), ...this.work()];
      if (actions.length === 0) {
        if (this.status !== 'PAUSED') break;
        this.unpause();
      } else this.dice.pick(actions)();
    }
    this.obligations.push([...this.due().keys()].sort());
  }

  private write(eventType: string, stepId: string, data: object = {}, attempt = '1'): void {
    this.obligations.push([...this.due().keys()].sort());
    this.log.write(eventType, stepId, data, attempt);
  }

  private start(): void {
    if (this.dice.chance(0.3)) this.write('RunApproved', 'RUN');
    if (this.dice.chance(0.3)) this.write('RunQueued', 'RUN');
    const { planId, planVersion } = this.plan;
    this.write('RunStarted', 'RUN', {
      planId,
      planVersion,
      planSha256: planSha256(this.plan),
      engine: 'native',
    });
    this.status = 'RUNNING';
  }

  private state(id: string): string {
    return this.states.get(id) ?? 'PENDING';
  }

  private running(prefix: 'undo' | 'work'): string[] {
    const jobs = [...this.states].filter(([, state]) => state === 'RUNNING').map(([id]) => id);
    return jobs.filter((id) => id.startsWith('undo:') === (prefix === 'undo') && this.isJob(id));
  }

  private isJob(id: string): boolean {
    return (
      id.includes('[') ||
      this.plan.steps.find((step) => step.id === id.replace('undo:', ''))?.type === 'job'
    );
  }

  private items(step: EachStep): string[] {
    return this.input.list.map((_, index) => `${step.id}[${index}]`);
  }

  private broken(): boolean {
    return this.plan.steps.some(
      ({ id, optional }) => !optional && this.state(id) === 'FAILED' && !this.asked.has(id),
    );
  }

  private holds(condition: Condition): boolean {
    if ('not' in condition) return !this.holds(condition.not);
    if (!('ref' in condition)) throw new Error('not made here');
    const stepId = /^steps\.(.+)\.output\.ok$/.exec(condition.ref)?.[1];
    const value =
      stepId === undefined
        ? this.input.flag
        : this.state(stepId) === 'SUCCESS'
          ? (this.good.get(stepId) as boolean)
          : null;
    return 'exists' in condition ? (value !== null) === condition.exists : value === true;
  }

  /** What the rules demand now, by name. */
  private due(): Map<string, Action> {
    const due = new Map<string, Action>();
    if (this.status !== 'RUNNING' && this.status !== 'PAUSED') return due;
    for (const step of this.plan.steps) if (step.type === 'each') this.dueEnd(step, due);
    if (this.cancelled) return this.windUp(due, 'RunCancelled');
    if (this.status === 'PAUSED')
      return this.resumeAsked
        ? due.set('RunResumed', () => this.moveRun('RunResumed', 'RUNNING'))
        : due;
    const pause = () =>
      this.moveRun('RunPaused', 'PAUSED', {
        reason: 'asked',
        draining: this.running('work').length,
      });
    if (this.pauseAsked) return due.set('RunPaused', pause);
    if (this.broken())
      return this.plan.onFailure === 'pause'
        ? due.set('RunPaused', pause)
        : this.windUp(due, 'RunFailed');
    for (const step of this.plan.steps) this.dueStep(step, due);
    const done = this.plan.steps.every(
      ({ id }) => ended.includes(this.state(id)) && !this.asked.has(id),
    );
    return done ? due.set('RunCompleted', () => this.moveRun('RunCompleted', 'COMPLETED')) : due;
  }

  private dueEnd(step: EachStep, due: Map<string, Action>): void {
    const states = this.items(step).map((id) => this.state(id));
    if (this.state(step.id) !== 'RUNNING' || states.includes('RUNNING')) return;
    if (states.every((state) => state === 'SUCCESS'))
      due.set(`StepCompleted ${step.id}`, () => this.succeed(step.id));
    else if (this.failedItems(step).length > 0)
      due.set(`StepFailed ${step.id}`, () => this.fail(step.id));
  }

  private failedItems(step: EachStep): string[] {
    return this.items(step).filter(
      (id) => this.state(id) === 'FAILED' && this.attempts.get(id) === this.attempts.get(step.id),
    );
  }

  private dueStep(step: PlanStep, due: Map<string, Action>): void {
    const { id, after = [] } = step;
    if (this.state(id) === 'FAILED' && this.asked.get(id) === 'retry')
      due.set(`start ${id}`, () => this.begin(step));
    else if (this.asked.get(id) === 'skip')
      due.set(`skip ${id} OPERATOR_SKIP`, () => this.skip(id, 'OPERATOR_SKIP'));
    else if (this.state(id) === 'RUNNING' && step.type === 'each') this.dueItems(step, due);
    else if (this.state(id) === 'PENDING') {
      const failed = (other: string) =>
        (this.state(other) === 'FAILED' && !this.asked.has(other)) ||
        this.skipReasons.get(other) === 'DEPENDENCY_FAILED';
      if (after.some(failed))
        due.set(`skip ${id} DEPENDENCY_FAILED`, () => this.skip(id, 'DEPENDENCY_FAILED'));
      else if (!after.every((other) => ended.includes(this.state(other)) && !this.asked.has(other)))
        return;
      else if (step.when && !this.holds(step.when))
        due.set(`skip ${id} CONDITION_FALSE`, () => this.skip(id, 'CONDITION_FALSE'));
      else due.set(`start ${id}`, () => this.begin(step));
    }
  }

  private dueItems(step: EachStep, due: Map<string, Action>): void {
    if (this.failedItems(step).length > 0) return;
    const items = this.items(step);
    const free = step.parallel - items.filter((id) => this.state(id) === 'RUNNING').length;
    const open = items
      .filter((id) => this.state(id) === 'PENDING' || this.state(id) === 'FAILED')
      .slice(0, free);
    for (const id of open)
      due.set(`start ${id}`, () =>
        this.move('StepStarted', id, 'RUNNING', { kind: 'work' }, this.attempts.get(step.id)),
      );
  }

  private windUp(due: Map<string, Action>, end: 'RunFailed' | 'RunCancelled'): Map<string, Action> {
    if (this.running('work').length > 0 || this.running('undo').length > 0) return due;
    const broken = [...this.states].some(
      ([id, state]) => id.startsWith('undo:') && state === 'FAILED',
    );
    const next = broken ? undefined : this.nextUndo();
    if (next)
      return due.set(`start ${next}`, () =>
        this.move('StepStarted', next, 'RUNNING', { kind: 'undo' }),
      );
    return due.set(end, () =>
      this.moveRun(end, end === 'RunFailed' ? 'FAILED' : 'CANCELLED', { undone: !broken }),
    );
  }

  /** What succeeded last; items of one step stand where the last of them does, the last place first. */
  private nextUndo(): string | undefined {
    const units = this.plan.steps.flatMap((step) => {
      if ((step.type !== 'job' && step.type !== 'each') || !step.compensate) return [];
      const ids = (step.type === 'each' ? this.items(step).reverse() : [step.id]).filter(
        (id) => this.state(id) === 'SUCCESS',
      );
      const at = Math.max(0, ...ids.map((id) => this.succeededAt.get(id) as number));
      return [{ at, open: ids.filter((id) => !this.states.has(`undo:${id}`)) }];
    });
    const [unit] = units.filter(({ open }) => open.length > 0).sort((a, b) => b.at - a.at);
    return unit && `undo:${unit.open[0]}`;
  }

  /** What workers, people and clocks can do now. */
  private work(): Action[] {
    const actions: Action[] = [...this.running('work'), ...this.running('undo')].map((id) => () => {
      if (this.dice.chance(0.12)) this.fail(id);
      else this.succeed(id, [output(id)]);
    });
    if (this.status !== 'RUNNING' || this.cancelled || this.broken()) return actions;
    for (const step of this.plan.steps) {
      if (this.state(step.id) !== 'RUNNING' || this.asked.has(step.id)) continue;
      if (step.type === 'timer') actions.push(() => this.succeed(step.id));
      if (step.type === 'wait')
        actions.push(() =>
          this.dice.chance(0.8) ? this.succeed(step.id) : this.timeOut(step.id, step.onTimeout),
        );
    }
    return actions;
  }

  private timeOut(id: string, onTimeout: 'skip' | undefined): void {
    if (onTimeout) this.skip(id, 'CONDITION_FALSE');
    else this.fail(id);
  }

  private move(
    eventType: string,
    id: string,
    state: string,
    data: object,
    attempt = this.attempts.get(id) ?? 1,
  ): void {
    this.write(eventType, id, data, String(attempt));
    this.attempts.set(id, attempt);
    this.states.set(id, state);
    this.asked.delete(id);
  }

  private begin(step: PlanStep): void {
    const attempt =
      this.state(step.id) === 'FAILED' ? (this.attempts.get(step.id) as number) + 1 : 1;
    const dueAt = '2026-01-02T00:00:00.000Z';
    const data = {
      job: { jobId: 'j', kind: 'work' },
      each: { items: this.input.list.length, parallel: step.type === 'each' ? step.parallel : 1 },
      wait: { event: step.id },
      timer: { dueAt },
    }[step.type];
    this.move('StepStarted', step.id, 'RUNNING', data, attempt);
  }

  private succeed(id: string, artifacts: object[] = []): void {
    this.move('StepCompleted', id, 'SUCCESS', { artifacts });
    this.succeededAt.set(id, this.events.length);
  }

  private fail(id: string): void {
    this.move('StepFailed', id, 'FAILED', failure);
  }

  private skip(id: string, reasonCode: string): void {
    this.move('StepSkipped', id, 'SKIPPED', { reasonCode });
    this.skipReasons.set(id, reasonCode);
  }

  private moveRun(eventType: string, status: string, data: object = {}): void {
    this.write(eventType, 'RUN', data, String(++this.ordinal));
    this.status = status;
    if (status === 'PAUSED') this.pauseAsked = false;
    if (status === 'RUNNING') this.resumeAsked = false;
  }

  private signal(type: string, more: object = {}): void {
    const signalId = `signal-${++this.ordinal}`;
    this.write('SignalAccepted', 'RUN', { signalId, type, principal: 'test', ...more }, signalId);
  }

  private ask(stepId: string, what: 'retry' | 'skip'): Action {
    return () => {
      this.signal(what === 'retry' ? 'RETRY_STEP' : 'SKIP_STEP', { stepId });
      this.asked.set(stepId, what);
    };
  }

  private signals(): Action[] {
    if (this.status !== 'RUNNING' && this.status !== 'PAUSED') return [];
    const steps = this.plan.steps.filter(({ id }) => !this.asked.has(id));
    const free = !this.cancelled && !this.pauseAsked && !this.resumeAsked;
    const begun = [...this.states.keys()].some((id) => id.startsWith('undo:'));
    return [
      () => this.signal('UPDATE_PARAMS', { params: { speed: this.dice.upTo(10) } }),
      () => this.write('SomethingNew', 'RUN', { of: 'a later version' }, String(++this.ordinal)),
      ...(free && this.status === 'RUNNING' ? [() => this.askPause()] : []),
      ...(free && this.dice.chance(0.3) ? [() => this.askCancel()] : []),
      ...(free && !begun
        ? steps
            .filter(({ id }) => this.state(id) === 'FAILED')
            .map(({ id }) => this.ask(id, 'retry'))
        : []),
      ...(free && !begun
        ? steps
            .filter(({ id }) => ['FAILED', 'PENDING'].includes(this.state(id)))
            .map(({ id }) => this.ask(id, 'skip'))
        : []),
    ];
  }

  private askPause(): void {
    this.signal('PAUSE');
    this.pauseAsked = true;
  }

  private askCancel(): void {
    this.signal('CANCEL', { reason: 'enough' });
    this.cancelled = true;
    this.pauseAsked = false;
  }

  /** A run that is paused waits for a person: what failed is retried or skipped, or all is given up. */
  private unpause(): void {
    const failed = this.plan.steps.find(
      ({ id, optional }) => !optional && this.state(id) === 'FAILED' && !this.asked.has(id),
    );
    if (failed && this.dice.chance(0.2)) this.askCancel();
    else if (failed) this.ask(failed.id, this.dice.pick(['retry', 'skip']))();
    else {
      this.signal('RESUME');
      this.resumeAsked = true;
    }
  }
}

/** A plan, and a run of it that nobody hurried. It has ended, or waits for nothing but the limit of events. */
export function randomHistory(seed: number, limit = 400): History {
  const dice = new Dice(seed);
  const plan = randomPlan(dice);
  const input: Input = {
    list: Array.from({ length: dice.upTo(5) }, (_, index) => index),
    flag: dice.chance(0.6),
  };
  const good = new Map(plan.steps.map(({ id }) => [id, dice.chance(0.7)]));
  const simulation = new Simulation(
    dice,
    plan,
    input,
    good,
    `0198c0de-0000-7000-8000-${String(seed).padStart(12, '0')}`,
  );
  simulation.run(limit);
  const { events, obligations, status, states } = simulation;
  return {
    plan,
    input,
    outputs: (stepId) => ({ ok: good.get(stepId) }),
    events,
    obligations,
    status,
    states,
  };
}
