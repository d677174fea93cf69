import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { planOf, type Shape } from './plan.mjs';

const shape: Shape = {
  jobs: 1000,
  kills: [
    ['claimed', 20, 5],
    ['after_commit', 20, 15],
  ],
  stops: [['started', 5, 5]],
  leaves: [['started', 5, 5]],
  duplicates: [['started', 5, 5]],
  outside: [
    ['crash', 4],
    ['disconnect', 4],
  ],
};

test('the same seed gives the same faults', () => {
  expect(planOf(7, shape)).toEqual(planOf(7, shape));
});

test('another seed gives other faults', () => {
  expect(planOf(8, shape)).not.toEqual(planOf(7, shape));
});

test('a plan has as many faults of each kind as it was asked for', () => {
  const { workers, outside } = planOf(7, shape);
  const count = (point: string, action: string) =>
    workers.filter((fault) => fault.point === point && fault.action === action).length;
  expect([
    count('claimed', 'kill'),
    count('after_commit', 'kill'),
    count('started', 'stop'),
    count('started', 'duplicate'),
  ]).toEqual([20, 20, 5, 5]);
  expect(outside.map(({ action }) => action).sort()).toEqual([
    ...Array(4).fill('crash'),
    ...Array(4).fill('disconnect'),
  ]);
});

test('faults from outside are spread over the run and leave its end alone', () => {
  for (let seed = 0; seed < 50; seed++) {
    const crashes = planOf(seed, shape).outside.filter(({ action }) => action === 'crash');
    crashes.forEach(({ nth }, index) => {
      expect(nth).toBeGreaterThanOrEqual(50 + 200 * index);
      expect(nth).toBeLessThanOrEqual(250 + 200 * index);
    });
  }
});

test.each([[[]], [['--suite', 'nothing']], [['--suite', 'queue', '--seed', 'x']], [['--speed']]])(
  'wrong usage ends with 2: %j',
  (args) => {
    const run = spawnSync(
      process.execPath,
      [fileURLToPath(new URL('./run.mjs', import.meta.url)), ...args],
      { encoding: 'utf8' },
    );
    expect(run.status).toBe(2);
    expect(run.stderr).toContain('usage: npm run faults');
  },
);
