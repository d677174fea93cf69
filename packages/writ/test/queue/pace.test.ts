/** How far ahead of its handlers a worker claims, by a clock that the test moves. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Pace } from '../../src/queue/worker/pace.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

/** A single handler runs so many jobs, each for so long. */
function run(pace: Pace, jobs: number, ms: number): void {
  for (let n = 0; n < jobs; n++) {
    pace.began(0);
    vi.advanceTimersByTime(ms);
    pace.ended(0);
  }
}

test('claims fifty milliseconds of quick work ahead, and nothing ahead of slow work', () => {
  const pace = new Pace(500);
  expect(pace.prefetch).toBe(0);
  run(pace, 500, 1);
  expect(pace.prefetch).toBe(50);
  expect(pace.startAhead).toBe(20);
  run(pace, 40, 2_000);
  expect(pace.prefetch).toBe(0);
});

test('claims at most fifty ahead until 500 jobs in a row were quick', () => {
  const pace = new Pace(500);
  run(pace, 499, 0.1);
  expect(pace.prefetch).toBe(50);
  run(pace, 1, 0.1);
  expect(pace.prefetch).toBeGreaterThan(400);
  run(pace, 1, 1_000);
  run(pace, 499, 0.1);
  expect(pace.prefetch).toBe(50);
});

test('claims as far ahead as before after the process stood still for a moment', () => {
  const pace = new Pace(500);
  run(pace, 1_000, 0.1);
  const before = pace.prefetch;
  pace.began(0);
  vi.advanceTimersByTime(40);
  expect(pace.prefetch).toBe(before);
});

test('claims nothing ahead after it gave jobs back, until it has begun as many', () => {
  const pace = new Pace(500);
  run(pace, 100_000, 1);
  pace.began(0);
  vi.advanceTimersByTime(1_000); // this one is slow
  expect(pace.prefetch).toBe(0);
  pace.gaveBack(50);
  pace.ended(0);
  run(pace, 49, 1);
  expect(pace.prefetch).toBe(0);
  expect(pace.startAhead).toBe(0);
  run(pace, 1, 1);
  expect(pace.prefetch).toBeGreaterThan(0);
});

test('gives back at most one job in a hundred', () => {
  const pace = new Pace(500);
  let [begun, back] = [0, 0];
  for (let round = 0; round < 400; round++) {
    run(pace, 100, 1);
    const surplus = pace.prefetch;
    pace.began(0);
    vi.advanceTimersByTime(1_200);
    if (surplus > 0) pace.gaveBack(surplus);
    pace.ended(0);
    begun += 101;
    back += surplus;
    if (begun > 5_000) expect(back).toBeLessThanOrEqual(begun / 100);
  }
  expect(back).toBeGreaterThan(50); // it does claim ahead again
});
