/**
 * Which ticks fire, and which one is waited for: the catch-up rules as a function of schedule and
 * time.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Cron } from '../../src/schedules/cron.js';
import { type CatchUp, dueTicks, lateMs, mostTicks } from '../../src/schedules/due.js';

const at = (text: string) => new Date(`2026-11-${text}Z`);
const due = (text: string, catchUp: CatchUp, next: string, now: string) => {
  const { fire, next: then } = dueTicks(
    { cron: new Cron(text, 'UTC'), catchUp, nextTick: at(next) },
    at(now),
  );
  return [fire, then];
};

test('before its tick nothing fires', () => {
  for (const catchUp of ['none', 'last', 'all'] as const) {
    expect(due('0 9 * * *', catchUp, '15T09:00', '15T08:59:59')).toEqual([[], at('15T09:00')]);
  }
});

test('a tick fires when it has come, whatever the rule', () => {
  for (const catchUp of ['none', 'last', 'all'] as const) {
    expect(due('0 9 * * *', catchUp, '15T09:00', '15T09:00')).toEqual([
      [at('15T09:00')],
      at('16T09:00'),
    ]);
    expect(due('0 9 * * *', catchUp, '15T09:00', '15T09:00:59')).toEqual([
      [at('15T09:00')],
      at('16T09:00'),
    ]);
  }
});

describe('after three days off', () => {
  test('none: what was missed stays missed', () => {
    expect(due('0 9 * * *', 'none', '15T09:00', '18T10:00')).toEqual([[], at('19T09:00')]);
  });
  test('none: what has just come fires', () => {
    expect(due('0 9 * * *', 'none', '15T09:00', '18T09:00:30')).toEqual([
      [at('18T09:00')],
      at('19T09:00'),
    ]);
  });
  test('last: the last one fires', () => {
    expect(due('0 9 * * *', 'last', '15T09:00', '18T10:00')).toEqual([
      [at('18T09:00')],
      at('19T09:00'),
    ]);
  });
  test('all: each fires, the oldest first', () => {
    expect(due('0 9 * * *', 'all', '15T09:00', '18T10:00')).toEqual([
      ['15', '16', '17', '18'].map((day) => at(`${day}T09:00`)),
      at('19T09:00'),
    ]);
  });
});

test('all fires a limited number at a time, and waits for the one after', () => {
  const { fire, next } = dueTicks(
    { cron: new Cron('* * * * *', 'UTC'), catchUp: 'all', nextTick: at('15T00:00') },
    at('18T00:00'),
  );
  expect(fire).toHaveLength(mostTicks);
  expect(next.getTime() - (fire.at(-1) as Date).getTime()).toBe(60_000);
});

test('a year of minutes is not counted to find the last', () => {
  const begun = performance.now();
  const { fire, next } = dueTicks(
    {
      cron: new Cron('* * * * *', 'Europe/Berlin'),
      catchUp: 'last',
      nextTick: new Date('2025-11-15T00:00Z'),
    },
    at('15T00:00:30'),
  );
  expect([fire, next]).toEqual([[at('15T00:00')], at('15T00:01')]);
  expect(performance.now() - begun).toBeLessThan(5_000);
});

/** Whoever looks, and whenever: the rules hold for a whole history of looks. */
test('over any history of looks each tick fires at most once, in order, and none but ticks fire', () => {
  const texts = fc.constantFrom('*/7 * * * *', '30 2 * * *', '0,20,40 1-3 * * *', '5 */5 * * *');
  const zones = fc.constantFrom('Europe/Berlin', 'America/New_York', 'UTC');
  const days = fc.constantFrom('2026-03-28', '2026-10-24', '2026-03-07', '2026-10-31');
  const steps = fc.array(fc.integer({ min: 1, max: 600 }), { minLength: 1, maxLength: 15 });
  fc.assert(
    fc.property(
      texts,
      zones,
      days,
      steps,
      fc.constantFrom<CatchUp>('none', 'last', 'all'),
      (text, zone, day, waits, catchUp) => {
        const cron = new Cron(text, zone);
        const from = new Date(`${day}T12:00Z`);
        let now = from.getTime();
        let nextTick = cron.next(from);
        const fired: number[] = [];
        for (const wait of waits) {
          now += wait * 60_000;
          const { fire, next } = dueTicks({ cron, catchUp, nextTick }, new Date(now));
          expect(next > new Date(now) || fire.length === mostTicks).toBe(true);
          if (catchUp !== 'all') expect(fire.length).toBeLessThanOrEqual(1);
          for (const tick of fire)
            if (catchUp === 'none') expect(now - tick.getTime()).toBeLessThan(lateMs);
          fired.push(...fire.map(Number));
          nextTick = next;
        }
        const ticks: number[] = [];
        for (const tick of cron.ticks(from)) {
          if (tick.getTime() > now) break;
          ticks.push(tick.getTime());
        }
        if (catchUp === 'all') expect(fired).toEqual(ticks);
        else expect(fired).toEqual(ticks.filter((tick) => fired.includes(tick)));
      },
    ),
    { numRuns: 150 },
  );
});
