/**
 * Refs that the compiler knows the types of: `p.input.order.id` is `{ $ref: 'input.order.id' }`,
 * and fits where that id would.
 */
import type { SecretRef } from '../../secrets/provider.js';
import { wrong } from './schema.js';

declare const standsFor: unique symbol;

/** Stands for a value that is known when the run gets there. */
export interface Reference<out Value> {
  readonly $ref: string;
  readonly [standsFor]: Value;
}

type Scalar = string | number | boolean | bigint | symbol | null | undefined;
type Missing<Value> = undefined extends Value ? null : null extends Value ? null : never;
type IsAny<Value> = 0 extends 1 & Value ? true : false;

/**
 * A reference, with references to what is in the value. A path that is not there gives null: so
 * what is optional may be null.
 */
export type RefTo<Value> =
  IsAny<Value> extends true
    ? // biome-ignore lint/suspicious/noExplicitAny: of what nobody has said the type of, everything can be asked, and it fits everywhere.
      any
    : Reference<Exclude<Value, undefined> | Missing<Value>> &
        RefsIn<NonNullable<Value>, Missing<Value>>;

type RefsIn<Value, Absent> = [Value] extends [Scalar]
  ? unknown
  : [Value] extends [readonly (infer Member)[]]
    ? { readonly [index: number]: RefTo<Member | null> }
    : { readonly [Key in keyof Value]-?: RefTo<Value[Key] | Absent> };

/** A value, parts of which may be references to what fits there; where any text does, a secret. */
export type Filled<Value> =
  | Value
  | Reference<Value>
  | (string extends Value ? SecretRef : never)
  | (Value extends Scalar ? never : { readonly [Key in keyof Value]: Filled<Value[Key]> });

/** References that were made while a plan was described, and that nothing has used yet. */
export type Unused = Set<{ readonly path: string }>;

/**
 * Names that JavaScript itself looks up: `JSON.stringify` asks for `toJSON`, `await` for `then`.
 */
const lookedUp: readonly string[] = ['toJSON', 'then'];

/**
 * A reference that has references in it, one for each name that is asked for. It is used once its
 * path is read, for a template or a condition, or once it has led further. JavaScript cannot tell
 * an object that it stands in an `if`: a reference that is made and never used is the trace of
 * that.
 */
export function reference<Value>(path: string, unused?: Unused, counted = true): RefTo<Value> {
  const target = Object.freeze({ $ref: path });
  const made = { path };
  if (counted) unused?.add(made);
  return new Proxy(target, {
    get(_, key) {
      if (key === Symbol.toPrimitive) return () => refuseValue(path);
      if (typeof key === 'symbol') return undefined;
      unused?.delete(made);
      if (key === '$ref') return path;
      if (!/^[^.\p{Cc}]+$/u.test(key))
        throw wrong(
          `${path}: a reference cannot lead to ${JSON.stringify(key)}; the names of a path have no dots`,
        );
      if (/^-\d+$/.test(key))
        throw wrong(
          `${path}: a list has no element ${key}; it is counted from 0, and not from its end`,
        );
      return reference(`${path}.${key}`, lookedUp.includes(key) ? undefined : unused);
    },
  }) as RefTo<Value>;
}

/** Refuses references that were made and not used. */
export function refuseUnused(unused: Unused): void {
  const [first] = unused;
  if (!first) return;
  throw wrong(
    `${first.path} is read, and no step uses it: its value is known when the run gets there, so that an if, ?:, && or === ` +
      `takes the same branch for every run. Use when: is(…), above(…), exists(…) on a step, or leave it out`,
  );
}

function refuseValue(path: string): never {
  throw wrong(
    `${path} is a reference: its value is known when the run gets there, and cannot be calculated with or put into a text here`,
  );
}
