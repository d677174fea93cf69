/**
 * The checker of limits by hand-made times: what overlaps, what only touches, what a rate allows
 * and what is one start too many.
 */
import { describe, expect, test } from 'vitest';
import { alone, burstUsed, crashesOf, mostAtOnce, type Started } from './limit-checker.mjs';
import { generator } from './plan.mjs';

let count = 0;
const ran = (start: number, end: number | null, more: Partial<Started> = {}): Started => ({
  jobId: `job ${++count}`,
  key: 'a',
  owner: 'w1',
  start: BigInt(start),
  end: end === null ? null : BigInt(end),
  abortKind: null,
  ...more,
});

describe('overlap', () => {
  test('an end and a start at the same moment do not overlap', () => {
    expect(mostAtOnce([ran(0, 10), ran(10, 20)]).most).toBe(1);
  });

  test('a microsecond of both is an overlap', () => {
    const rows = [ran(0, 11), ran(10, 20)];
    expect(mostAtOnce(rows)).toEqual({ most: 2, at: 10n, jobs: rows.map(({ jobId }) => jobId) });
  });

  test('an open execution lasts until now', () => {
    expect(mostAtOnce([ran(0, null), ran(1_000_000, 1_000_001)]).most).toBe(2);
  });

  test('one that ends in the moment of its start counts in that moment', () => {
    expect(mostAtOnce([ran(5, 5), ran(5, 5), ran(0, 5)]).most).toBe(2);
  });

  test('the most at once is found wherever it is', () => {
    expect(mostAtOnce([ran(0, 100), ran(10, 20), ran(12, 15), ran(15, 30), ran(40, 50)]).most).toBe(
      3,
    );
    expect(mostAtOnce([])).toEqual({ most: 0, at: 0n, jobs: [] });
  });
});

describe('rate', () => {
  const rate = { starts: 100, perMs: 1_000 };
  const microseconds = (...ms: number[]) => ms.map((at) => BigInt(at) * 1_000n);

  test('starts at the same moment use as much of the burst as they are', () => {
    expect(burstUsed(microseconds(0, 0, 0), rate).used).toBe(3);
  });

  test('starts at the pace of the rate use one', () => {
    expect(burstUsed(microseconds(0, 10, 20, 30, 40), rate).used).toBe(1);
  });

  test('a burst after a pause counts from the pause, not from the beginning', () => {
    expect(burstUsed(microseconds(0, 10_000, 10_000, 10_000), rate)).toEqual({
      used: 3,
      from: 1,
      to: 3,
    });
  });

  test('it agrees with looking at every pair', () => {
    const random = generator(7);
    for (let round = 0; round < 20; round++) {
      const starts = [0n];
      while (starts.length < 100)
        starts.push((starts.at(-1) ?? 0n) + BigInt(random.between(0, 20_000)));
      let most = 0;
      starts.forEach((from, i) => {
        starts.forEach((to, j) => {
          if (i <= j) most = Math.max(most, j - i + 1 - Number(to - from) / 10_000);
        });
      });
      expect(burstUsed(starts, rate).used).toBeCloseTo(most, 6);
    }
  });
});

describe('poison', () => {
  const crash = ran(10, 20, { jobId: 'poison', abortKind: 'lease_expired' });

  test('a crash is an execution that began and whose worker died', () => {
    expect(
      crashesOf(
        [crash, ran(0, 5, { jobId: 'poison' }), ran(0, 20, { abortKind: 'lease_expired' })],
        'poison',
      ),
    ).toEqual([crash]);
  });

  test('alone is alone in the process: other processes may work, and what ended before does not count', () => {
    expect(alone([crash, ran(0, 10), ran(20, 30), ran(12, 15, { owner: 'w2' })], crash)).toBe(true);
    expect(alone([crash, ran(0, 11)], crash)).toBe(false);
    expect(alone([crash, ran(19, null)], crash)).toBe(false);
  });
});
