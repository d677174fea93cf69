/** References: what a text points to, and texts that point to nothing. */
import { describe, expect, test } from 'vitest';
import { parseRef, refsOf, refsOfCondition } from '../../../src/runs/plans/refs.js';
import { reference } from '../../../src/runs/plans/typed.js';

test.each([
  ['input', { root: 'input', path: [] }],
  ['input.order.id', { root: 'input', path: ['order', 'id'] }],
  ['input.lines.0.first name', { root: 'input', path: ['lines', '0', 'first name'] }],
  ['item', { root: 'item', path: [] }],
  ['item.url', { root: 'item', path: ['url'] }],
  ['run.id', { root: 'run', path: ['id'] }],
  ['steps.reserve.output', { root: 'step', stepId: 'reserve', path: [] }],
  ['steps.reserve.output.id', { root: 'step', stepId: 'reserve', path: ['id'] }],
  ['steps.model.orders.output.output', { root: 'step', stepId: 'model.orders', path: ['output'] }],
  ['steps.output.output', { root: 'step', stepId: 'output', path: [] }],
  ['steps.a.outputs.output', { root: 'step', stepId: 'a.outputs', path: [] }],
])('%s is understood', (ref, target) => {
  expect(parseRef(ref)).toEqual(target);
});

test.each([
  '',
  '.',
  'input.',
  'input..a',
  '.input',
  'Input',
  'inputs',
  'run',
  'run.id.x',
  'run.tenant',
  'steps',
  'steps.a',
  'steps..output',
  'steps.a.result',
  'item[0].',
  'input.a\n',
])('%j points to nothing', (ref) => {
  expect(parseRef(ref)).toBeUndefined();
});

test('all of a template and of a condition are found, and what only looks like one is not', () => {
  const template = {
    a: { $ref: 'input.a' },
    b: [1, { c: { $ref: 'item' } }, { $ref: 'steps.s.output' }],
    d: { $ref: 'input.d', more: 1 },
    e: '$ref',
    f: null,
  };
  expect([...refsOf(template)]).toEqual(['input.a', 'item', 'steps.s.output']);
  const condition = {
    all: [
      { ref: 'input.a', is: 1 },
      { any: [{ not: { ref: 'input.b', exists: true } }, { ref: 'input.c', above: 1 }] },
    ],
  };
  expect([...refsOfCondition(condition)]).toEqual(['input.a', 'input.b', 'input.c']);
});

describe('a reference in TypeScript', () => {
  const input = reference<{ order: { id: string; lines: string[] } }>('input');

  test('leads where its names lead, and is JSON', () => {
    expect(JSON.stringify([input.order.id, input.order.lines[0], input])).toBe(
      '[{"$ref":"input.order.id"},{"$ref":"input.order.lines.0"},{"$ref":"input"}]',
    );
  });

  test('says so when it is taken for its value', () => {
    const words = /input\.order\.id is a reference: its value is known when the run gets there/;
    expect(() => `${input.order.id}`).toThrow(words);
    expect(() => Number(input.order.id)).toThrow(words);
    expect(() => (input.order.id as unknown as number) > 5).toThrow(words);
  });

  test('cannot be changed, and does not lead to names that a path cannot hold', () => {
    expect(() => Object.assign(input, { $ref: 'item' })).toThrow();
    expect(() => (input as unknown as Record<string, unknown>)['a.b']).toThrow(
      'input: a reference cannot lead to "a.b"; the names of a path have no dots',
    );
    expect(() => (input as unknown as Record<string, unknown>)['']).toThrow('cannot lead to ""');
  });
});
