/** Refs that the compiler knows the types of: `p.input.order.id` is `{ $ref: 'input.order.id' }`, and fits where that id would. */
import type { SecretRef } from '../../secrets/provider.js';
import { wrong } from './fields.js';

declare const standsFor: unique symbol;

/** Stands for a value that is known when the run gets there. */
export interface Reference<out Value> {
  readonly $ref: string;
  readonly [standsFor]: Value;
}

type Scalar = string | number | boolean | bigint | symbol | null | undefined;
type Missing<Value> = undefined extends Value ? null : null extends Value ? null : never;
type IsAny<Value> = 0 extends 1 & Value ? true : false;

/** A reference, with references to what is in the value. A path that is not there gives null: so what is optional may be null. */
export type RefTo<Value> =
  // biome-ignore lint/suspicious/noExplicitAny: of what nobody has said the type of, everything can be asked, and it fits everywhere.
  IsAny<Value> extends true
    ? any
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

/** A reference that has references in it, one for each name that is asked for. */
export function reference<Value>(path: string): RefTo<Value> {
  const target = Object.freeze({ $ref: path });
  return new Proxy(target, {
    get(_, key) {
      if (key === '$ref') return path;
      if (key === Symbol.toPrimitive) return () => refuseValue(path);
      if (typeof key === 'symbol') return undefined;
      if (!/^[^.\p{Cc}]+$/u.test(key))
        throw wrong(
          `${path}: a reference cannot lead to ${JSON.stringify(key)}; the names of a path have no dots`,
        );
      return reference(`${path}.${key}`);
    },
  }) as RefTo<Value>;
}

function refuseValue(path: string): never {
  throw wrong(
    `${path} is a reference: its value is known when the run gets there, and cannot be calculated with or put into a text here`,
  );
}
