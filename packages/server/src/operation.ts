/**
 * An operation: one use of the typed API, as data. Routes, the OpenAPI document, rights and tests
 * follow from the list of them.
 */
import type { Static, TObject, TSchema } from 'typebox';
import type { Admitted, ErrorCode, Right, Writ } from 'writ';

export interface Input {
  readonly params?: TObject;
  readonly query?: TObject;
  readonly body?: TSchema;
}

type Part<Schema> = Schema extends TSchema ? Static<Schema> : undefined;

/** The parts of a request, in the types of its schemas. */
export interface Given<In extends Input> {
  readonly params: Part<In['params']>;
  readonly query: Part<In['query']>;
  readonly body: Part<In['body']>;
  /** The row version of `If-Match`. */
  readonly version: number | undefined;
  readonly caller: Admitted;
}

/** Whether a request names the version of the row that it changes. */
export type Versioning = 'none' | 'optional' | 'required';

interface Declared<In extends Input> {
  /** Layer and verb: `runs.list`. The layer is the tag. */
  readonly id: string;
  /** Below `/api/v1`, with `:name` for a parameter. */
  readonly path: string;
  readonly summary: string;
  /** The right that its caller needs; null: any known principal may call it. */
  readonly right: Right | null;
  /** It is about all tenants: callers of one tenant may not call it. */
  readonly wide?: boolean;
  readonly input?: In;
  readonly output: TSchema;
  /** Its own refusals, beside those that every request can have. */
  readonly refuses?: readonly ErrorCode[];
}

export interface Operation extends Declared<Input> {
  readonly kind: 'read' | 'act' | 'stream';
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly status: 200 | 201 | 202;
  readonly version: Versioning;
  /** `after`: of a stream, the id of the last event that the caller has seen. */
  readonly run: (writ: Writ, given: Given<Input>, after?: string) => unknown;
}

interface Read<In extends Input> extends Declared<In> {
  readonly run: (writ: Writ, given: Given<In>) => unknown;
}

interface Act<In extends Input> extends Read<In> {
  /** POST unless given. */
  readonly method?: 'POST' | 'PUT' | 'DELETE';
  /** 200 unless given. */
  readonly status?: 200 | 201 | 202;
  /** `none` unless given. */
  readonly version?: Versioning;
}

interface Stream<In extends Input> extends Declared<In> {
  /** Yields events with ids that a later request continues after. */
  readonly run: (writ: Writ, given: Given<In>, after: string | undefined) => AsyncIterable<unknown>;
}

/** Looks, and changes nothing. */
export const read = <In extends Input>(declared: Read<In>): Operation =>
  ({ ...declared, kind: 'read', method: 'GET', status: 200, version: 'none' }) as Operation;

/** Changes something, once under a key of its caller's (`Idempotency-Key`). */
export const act = <In extends Input>(declared: Act<In>): Operation =>
  ({ method: 'POST', status: 200, version: 'none', ...declared, kind: 'act' }) as Operation;

/** Follows what changes, as server-sent events. */
export const stream = <In extends Input>(declared: Stream<In>): Operation =>
  ({
    ...declared,
    kind: 'stream',
    method: 'GET',
    status: 200,
    version: 'none',
  }) as unknown as Operation;
