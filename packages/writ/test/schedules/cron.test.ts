/**
 * When a schedule is due, without a database. The rules of the days on which clocks are moved are
 * checked by example, and against a second implementation that walks minute by minute and asks the
 * platform what the clock on the wall shows.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { WritRefusal } from '../../src/errors/index.js';
import { Cron } from '../../src/schedules/cron.js';

const minute = 60_000;

/** The ticks in (from, to]. */
function between(text: string, zone: string, from: string | number, to: string | number): string[] {
  const ticks: string[] = [];
  for (const tick of new Cron(text, zone).ticks(new Date(from))) {
    if (tick > new Date(to)) break;
    ticks.push(tick.toISOString().slice(0, 16));
  }
  return ticks;
}

function codeOf(text: string, zone = 'UTC'): string {
  try {
    new Cron(text, zone);
    return 'taken';
  } catch (error) {
    return (error as WritRefusal).code;
  }
}

describe('a local time that does not exist fires once, at the next valid minute', () => {
  test.each([
    ['Europe/Berlin', '30 2 * * *', '2026-03-28T12:00Z', '2026-03-29T12:00Z', ['2026-03-29T01:00']],
    [
      'America/New_York',
      '30 2 * * *',
      '2026-03-08T00:00Z',
      '2026-03-08T23:00Z',
      ['2026-03-08T07:00'],
    ],
    [
      'Europe/Berlin',
      '*/20 2 * * *',
      '2026-03-28T12:00Z',
      '2026-03-29T12:00Z',
      ['2026-03-29T01:00'],
    ],
    [
      'Europe/Berlin',
      '0,30 2-3 * * *',
      '2026-03-28T12:00Z',
      '2026-03-29T12:00Z',
      ['2026-03-29T01:00', '2026-03-29T01:30'],
    ],
    // Clocks that are moved at midnight, and a day that an island left out.
    ['Africa/Cairo', '0 0 * * *', '2026-04-23T12:00Z', '2026-04-24T12:00Z', ['2026-04-23T22:00']],
    [
      'Pacific/Apia',
      '0 9 * * *',
      '2011-12-29T20:00Z',
      '2011-12-30T20:00Z',
      ['2011-12-30T10:00', '2011-12-30T19:00'],
    ],
  ])('%s %s', (zone, text, from, to, expected) => {
    expect(between(text, zone, from, to)).toEqual(expected);
  });
});

describe('a local time that exists twice fires once, the first time', () => {
  test.each([
    ['Europe/Berlin', '30 2 * * *', '2026-10-24T12:00Z', '2026-10-25T12:00Z', ['2026-10-25T00:30']],
    [
      'America/New_York',
      '30 1 * * *',
      '2026-11-01T00:00Z',
      '2026-11-01T23:00Z',
      ['2026-11-01T05:30'],
    ],
    [
      'Europe/Berlin',
      '*/30 2,3 * * *',
      '2026-10-24T12:00Z',
      '2026-10-25T12:00Z',
      ['00:00', '00:30', '02:00', '02:30'].map((t) => `2026-10-25T${t}`),
    ],
  ])('%s %s', (zone, text, from, to, expected) => {
    expect(between(text, zone, from, to)).toEqual(expected);
  });

  test('also when it is asked for from within the repeated hour', () => {
    expect(
      between('30 2 * * *', 'Europe/Berlin', '2026-10-25T00:30Z', '2026-10-25T12:00Z'),
    ).toEqual([]);
    expect(
      between('30 2 * * *', 'Europe/Berlin', '2026-10-25T01:10Z', '2026-10-25T12:00Z'),
    ).toEqual([]);
    expect(between('0 3 * * *', 'Europe/Berlin', '2026-10-25T01:10Z', '2026-10-25T12:00Z')).toEqual(
      ['2026-10-25T02:00'],
    );
  });
});

test('a schedule of every hour follows time as it passes', () => {
  const hours = (day: string, times: string) => times.split(' ').map((time) => `${day}T${time}`);
  expect(
    between('*/30 * * * *', 'Europe/Berlin', '2026-03-29T00:15Z', '2026-03-29T02:15Z'),
  ).toEqual(hours('2026-03-29', '00:30 01:00 01:30 02:00'));
  expect(
    between('*/30 * * * *', 'Europe/Berlin', '2026-10-25T00:15Z', '2026-10-25T02:15Z'),
  ).toEqual(hours('2026-10-25', '00:30 01:00 01:30 02:00'));
  expect(between('@hourly', 'Europe/Berlin', '2026-10-25T00:15Z', '2026-10-25T02:15Z')).toEqual(
    hours('2026-10-25', '01:00 02:00'),
  );
});

test('a day of the month and a day of the week are alternatives, as in cron', () => {
  expect(between('0 0 1 * MON', 'UTC', '2026-05-31T12:00Z', '2026-06-09T00:00Z')).toEqual([
    '2026-06-01T00:00',
    '2026-06-08T00:00',
  ]);
  expect(between('0 0 2 JAN,jun fri', 'UTC', '2026-05-31T12:00Z', '2026-06-09T00:00Z')).toEqual([
    '2026-06-02T00:00',
    '2026-06-05T00:00',
  ]);
});

test('the leap day comes after years', () => {
  expect(
    new Cron('0 0 29 2 *', 'America/New_York').next(new Date('2096-03-01T00:00Z')).toISOString(),
  ).toBe('2104-02-29T05:00:00.000Z');
});

test.each([
  '@yearly',
  '@annually',
  '@monthly',
  '@weekly',
  '@daily',
  '@midnight',
  '@hourly',
  '@Daily',
  ' 0  0\t* * * ',
  '0 0 * * 7',
  '1-5/2,30 0-23/2 1,15 JAN-MAR MON-FRI',
])('%s is taken', (text) => {
  expect(codeOf(text)).toBe('taken');
});

test.each([
  ['', 'invalid_cron'],
  ['@reboot', 'invalid_cron'],
  ['* * * *', 'invalid_cron'],
  ['* * * * * * *', 'invalid_cron'],
  ['0 0 * * * *', 'cron_seconds_unsupported'],
  ['60 * * * *', 'invalid_cron'],
  ['* 24 * * *', 'invalid_cron'],
  ['* * 0 * *', 'invalid_cron'],
  ['* * 32 * *', 'invalid_cron'],
  ['* * * 13 *', 'invalid_cron'],
  ['* * * * 8', 'invalid_cron'],
  ['*/0 * * * *', 'invalid_cron'],
  ['30-10 * * * *', 'invalid_cron'],
  ['1,,2 * * * *', 'invalid_cron'],
  ['-1 * * * *', 'invalid_cron'],
  ['MON * * * *', 'invalid_cron'],
  ['* * * * FOO', 'invalid_cron'],
  ['0 0 L * *', 'invalid_cron'],
  ['0 0 15W * *', 'invalid_cron'],
  ['0 0 * * MON#2', 'invalid_cron'],
  ['0 0 ? * *', 'invalid_cron'],
  ['0 0 30 2 *', 'invalid_cron'],
  ['0 0 31 4,6,9,11 *', 'invalid_cron'],
  ['2026-11-20T10:00:00', 'invalid_cron'],
])('"%s" is refused: %s', (text, code) => {
  expect(codeOf(text)).toBe(code);
});

test.each(['', 'Mars/Olympus', 'Berlin', '+01:00', 'Europe/Berlin; drop', 'utc+1'])(
  'the zone "%s" is refused',
  (zone) => {
    expect(codeOf('* * * * *', zone)).toBe('invalid_time_zone');
  },
);

test('a refusal says which part is wrong', () => {
  expect(() => new Cron('0 0 * * MON#2', 'UTC')).toThrow(/MON#2/);
  expect(() => new Cron('75 * * * *', 'UTC')).toThrow(/minute.*75/);
  expect(() => new Cron('0 0 30 2 *', 'UTC')).toThrow(/no month has/);
});

describe('against a walk through every minute', () => {
  /**
   * What the clock on the wall shows, as minutes since 1970 of a clock in UTC that shows the same.
   */
  const wallClock = (zone: string) => {
    const format = new Intl.DateTimeFormat('sv-SE', {
      timeZone: zone,
      dateStyle: 'short',
      timeStyle: 'short',
    });
    return (at: number) => Date.parse(`${format.format(at).replace(' ', 'T')}Z`) / minute;
  };
  interface Named {
    readonly minutes: readonly number[];
    /** Undefined: every hour. */
    readonly hours: readonly number[] | undefined;
    /** Undefined: every day. */
    readonly weekdays: readonly number[] | undefined;
  }
  const names = ({ minutes, hours, weekdays }: Named, wall: number) => {
    const date = new Date(wall * minute);
    return (
      minutes.includes(date.getUTCMinutes()) &&
      (hours?.includes(date.getUTCHours()) ?? true) &&
      (weekdays?.includes(date.getUTCDay()) ?? true)
    );
  };

  /** The ticks in (from, to] by the letter of the promise. */
  function walk(named: Named, zone: string, from: number, to: number): string[] {
    const wallAt = wallClock(zone);
    const begin = from - 26 * 60 * minute;
    const shown = new Set<number>();
    const ticks: string[] = [];
    for (let at = begin; at <= to; at += minute) {
      const wall = wallAt(at);
      const before = wallAt(at - minute);
      let due = names(named, wall) && (named.hours === undefined || !shown.has(wall));
      if (named.hours !== undefined)
        for (let skipped = before + 1; skipped < wall; skipped++)
          due ||= names(named, skipped) && !shown.has(skipped);
      shown.add(wall);
      if (due && at > from) ticks.push(new Date(at).toISOString().slice(0, 16));
    }
    return ticks;
  }

  const some = (max: number) =>
    fc.uniqueArray(fc.integer({ min: 0, max }), { minLength: 1, maxLength: 4 });
  const expressions = fc.record({
    minutes: some(59),
    hours: fc.option(some(23), { nil: undefined, freq: 2 }),
    weekdays: fc.option(some(6), { nil: undefined, freq: 2 }),
  });
  /** Minutes near which clocks are moved, and any others. */
  const moments = [
    ['Europe/Berlin', '2026-03-29T01:00Z'],
    ['Europe/Berlin', '2026-10-25T01:00Z'],
    ['America/New_York', '2026-03-08T07:00Z'],
    ['America/New_York', '2026-11-01T06:00Z'],
    ['Australia/Lord_Howe', '2026-04-04T15:00Z'],
    ['Australia/Lord_Howe', '2026-10-03T15:30Z'],
    ['Africa/Cairo', '2026-04-23T22:00Z'],
    ['Africa/Cairo', '2026-10-29T21:00Z'],
    ['Asia/Kathmandu', '2026-06-01T00:00Z'],
    ['UTC', '2026-12-31T23:00Z'],
  ] as const;

  test('the ticks are the same, from wherever one begins', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...moments),
        expressions,
        fc.integer({ min: -180, max: 180 }),
        ([zone, moment], named, shift) => {
          const { minutes, hours, weekdays } = named;
          const text = `${minutes} ${hours ?? '*'} * * ${weekdays ?? '*'}`;
          const from = Date.parse(moment) + shift * minute;
          const to = Date.parse(moment) + 8 * 60 * minute;
          expect(between(text, zone, from, to)).toEqual(walk(named, zone, from, to));
        },
      ),
      { numRuns: 150 },
    );
  });
});
