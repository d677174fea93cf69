/**
 * Plans in TypeScript. The function given to `definePlan` runs once, at once; it describes steps
 * and does none of them. What it is given of the run are references, so that a plan is data and the
 * same for every run.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { WritRefusal } from '../../errors/index.js';
import { type Duration, milliseconds } from '../../queue/duration.js';
import { isReserved, JobKind } from '../../queue/job.js';
import type { Compensation, Condition, PlanStep, Retry, Template } from './document.js';
import { payloadSchemaOf } from './payload-schema.js';
import { Plan } from './plan.js';
import { parseRef, refsOf, refsOfCondition } from './refs.js';
import { wrong } from './schema.js';
import {
  type Filled,
  type Reference,
  type RefTo,
  reference,
  refuseUnused,
  type Unused,
} from './typed.js';
import { canonicalText } from './validate.js';

export interface PlanOptions {
  /** A plan that changes gets a new version: a run keeps the one that it was started with. */
  readonly version: string;
  /**
   * Absent: a failed step fails the run, after what was done has been undone. `pause`: a person
   *         decides.
   */
  readonly onFailure?: 'pause';
}

/** A step that others can wait for. */
export interface StepHandle {
  readonly id: string;
}

/**
 * A step with an output. Its type is known where somebody says it: `const stock: Step<Reservation>
 * = p.step(…)`.
 */
export interface Step<Output> extends StepHandle {
  readonly output: RefTo<Output>;
}

export interface StepOptions {
  /** Steps that have to have ended before, besides those whose outputs are referred to. */
  readonly after?: StepHandle | readonly StepHandle[];
  readonly when?: Condition;
  /** Its failure skips the steps that wait for it, and the run goes on. */
  readonly optional?: boolean;
}

export interface JobStepOptions extends StepOptions {
  readonly retry?: Retry;
  readonly timeout?: Duration;
}

/** Jobs that can be given an input: those that take such a one, and those that take none. */
type TakerOf<Input> = JobKind<Input, unknown> | JobKind<undefined, unknown>;

/**
 * The job that undoes a step: with the step's input, or with one of its own, which may refer to
 * what the step gave.
 */
export interface Undo<Sent, Output, Item, Undone> {
  readonly compensate?:
    | TakerOf<Sent>
    | { readonly job: TakerOf<Sent>; readonly input?: undefined; readonly retry?: Retry }
    | {
        readonly job: JobKind<Undone, unknown>;
        readonly input:
          | Filled<NoInfer<Undone>>
          | ((output: RefTo<Output>, item: RefTo<Item>) => Filled<NoInfer<Undone>>);
        readonly retry?: Retry;
      };
}

export interface EachOptions extends JobStepOptions {
  /** How many at a time; 10 unless given. */
  readonly parallel?: number;
}

export interface WaitOptions extends StepOptions {
  /** The event's name; that of the step unless given. */
  readonly event?: string;
  /** Without one it waits for ever. */
  readonly timeout?: Duration;
  /** Absent: a wait that takes too long fails. */
  readonly onTimeout?: 'skip';
}

/** What the compiler does not look at: the methods below have looked. */
interface Given extends EachOptions, Undo<never, never, never, never> {
  readonly input?: unknown;
  readonly over?: Reference<unknown>;
}

const parallelDefault = 10;

/** What has been described so far. */
class Draft {
  readonly steps: PlanStep[] = [];
  readonly jobs = new Map<string, JobKind<never, unknown>>();
  readonly waits = new Map<string, StandardSchemaV1>();
  readonly unused: Unused = new Set();

  /**
   * A whole value, which may be handed on and left unused. What is read of it has to be used: see
   * `reference`.
   */
  whole<Value>(path: string): RefTo<Value> {
    return reference<Value>(path, this.unused, false);
  }
}

export class PlanBuilder<Input> {
  /** What the run was started with. */
  readonly input: RefTo<Input>;
  readonly run: { readonly id: RefTo<string> };
  readonly #draft: Draft;

  constructor(draft: Draft) {
    this.#draft = draft;
    this.input = draft.whole('input');
    this.run = {
      get id() {
        return reference<string>('run.id', draft.unused);
      },
    };
  }

  // biome-ignore-start lint/suspicious/noExplicitAny: what a handler returns is not known unless somebody says it.
  /** One job. Without an input of its own it gets the run's. */
  step<Output = any, Undone = never>(
    id: string,
    job: TakerOf<Input>,
    options?: JobStepOptions & { readonly input?: undefined } & Undo<Input, Output, never, Undone>,
  ): Step<Output>;
  step<Sent, Output = any, Undone = never>(
    id: string,
    job: JobKind<Sent, unknown>,
    options: JobStepOptions & { readonly input: NoInfer<Filled<Sent>> } & Undo<
        NoInfer<Sent>,
        Output,
        never,
        Undone
      >,
  ): Step<Output>;
  step(id: string, job: unknown, options: unknown = {}): Step<unknown> {
    const given = options as Given;
    const { input } = given;
    this.#add(
      { type: 'job', ...this.#work(id, job as JobKind<never, unknown>, given, input) },
      given,
    );
    return { id, output: this.#draft.whole(`steps.${id}.output`) };
  }

  /** One job for each element of a list. Without an input of its own it gets the element. */
  each<Item = any, Undone = never>(
    id: string,
    job: TakerOf<NoInfer<Item>>,
    options: EachOptions & {
      readonly over: Reference<readonly Item[]>;
      readonly input?: undefined;
    } & Undo<NoInfer<Item>, unknown, Item, Undone>,
  ): StepHandle;
  each<Sent, Item = any, Undone = never>(
    id: string,
    job: JobKind<Sent, unknown>,
    options: EachOptions & {
      readonly over: Reference<readonly Item[]>;
      readonly input: (item: RefTo<NoInfer<Item>>) => NoInfer<Filled<Sent>>;
    } & Undo<NoInfer<Sent>, unknown, Item, Undone>,
  ): StepHandle;
  // biome-ignore-end lint/suspicious/noExplicitAny: as above
  each(id: string, job: unknown, options: unknown): StepHandle {
    const given = options as Given;
    const input =
      typeof given.input === 'function' ? given.input(this.#draft.whole('item')) : given.input;
    const work = this.#work(id, job as JobKind<never, unknown>, given, input);
    this.#add(
      {
        type: 'each',
        over: { $ref: given.over?.$ref as string },
        parallel: given.parallel ?? parallelDefault,
        ...work,
      },
      given,
    );
    return { id };
  }

  /**
   * Waits for an event from outside; what it carries is the output. A delivery that does not fit
   * the schema is refused: by the gate as far as JSON Schema says it, and by a process that has
   * started or registered this plan in full.
   */
  waitFor<Schema extends StandardSchemaV1>(
    id: string,
    schema: Schema,
    options?: WaitOptions,
  ): Step<StandardSchemaV1.InferInput<Schema>>;
  // biome-ignore lint/suspicious/noExplicitAny: without a schema nothing is known.
  waitFor<Output = any>(id: string, options?: WaitOptions): Step<Output>;
  waitFor(id: string, ...rest: readonly unknown[]): Step<unknown> {
    const schema = isSchema(rest[0]) ? rest[0] : undefined;
    const options = (rest[1] ?? (schema ? {} : rest[0]) ?? {}) as WaitOptions;
    const { event = id, timeout, onTimeout } = options;
    if (schema) {
      const known = this.#draft.waits.get(event);
      if (known && known !== schema)
        throw wrong(`step ${id}: another step waits for ${event} with another schema`);
      this.#draft.waits.set(event, schema);
    }
    const checked = schema && payloadSchemaOf(schema);
    this.#add(
      {
        type: 'wait',
        id,
        event,
        ...(checked && { schema: checked }),
        ...inTime(timeout),
        ...(onTimeout && { onTimeout }),
      },
      options,
    );
    return { id, output: this.#draft.whole(`steps.${id}.output`) };
  }

  /** Lets some time pass. */
  sleep(id: string, time: Duration, options: StepOptions = {}): StepHandle {
    this.#add({ type: 'timer', id, ms: milliseconds(time) }, options);
    return { id };
  }

  #work(id: string, job: JobKind<never, unknown>, options: Given, given: unknown) {
    const input = plain(given, `step ${id}: input`);
    const compensate = options.compensate && this.#undo(id, options.compensate);
    return {
      id,
      kind: this.#kindOf(job),
      ...(input !== undefined && { input }),
      ...(options.retry && { retry: options.retry }),
      ...inTime(options.timeout),
      ...(compensate && { compensate }),
    };
  }

  #undo(id: string, compensate: NonNullable<Given['compensate']>): Compensation {
    if (compensate instanceof JobKind)
      return { kind: this.#kindOf(compensate as JobKind<never, unknown>) };
    const { job, retry, input: given } = compensate;
    const input = plain(
      typeof given === 'function'
        ? (given as (...refs: unknown[]) => unknown)(
            this.#draft.whole(`steps.${id}.output`),
            this.#draft.whole('item'),
          )
        : given,
      `step ${id}: compensate.input`,
    );
    return {
      kind: this.#kindOf(job as JobKind<never, unknown>),
      ...(input !== undefined && { input }),
      ...(retry && { retry }),
    };
  }

  #kindOf(job: JobKind<never, unknown>): string {
    if (isReserved(job.kind)) throw new WritRefusal('reserved_job_kind', job.kind);
    this.#draft.jobs.set(job.kind, job);
    return job.kind;
  }

  #add(step: PlanStep, { after = [], when, optional }: StepOptions): void {
    const named = (Array.isArray(after) ? after : [after]) as readonly StepHandle[];
    const before = new Set([...named.map(({ id }) => id), ...outputsIn(step, when)]);
    this.#draft.steps.push({
      ...step,
      ...(before.size > 0 && { after: [...before] }),
      ...(when && { when }),
      ...(optional && { optional: true }),
    });
  }
}

const inTime = (timeout: Duration | undefined) =>
  timeout === undefined ? {} : { timeoutMs: milliseconds(timeout) };

/** A template as plain JSON. */
const plain = (value: unknown, where: string): Template | undefined =>
  value === undefined ? undefined : (JSON.parse(canonicalText(value, where)) as Template);

const isSchema = (value: unknown): value is StandardSchemaV1 =>
  ((typeof value === 'object' && value !== null) || typeof value === 'function') &&
  '~standard' in value;

/** The other steps whose outputs a step refers to. */
function outputsIn(step: PlanStep, when: Condition | undefined): string[] {
  const refs = when ? [...refsOfCondition(when)] : [];
  if (step.type === 'each') refs.push(...refsOf({ $ref: step.over.$ref }));
  if (step.type === 'job' || step.type === 'each')
    refs.push(...refsOf(step.input ?? null), ...refsOf(step.compensate?.input ?? null));
  return refs.flatMap((ref) => {
    const target = parseRef(ref);
    return target?.root === 'step' && target.stepId !== step.id ? [target.stepId] : [];
  });
}

/** The plan of governance jobs. */
const ownPlan = 'governed';

/**
 * Defines a plan, with a Standard Schema (zod, valibot, arktype, …) for its input, or with a type
 * alone. Refuses one that cannot be run.
 */
export function definePlan<Schema extends StandardSchemaV1>(
  id: string,
  options: PlanOptions & { readonly input: Schema },
  build: (p: PlanBuilder<StandardSchemaV1.InferInput<Schema>>) => void,
): Plan<StandardSchemaV1.InferInput<Schema>>;
export function definePlan<Input = undefined>(
  id: string,
  options: PlanOptions,
  build: (p: PlanBuilder<Input>) => void,
): Plan<Input>;
export function definePlan(
  id: string,
  options: PlanOptions & { readonly input?: StandardSchemaV1 },
  build: (p: PlanBuilder<unknown>) => unknown,
): Plan<unknown> {
  if (id === ownPlan) throw new WritRefusal('reserved_job_kind', `the plan ${id} belongs to Writ`);
  const { version, onFailure, input } = options;
  const draft = new Draft();
  if (build(new PlanBuilder(draft)) instanceof Promise) {
    throw wrong(
      `the plan ${id} is built by an async function; steps are described at once, and done later`,
    );
  }
  const document = {
    schemaVersion: 1,
    planId: id,
    planVersion: version,
    ...(onFailure && { onFailure }),
    steps: draft.steps,
  };
  const plan = new Plan(document, { input, jobs: draft.jobs, waits: draft.waits });
  refuseUnused(draft.unused);
  return plan;
}
