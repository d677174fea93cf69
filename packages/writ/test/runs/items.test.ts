import { describe, expect, test } from 'vitest';
import { type ItemsSnapshot, itemState, itemsThat } from '../../src/runs/items.js';
import { failure, output } from './histories.js';
import { type Line, running, stepOf } from './lines.js';

describe('items', () => {
  const total = 10_000;
  const each: Line = ['StepStarted', 'each', { items: total, parallel: 1000 }];
  const item = (index: number): Line[] => [
    ['StepStarted', `each[${index}]`],
    ['StepCompleted', `each[${index}]`, { artifacts: [output('x')] }],
  ];

  test('are counted, not listed', () => {
    const snapshot = running(
      each,
      ...item(0),
      ...item(9999),
      ['StepStarted', 'each[64]'],
      ['StepStarted', 'each[63]'],
      ['StepFailed', 'each[63]', failure],
    );
    expect(snapshot.steps).toHaveLength(1);
    const items = snapshot.steps[0]?.items as ItemsSnapshot;
    expect(items).toMatchObject({
      total,
      parallel: 1000,
      running: 1,
      succeeded: 2,
      failed: 1,
      skipped: 0,
    });
    expect(snapshot.counts).toMatchObject({ running: 1, succeeded: 0, failed: 0 });
    expect(itemsThat(items, ({ status }) => status === 'SUCCESS')).toEqual([0, 9999]);
    expect([62, 63, 64, 65].map((index) => itemState(items, index).status)).toEqual([
      'PENDING',
      'FAILED',
      'RUNNING',
      'PENDING',
    ]);
  });

  test('keep a snapshot small', () => {
    const snapshot = running(
      each,
      ...Array.from({ length: total }, (_, index) => item(index)).flat(),
    );
    expect(JSON.stringify(snapshot).length).toBeLessThan(12_000);
    expect(
      itemsThat(snapshot.steps[0]?.items as ItemsSnapshot, ({ status }) => status !== 'SUCCESS'),
    ).toEqual([]);
  });

  test('of no step, or beyond its end, are contradictions', () => {
    expect(running(...item(1)).inconsistent).toBe(2);
    expect(running(each, ['StepStarted', 'each[10000]']).inconsistent).toBe(1);
    expect(running(['StepStarted', 'a'], ['StepStarted', 'a[0]']).inconsistent).toBe(1);
  });

  test('keep what succeeded when their step is retried', () => {
    const first: Line[] = [
      each,
      ...item(0),
      ['StepStarted', 'each[1]'],
      ['StepFailed', 'each[1]', failure],
      ['StepFailed', 'each', failure],
    ];
    const again: Line[] = [
      ['StepStarted', 'each', { items: total, parallel: 1000 }, '2'],
      ['StepStarted', 'each[1]', {}, '2'],
    ];
    const items = running(...first, ...again).steps[0]?.items as ItemsSnapshot;
    expect(items).toMatchObject({ succeeded: 1, failed: 0, running: 1 });
    expect(itemState(items, 1)).toEqual({ status: 'RUNNING', attempt: 2 });
  });

  test('remember attempts however many there are', () => {
    const attempts = Array.from({ length: 300 }, (_, at): Line[] => [
      ['StepStarted', 'each[5]', {}, String(at + 1)],
      ['StepFailed', 'each[5]', failure, String(at + 1)],
    ]).flat();
    const snapshot = running(each, ...attempts);
    expect(snapshot.inconsistent).toBeUndefined();
    expect(itemState(JSON.parse(JSON.stringify(snapshot.steps[0]?.items)), 5)).toEqual({
      status: 'FAILED',
      attempt: 300,
    });
  });

  test('that are undone stand together', () => {
    const undo = (index: number): Line[] => [
      ['StepStarted', `undo:each[${index}]`],
      ['StepCompleted', `undo:each[${index}]`, { artifacts: [] }],
    ];
    const before: Line[] = [each, ...item(0), ...item(1), ['StepFailed', 'each', failure]];
    const half = running(...before, ...undo(1));
    expect(stepOf(half, 'undo:each')).toMatchObject({ status: 'RUNNING', items: { succeeded: 1 } });
    expect(stepOf(running(...before, ...undo(1), ...undo(0)), 'undo:each')).toMatchObject({
      status: 'SUCCESS',
    });
    expect(running(...before, ['StepStarted', 'undo:each[1]']).counts).toMatchObject({
      undoing: 1,
      running: 0,
    });
  });
});
