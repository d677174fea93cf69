/**
 * The secrets of a step, put into its input in memory. Only where the plan itself has a {
 * "$secret": name } is it replaced: what a reference brought into the input is data, from people
 * who may not ask for secrets, and stays as it is.
 */
import type { Queryable } from '../database/connection.js';
import type { StepOfRun } from '../queue/worker/context.js';
import type { AskingJob, JobSecrets } from '../queue/worker/options.js';
import type { SecretContext } from '../secrets/provider.js';
import type { Secrets } from '../secrets/secrets.js';
import { readPlan, readRun } from './log.js';
import type { PlanDocument, Template } from './plans/document.js';
import { secretNameIn } from './plans/refs.js';

interface Place {
  readonly path: readonly string[];
  readonly name: string;
}

/** Where secrets belong, by step: for its job, and for the job that undoes it. */
type Places = ReadonlyMap<string, readonly Place[]>;

const mostPlans = 1_000;

export class StepSecrets implements JobSecrets {
  readonly #db: Queryable;
  readonly #secrets: Secrets;
  /** A version of a plan never changes. */
  readonly #plans = new Map<string, Promise<Places>>();

  constructor(db: Queryable, secrets: Secrets) {
    this.#db = db;
    this.#secrets = secrets;
  }

  async secret(asking: AskingJob, name: string): Promise<string> {
    return (await this.#secrets.resolve([name], await this.#contextOf(asking))).get(name) as string;
  }

  /**
   * The input as the handler gets it. Nothing is asked of anybody for an input that has no name of
   * a secret in it.
   */
  filled(asking: AskingJob): Promise<unknown> | undefined {
    return asking.step && mentionsSecret(asking.input)
      ? this.#filled(asking, asking.step)
      : undefined;
  }

  async #filled(asking: AskingJob, step: StepOfRun): Promise<unknown> {
    const { input } = asking;
    const { environment: environmentId, planSha256 } = await readRun(this.#db, step.runId);
    const places = (await this.#placesIn(step, planSha256)).get(stepOf(step.stepId)) ?? [];
    if (places.length === 0) return input;
    const context = { tenantId: asking.job.tenant, environmentId };
    const values = await this.#secrets.resolve(
      places.map(({ name }) => name),
      context,
    );
    return places.reduce(
      (whole, { path, name }) => withSecret(whole, path, values.get(name) as string),
      input,
    );
  }

  async #contextOf({ job, step }: AskingJob): Promise<SecretContext> {
    const environmentId = step ? (await readRun(this.#db, step.runId)).environment : 'default';
    return { tenantId: job.tenant, environmentId };
  }

  #placesIn({ planId, planVersion }: StepOfRun, sha256: string): Promise<Places> {
    const known = this.#plans.get(sha256);
    if (known) return known;
    const reading = readPlan(this.#db, planId, planVersion, sha256).then(placesOf);
    reading.catch(() => this.#plans.delete(sha256));
    for (const oldest of this.#plans.keys())
      if (this.#plans.size >= mostPlans) this.#plans.delete(oldest);
    this.#plans.set(sha256, reading);
    return reading;
  }
}

/** `resize` for `resize[3]`, `undo:resize` for `undo:resize[3]`. */
const stepOf = (stepId: string) => stepId.replace(/\[\d+\]$/, '');

function placesOf(plan: PlanDocument): Places {
  const places = new Map<string, readonly Place[]>();
  for (const step of plan.steps) {
    if (step.type !== 'job' && step.type !== 'each') continue;
    const ofJob = [...placesWithin(step.input)];
    places.set(step.id, ofJob);
    // Without an input of its own, what undoes a step gets the input of the step.
    places.set(
      `undo:${step.id}`,
      step.compensate?.input === undefined ? ofJob : [...placesWithin(step.compensate.input)],
    );
  }
  return places;
}

function* placesWithin(
  template: Template | undefined,
  path: readonly string[] = [],
): Generator<Place> {
  if (typeof template !== 'object' || template === null) return;
  const name = secretNameIn(template);
  if (name !== undefined) yield { path, name };
  else
    for (const [key, member] of Object.entries(template))
      yield* placesWithin(member, [...path, key]);
}

/** Without recursion: an input may be deeper than a stack. */
function mentionsSecret(input: unknown): boolean {
  const open: unknown[] = [];
  const look = (part: unknown) => {
    if (typeof part === 'object' && part !== null) open.push(part);
  };
  for (look(input); open.length > 0; ) {
    const part = open.pop() as object;
    if (Object.hasOwn(part, '$secret')) return true;
    for (const member of Object.values(part)) look(member);
  }
  return false;
}

/** The input belongs to this attempt alone, and is changed in place. */
function withSecret(input: unknown, path: readonly string[], value: string): unknown {
  const last = path.at(-1);
  if (last === undefined) return value;
  let parent = input as Record<string, unknown>;
  for (const key of path.slice(0, -1)) parent = parent[key] as Record<string, unknown>;
  parent[last] = value;
  return input;
}
