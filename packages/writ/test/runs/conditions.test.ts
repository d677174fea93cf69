import { describe, expect, test } from 'vitest';
import { holds, resolveRef, type Scope } from '../../src/runs/conditions.js';
import type { Condition } from '../../src/runs/plans/document.js';

describe('a condition', () => {
  const outputs: Record<string, unknown> = {
    a: { n: 5, deep: { list: [1, { x: 'y' }] }, no: null },
    'a.b': { n: 7 },
  };
  const scope: Scope = {
    runId: 'r',
    input: { flag: true, order: { id: 'o-1' } },
    stepIds: ['a', 'a.b', 'c'],
    outputs: (id) => outputs[id],
  };

  test.each<[string, unknown]>([
    ['run.id', 'r'],
    ['input', scope.input],
    ['input.order.id', 'o-1'],
    ['input.order.missing', null],
    ['input.order.id.length', null],
    ['input.constructor', null],
    ['steps.a.output', outputs.a],
    ['steps.a.output.deep.list.1.x', 'y'],
    ['steps.a.output.deep.list.length', null],
    ['steps.a.output.deep.list.-1', null],
    ['steps.a.output.deep.list.01', null],
    ['steps.a.output.deep.list.+1', null],
    ['steps.a.b.output.n', 7],
    ['steps.c.output.n', null],
    ['steps.unknown.output', null],
    ['elsewhere', null],
  ])('looks up %s', (ref, value) => {
    expect(resolveRef(ref, scope)).toEqual(value);
  });

  test.each<[Condition, boolean]>([
    [{ ref: 'input.order', is: { id: 'o-1' } }, true],
    [{ ref: 'steps.a.output.deep', is: { list: [1, { x: 'y' }] } }, true],
    [{ ref: 'steps.a.output.n', is: '5' }, false],
    [{ ref: 'steps.c.output', is: null }, true],
    [{ ref: 'steps.a.output.n', isNot: 5 }, false],
    [{ ref: 'steps.c.output', isNot: 5 }, true],
    [{ ref: 'steps.a.output.n', above: 4 }, true],
    [{ ref: 'steps.a.output.n', above: 5 }, false],
    [{ ref: 'steps.a.output.n', below: 6 }, true],
    [{ ref: 'steps.c.output', below: 6 }, false],
    [{ ref: 'input.order.id', above: 0 }, false],
    [{ ref: 'steps.a.output.n', exists: true }, true],
    [{ ref: 'steps.a.output.no', exists: true }, false],
    [{ ref: 'steps.c.output', exists: false }, true],
    [{ all: [] }, true],
    [{ any: [] }, false],
    [
      {
        all: [
          { ref: 'input.flag', is: true },
          { ref: 'input.flag', is: false },
        ],
      },
      false,
    ],
    [
      {
        any: [
          { ref: 'input.flag', is: true },
          { ref: 'input.flag', is: false },
        ],
      },
      true,
    ],
    [{ not: { ref: 'input.flag', is: true } }, false],
  ])('%j holds: %s', (condition, held) => {
    expect(holds(condition, scope)).toBe(held);
  });
});
