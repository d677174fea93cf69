/**
 * Conditions of steps: `when: when.all(when.is(stock.output.available, true), when.below(…))`.
 */
import type { Condition, Template } from './document.js';
import type { Reference } from './typed.js';

/** Both are the same JSON. What is not there is null. */
export const is = <Value>(ref: Reference<Value>, value: NoInfer<Value> | null): Condition => ({
  ref: ref.$ref,
  is: value as Template,
});
export const isNot = <Value>(ref: Reference<Value>, value: NoInfer<Value> | null): Condition => ({
  ref: ref.$ref,
  isNot: value as Template,
});

/** What is no number is neither above nor below. */
export const above = (ref: Reference<number | null>, bound: number): Condition => ({
  ref: ref.$ref,
  above: bound,
});
export const below = (ref: Reference<number | null>, bound: number): Condition => ({
  ref: ref.$ref,
  below: bound,
});

/** It is there, and not null. */
export const exists = (ref: Reference<unknown>): Condition => ({ ref: ref.$ref, exists: true });

export const all = (...conditions: readonly Condition[]): Condition => ({ all: conditions });
export const any = (...conditions: readonly Condition[]): Condition => ({ any: conditions });
export const not = (condition: Condition): Condition => ({ not: condition });

/** The conditions, as `writ` exports them. */
export const when = { above, all, any, below, exists, is, isNot, not } as const;
