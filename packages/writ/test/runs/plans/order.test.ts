/**
 * The order of a plan's steps: valid whatever was given, and the given one wherever that is
 * possible.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PlanStep } from '../../../src/runs/plans/document.js';
import { ancestry, inOrder } from '../../../src/runs/plans/order.js';

const step = (id: string, after: readonly string[] = []): PlanStep => ({
  id,
  type: 'timer',
  ms: 1,
  after,
});
const idsOf = (steps: readonly PlanStep[]) => steps.map(({ id }) => id);

/** Steps that wait for some of those before them, so in order. */
const ordered = fc
  .array(fc.array(fc.nat(), { maxLength: 4 }), { minLength: 1, maxLength: 30 })
  .map((waits) =>
    waits.map((before, n) =>
      step(`s${n}`, n === 0 ? [] : [...new Set(before.map((one) => `s${one % n}`))]),
    ),
  );
const shuffled = ordered.chain((steps) => fc.shuffledSubarray(steps, { minLength: steps.length }));

test('steps that are in order stay as they are', () => {
  fc.assert(fc.property(ordered, (steps) => void expect(inOrder(steps)).toEqual(steps)));
});

test('steps in any order are put behind those that they wait for; none is lost, none is there twice', () => {
  fc.assert(
    fc.property(shuffled, (steps) => {
      const seen = new Set<string>();
      for (const { id, after = [] } of inOrder(steps)) {
        expect(after.filter((before) => !seen.has(before))).toEqual([]);
        seen.add(id);
      }
      expect([...seen].sort()).toEqual(idsOf(steps).sort());
    }),
  );
});

test('ordering what has been ordered changes nothing', () => {
  fc.assert(
    fc.property(shuffled, (steps) => void expect(inOrder(inOrder(steps))).toEqual(inOrder(steps))),
  );
});

test('steps that wait for nothing, and that nobody has to wait for sooner, keep their order', () => {
  expect(idsOf(inOrder([step('d', ['b']), step('c'), step('b'), step('a')]))).toEqual([
    'b',
    'd',
    'c',
    'a',
  ]);
});

test('a circle is refused wherever it is, and what is said is one', () => {
  const withCircle = ordered
    .filter((steps) => steps.length > 1)
    .chain((steps) =>
      fc.tuple(fc.constant(steps), fc.nat(steps.length - 2)).map(([all, from]) => {
        // The first of them waits for the last, which now waits for it, through all between.
        const chained = all.map((one, n) =>
          n > from ? step(one.id, [...new Set([...(one.after ?? []), `s${n - 1}`])]) : one,
        );
        return chained.map((one, n) =>
          n === from ? step(one.id, [...(one.after ?? []), `s${all.length - 1}`]) : one,
        );
      }),
    );
  fc.assert(
    fc.property(withCircle, (steps) => {
      expect(() => inOrder(steps)).toThrow(/in a circle: (s\d+)(?: → s\d+)*(?: → …)? → \1, where/);
    }),
  );
});

test('what has surely ended is what there is a way to', () => {
  fc.assert(
    fc.property(ordered, (steps) => {
      const isBefore = ancestry(steps);
      const wayTo = (from: string, to: string): boolean =>
        (steps.find(({ id }) => id === from)?.after ?? []).some(
          (before) => before === to || wayTo(before, to),
        );
      for (const one of steps.slice(-3))
        for (const other of steps) expect(isBefore(one.id, other.id)).toBe(wayTo(one.id, other.id));
    }),
    { numRuns: 50 },
  );
});
