/** What the time suite takes for right, and that its checks of schedules see what is wrong. */
import { afterEach, expect, test } from 'vitest';
import { defineJob } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { DatabaseClock, day, nextChange, nextMonth } from './suites/time/clock.mjs';
import { tickChecks } from './suites/time/scenes.mjs';

const tick = defineJob<{ schedule: string }>('time.tick');
let db: TestDatabase | undefined;
afterEach(async () => {
  await db?.drop();
  db = undefined;
});
const at = (text: string) => Date.parse(text);

test('the next change of the clocks of Berlin is the last Sunday of March or October', () => {
  expect(nextChange(at('2026-11-18T12:34:56Z'))).toBe(at('2027-03-28T01:00:00Z'));
  expect(nextChange(at('2027-03-28T01:00:01Z'))).toBe(at('2027-10-31T01:00:00Z'));
});

test('the next month begins at midnight of UTC, also in December', () => {
  expect(nextMonth(at('2026-12-31T23:59:59Z'))).toBe(at('2027-01-01T00:00:00Z'));
});

test('what a clock jumped over counts forward jumps within the time only', async () => {
  const clock = new DatabaseClock([]);
  const from = Date.now();
  await clock.jump(40 * day);
  await clock.jump(-40 * day);
  await clock.jump(1);
  expect(clock.forward(from, Date.now())).toBe(40 * day + 1);
  expect(clock.forward(from - 10 * day, from - 9 * day)).toBe(0);
  expect(clock.mostMs).toBe(40 * day);
});

test('the checks of schedules see each wrong tick, and none where all is well', async () => {
  db = await testDatabase();
  const { query } = db;
  const writ = await db.connect();
  for (const schedule of ['wall', 'month', 'minute'])
    await writ.schedules.put(schedule, tick, {
      cron: '30 2 * * *',
      timeZone: 'Europe/Berlin',
      input: { schedule },
    });
  await query('create schema fault');
  await query('create table fault.tick (schedule text not null, job_id uuid not null)');
  const fired = async (schedule: string, time: string, late = '1 second', done = 1) => {
    await query(
      `with t as (
         insert into writ_data.schedule_tick (tenant_id, schedule, tick, job_id, fired_at, fired_by)
         values ('default', $1, $2, gen_random_uuid(), $2::timestamptz + $3::interval, 'test')
         returning job_id)
       insert into fault.tick select $1, t.job_id from t, generate_series(1, $4)`,
      [schedule, time, late, done],
    );
  };
  const found = async () => {
    const all = [];
    for (const [, what, sql] of tickChecks) if ((await query(sql)).length > 0) all.push(what);
    return all;
  };
  await fired('wall', '2027-03-27T01:30:00Z');
  await fired('wall', '2027-03-28T01:00:00Z'); // three o'clock: half past two is not there
  await fired('wall', '2027-03-29T00:30:00Z');
  await fired('month', '2027-03-01T00:00:00Z');
  await fired('month', '2027-04-01T00:00:00Z');
  expect(await found()).toEqual([]);

  await fired('wall', '2027-03-29T00:31:00Z'); // twice on a day, and not at half past two
  // nothing on the day before, and too early
  await fired('wall', '2027-03-31T00:30:00Z', '-1 second');
  await fired('minute', '2027-03-31T00:30:00Z', '1 second', 0);
  await fired('minute', '2027-03-31T00:31:00Z', '1 second', 2);
  expect(await found()).toEqual(tickChecks.map(([, what]) => what));
});
