/** When a fault run is given up: because nothing moves, and not because the machine is slow. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { standstill } from './standstill.mjs';

beforeEach(() => vi.useFakeTimers({ toFake: ['Date'] }));
afterEach(() => vi.useRealTimers());
const after = (ms: number) => vi.setSystemTime(Date.now() + ms);

test('work that becomes less goes on, however long it takes', () => {
  const still = standstill(1_000);
  for (let left = 100; left > 0; left--) {
    expect(still(left)).toBe(false);
    after(900);
  }
});

test('work that stays as it is stands still after the given time', () => {
  const still = standstill(1_000);
  expect(still(5)).toBe(false);
  after(1_000);
  expect(still(5)).toBe(false);
  after(1);
  expect(still(5)).toBe(true);
});

test('work that goes up and down stands still, too', () => {
  const still = standstill(1_000);
  expect(still(5)).toBe(false);
  after(600);
  expect(still(7)).toBe(false);
  after(600);
  expect(still(5)).toBe(true);
});
