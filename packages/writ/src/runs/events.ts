/** The log of a run: what its events are, what identifies them, and what may not be in them. */
import { hash } from 'node:crypto';
import { WritRefusal } from '../errors/index.js';
import type { RunMove } from '../machines/run.js';
import type { RunStepMove } from '../machines/run-step.js';
import type { ArtifactRef } from '../queue/artifacts.js';

export type { ArtifactRef } from '../queue/artifacts.js';

/** The stepId of events that concern the run as a whole. */
export const runLevel = 'RUN';

export type FailureCategory = 'USER' | 'SYSTEM' | 'PLATFORM' | 'TIMEOUT';

export interface StepError {
  readonly errorCode: string;
  readonly errorMessage: string;
  readonly retryable: boolean;
  readonly failureCategory: FailureCategory;
  readonly failureSource: string;
}

export type SkipReason = 'DEPENDENCY_FAILED' | 'CONDITION_FALSE' | 'OPERATOR_SKIP';

export type RunSignalType =
  | 'PAUSE'
  | 'RESUME'
  | 'CANCEL'
  | 'RETRY_STEP'
  | 'RETRY_RUN'
  | 'SKIP_STEP'
  | 'UPDATE_PARAMS'
  | 'INJECT_OVERRIDE'
  | 'UPDATE_TARGET'
  | 'EMERGENCY_STOP'
  | 'ESCALATE_ALERT';

interface SignalDecision {
  readonly signalId: string;
  readonly type: RunSignalType;
  readonly principal: string;
  readonly reason?: string;
}

/**
 * What each type of event says. The types that move a run or a step have the names that the
 * machines give them.
 */
export interface RunEventData extends Record<RunMove | RunStepMove, object> {
  RunApproved: Record<never, never>;
  RunQueued: Record<never, never>;
  RunStarted: {
    readonly planId: string;
    readonly planVersion: string;
    readonly planSha256: string;
    readonly engine: string;
    /** How the engine finds the run again. */
    readonly engineRunRef?: Readonly<Record<string, unknown>>;
    readonly inputSha256?: string;
    readonly originalRunId?: string;
  };
  StepStarted: {
    readonly jobId?: string;
    readonly kind?: string;
    readonly worker?: string;
    readonly late?: true;
    /**
     * When it was put into a spool, by the clock of that machine: the event itself is as old as its
     * place in the log.
     */
    readonly spooledAt?: string;
    /**
     * An `each` says how many jobs it is, a wait what it waits for, a wait and a timer when they
     * end.
     */
    readonly items?: number;
    readonly parallel?: number;
    readonly event?: string;
    readonly dueAt?: string;
  };
  StepCompleted: { readonly artifacts: readonly ArtifactRef[]; readonly items?: number };
  StepFailed: { readonly error: StepError; readonly final?: boolean };
  StepSkipped: { readonly reasonCode: SkipReason };
  SignalAccepted: SignalDecision & {
    readonly stepId?: string;
    readonly params?: Readonly<Record<string, unknown>>;
    readonly newEffectKey?: true;
  };
  SignalRejected: SignalDecision & { readonly code: string };
  RunPaused: { readonly reason: string; readonly draining: number };
  RunResumed: Record<never, never>;
  RunCompleted: Record<never, never>;
  RunFailed: { readonly rootCause?: RootCause; readonly undone?: boolean };
  RunCancelled: { readonly reason?: string; readonly undone?: boolean };
}

export interface RootCause {
  readonly stepId: string;
  readonly errorCode: string;
  readonly errorMessage: string;
}

export type RunEventType = keyof RunEventData;

interface RunEventBase {
  readonly runId: string;
  /** Dense from 1. */
  readonly runSeq: number;
  readonly eventId: string;
  /** `RUN` for events that concern the run as a whole. */
  readonly stepId: string;
  readonly logicalAttemptId: string;
  readonly engineAttemptId?: string;
  readonly idempotencyKey: string;
  readonly emittedAt: string;
  readonly persistedAt: string;
  readonly causedBySignalId?: string;
  readonly parentEventId?: string;
  /** Of another engine: the version of the program that told of it. */
  readonly adapterVersion?: string;
}

/**
 * An event as a log holds it. A later version may have written it, so its type need not be one that
 * we know.
 */
export interface RunEvent extends RunEventBase {
  readonly eventType: string;
  readonly eventData: object;
}

/** An event of a type that we know. `eventType` tells what is in `eventData`. */
export type KnownRunEvent = {
  [Type in RunEventType]: RunEventBase & {
    readonly eventType: Type;
    readonly eventData: RunEventData[Type];
  };
}[RunEventType];

/** Equal for the same fact told twice, however often the platform tried: a log takes it once. */
export function idempotencyKey(
  runId: string,
  stepId: string,
  logicalAttemptId: string,
  eventType: string,
  planVersion: string,
): string {
  return hash(
    'sha256',
    `${runId}|${stepId}|${logicalAttemptId}|${eventType}|${planVersion}`,
    'hex',
  );
}

/**
 * The id of an event follows from its place: a UUIDv8 of the first 128 bits of SHA-256 over
 * `runId|runSeq`.
 */
export function eventId(runId: string, runSeq: number): string {
  const digest = hash('sha256', `${runId}|${runSeq}`, 'hex');
  const variant = ((Number.parseInt(digest[16] as string, 16) & 0x3) | 0x8).toString(16);
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-${variant}${digest.slice(17, 20)}-${digest.slice(20, 32)}`;
}

/** The id of one item of an `each`, as the log has it. */
export const itemId = (stepId: string, index: number) => `${stepId}[${index}]`;

/** The id of the undoing of a step or an item, as the log has it. */
export const undoId = (stepId: string) => `undo:${stepId}`;

/** The step or item that an id of the log undoes; undefined if it undoes nothing. */
export const undoneBy = (stepId: string) =>
  stepId.startsWith('undo:') ? stepId.slice(5) : undefined;

/**
 * The `each` and the place in it that an id of the log names; undefined if it is not an item. No
 * step of a plan has a bracket in its id.
 */
export function itemOf(stepId: string): { stepId: string; index: number } | undefined {
  if (stepId.charCodeAt(stepId.length - 1) !== 93 /* ] */) return undefined;
  const open = stepId.lastIndexOf('[');
  const end = stepId.length - 1;
  const digits = end - open - 1;
  if (open < 1 || digits < 1 || digits > 9 || (digits > 1 && stepId.charCodeAt(open + 1) === 48))
    return undefined;
  let index = 0;
  for (let at = open + 1; at < end; at++) {
    const digit = stepId.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) return undefined;
    index = index * 10 + digit;
  }
  return { stepId: stepId.slice(0, open), index };
}

/**
 * Longer texts are content. Messages of errors are cut to 4,000 characters before they come here.
 */
const textLimit = 4096;
const depthLimit = 100;

const refuse = (detail: string) => new WritRefusal('ARTIFACT_BODY_NOT_ALLOWED', detail);

/**
 * Refuses data of an event that holds more than pointers to artifacts. The detail names the place,
 * and never the value.
 */
export function assertReferencesOnly(eventData: object): void {
  const { artifacts } = eventData as { artifacts?: unknown };
  if (artifacts !== undefined) {
    if (!Array.isArray(artifacts)) throw refuse('artifacts: not an array');
    for (const [at, artifact] of artifacts.entries()) assertReference(artifact, `artifacts/${at}`);
  }
  assertShortTexts(eventData, []);
}

const fields: Record<string, (value: unknown) => boolean> = {
  // A data: URI is the content itself.
  uri: (value) => typeof value === 'string' && /^(?!data:)[a-z][a-z0-9+.-]*:\S+$/i.test(value),
  kind: (value) => typeof value === 'string' && value.length > 0,
  sha256: (value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value),
  sizeBytes: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  expiresAt: (value) =>
    typeof value === 'string' &&
    /^\d{4}-\d\d-\d\dT/.test(value) &&
    !Number.isNaN(Date.parse(value)),
};

function assertReference(artifact: unknown, place: string): void {
  if (typeof artifact !== 'object' || artifact === null || Array.isArray(artifact))
    throw refuse(`${place}: not a reference`);
  for (const [name, value] of Object.entries(artifact)) {
    if (!Object.hasOwn(fields, name))
      throw refuse(`${place}/${name.slice(0, 60)}: a reference has no such field`);
    if (!fields[name]?.(value)) throw refuse(`${place}/${name}: not what a reference has there`);
  }
  for (const name of ['uri', 'kind'])
    if (!Object.hasOwn(artifact, name)) throw refuse(`${place}/${name}: missing`);
}

function assertShortTexts(value: unknown, path: string[]): void {
  const place = () => path.join('/') || 'the data';
  if (typeof value === 'string') {
    if (value.length > textLimit)
      throw refuse(
        `${place()}: a text of ${value.length} characters, and ${textLimit} are allowed`,
      );
  } else if (typeof value === 'object' && value !== null) {
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer)
      throw refuse(`${place()}: bytes`);
    if (path.length >= depthLimit)
      throw refuse(`${place().slice(0, 60)}…: nested deeper than ${depthLimit}`);
    for (const [name, member] of Object.entries(value)) {
      if (name.length > textLimit)
        throw refuse(
          `${place()}: a name of ${name.length} characters, and ${textLimit} are allowed`,
        );
      path.push(name);
      assertShortTexts(member, path);
      path.pop();
    }
  }
}
