/**
 * A plan as data: what a run does, as JSON that is hashed, stored and read by every engine.
 * `validatePlan` says whether something is one; `definePlan` builds one in TypeScript.
 */

import type { PayloadSchema } from './payload-schema.js';

export interface PlanDocument {
  readonly schemaVersion: 1;
  readonly planId: string;
  readonly planVersion: string;
  /**
   * Absent: a failed step fails the run. `pause`: the run pauses, so that a person can retry or
   *         skip the step.
   */
  readonly onFailure?: 'pause';
  /** Every step comes behind those that it waits for. */
  readonly steps: readonly PlanStep[];
}

interface StepBase {
  readonly id: string;
  /** Steps that have to have ended before. */
  readonly after?: readonly string[];
  /** Absent: always. */
  readonly when?: Condition;
  /** Its failure skips its dependents, and no more than that. */
  readonly optional?: true;
}

export type PlanStep = JobStep | EachStep | WaitStep | TimerStep;

/** One job. */
export interface JobStep extends StepBase {
  readonly type: 'job';
  readonly kind: string;
  /** Absent: the run's input. */
  readonly input?: Template;
  readonly retry?: Retry;
  readonly timeoutMs?: number;
  readonly compensate?: Compensation;
}

/** One job per element of a list. */
export interface EachStep extends StepBase {
  readonly type: 'each';
  readonly kind: string;
  readonly over: Ref;
  /** How many at a time. */
  readonly parallel: number;
  /** Absent: the item. */
  readonly input?: Template;
  readonly retry?: Retry;
  readonly timeoutMs?: number;
  readonly compensate?: Compensation;
}

/** An event from outside. */
export interface WaitStep extends StepBase {
  readonly type: 'wait';
  readonly event: string;
  /** What the gate checks a delivery against: a part of JSON Schema. */
  readonly schema?: PayloadSchema;
  readonly timeoutMs?: number;
  /** Absent: a wait that takes too long fails. */
  readonly onTimeout?: 'skip';
}

/** Some time. */
export interface TimerStep extends StepBase {
  readonly type: 'timer';
  readonly ms: number;
}

export interface Retry {
  /** How often one logical attempt may be tried; delays are those of the job's kind. */
  readonly attempts?: number;
}

/** The job that undoes a step. */
export interface Compensation {
  readonly kind: string;
  /** Absent: the input of the step. May refer to the step's own output. */
  readonly input?: Template;
  readonly retry?: Retry;
}

/**
 * JSON in which every object with the single key `$ref` stands for what it points to; a path that
 * is not there gives null.
 */
export type Template =
  | null
  | boolean
  | number
  | string
  | readonly Template[]
  | { readonly [key: string]: Template };

/** `input`, `item`, `run.id` or `steps.ID.output`, with a path behind: `input.order.id`. */
export interface Ref {
  readonly $ref: string;
}

export type Condition =
  | { readonly ref: string; readonly is: Template }
  | { readonly ref: string; readonly isNot: Template }
  | { readonly ref: string; readonly above: number }
  | { readonly ref: string; readonly below: number }
  | { readonly ref: string; readonly exists: boolean }
  | { readonly all: readonly Condition[] }
  | { readonly any: readonly Condition[] }
  | { readonly not: Condition };

/** Names a plan and its content. */
export interface PlanRef {
  /** `writ:plan/ID/VERSION`. */
  readonly uri: string;
  /** Of the canonical bytes, in hexadecimal digits. */
  readonly sha256: string;
  readonly schemaVersion: 1;
  readonly planId: string;
  readonly planVersion: string;
  readonly sizeBytes?: number;
  readonly expiresAt?: string;
}

export const limits = {
  steps: 1_000,
  bytes: 256 * 1024,
  parallel: 1_000,
  attempts: 32_767,
  /** Ten years. */
  ms: 10 * 366 * 86_400_000,
  /** Of conditions within conditions. */
  depth: 20,
  refLength: 500,
  /** In one template. */
  refs: 100,
} as const;
