import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { JobKind } from '../../queue/job.js';
import { parseWith } from '../../queue/schema.js';
import type { PlanDocument, PlanRef } from './document.js';
import { planBytes, planRef } from './hash.js';
import { validatePlan } from './validate.js';

/** What a document does not hold: schemas, and jobs as they were defined. */
export interface PlanSurroundings {
  readonly input?: StandardSchemaV1 | undefined;
  readonly jobs?: ReadonlyMap<string, JobKind<never, unknown>>;
  readonly waits?: ReadonlyMap<string, StandardSchemaV1>;
}

/**
 * A plan that has been found valid, and that nobody can change. `Input` is what a run of it is
 * started with.
 */
export class Plan<Input = unknown> {
  readonly document: PlanDocument;
  /** The bytes that are hashed and stored. */
  readonly canonical: Uint8Array;
  readonly ref: PlanRef;
  /** The kinds of jobs that it needs, each with its definition if that is known here. */
  readonly kinds: ReadonlyMap<string, JobKind<never, unknown> | undefined>;
  /** What the events that it waits for carry, where a schema was given. */
  readonly waits: ReadonlyMap<string, StandardSchemaV1>;
  readonly #schema: StandardSchemaV1 | undefined;
  declare protected readonly types: (input: Input) => void;

  constructor(document: unknown, { input, jobs, waits = new Map() }: PlanSurroundings = {}) {
    this.document = frozen(validatePlan(document));
    this.canonical = planBytes(this.document);
    this.ref = Object.freeze(planRef(this.document, this.canonical));
    this.kinds = new Map(kindsOf(this.document).map((kind) => [kind, jobs?.get(kind)]));
    this.waits = waits;
    this.#schema = input;
  }

  get id(): string {
    return this.document.planId;
  }

  get version(): string {
    return this.document.planVersion;
  }

  get sha256(): string {
    return this.ref.sha256;
  }

  /**
   * The input as the schema makes it; refuses one that does not fit. What is stored is, as with
   * jobs, what was given.
   */
  async parse(input: unknown): Promise<unknown> {
    return this.#schema ? parseWith(this.#schema, input, this.id) : input;
  }

  /** The same for what an event carries. */
  async parseEvent(event: string, payload: unknown): Promise<unknown> {
    const schema = this.waits.get(event);
    return schema ? parseWith(schema, payload, `${this.id}, event ${event}`) : payload;
  }
}

function kindsOf({ steps }: PlanDocument): string[] {
  const kinds = steps.flatMap((step) =>
    'kind' in step ? [step.kind, ...(step.compensate ? [step.compensate.kind] : [])] : [],
  );
  return [...new Set(kinds)];
}

function frozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) {
    Object.freeze(value);
    for (const member of Object.values(value)) frozen(member);
  }
  return value;
}
