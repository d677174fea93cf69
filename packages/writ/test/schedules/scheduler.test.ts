/**
 * The scheduler on a real database whose clock is moved: years, races, days off, and definitions
 * that change under it.
 */
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type CatchUp, defineJob, type Writ, WritRefusal } from '../../src/index.js';
import { Scheduler } from '../../src/schedules/scheduler.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { type Session, session, untilBlocked } from '../races/sessions.js';

const report = defineJob<{ n: number }>('report');
const minute = 60_000;
let db: TestDatabase;
let writ: Writ;
let pool: pg.Pool;
let a: Scheduler;
let b: Scheduler;

beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
  pool = new pg.Pool({ connectionString: db.connectionString, max: 4 });
  a = new Scheduler(pool, 'a');
  b = new Scheduler(pool, 'b');
});
afterEach(async () => {
  await pool.end();
  await db.drop();
});

const now = async () => new Date((await db.query('select writ.now() as now'))[0]?.now as Date);
const goTo = async (at: Date | string) =>
  db.clock.advance(Math.max(0, new Date(at).getTime() - (await now()).getTime()));
const ticks = async (schedule: string) =>
  (
    await db.query('select tick from writ.schedule_tick where schedule = $1 order by tick', [
      schedule,
    ])
  ).map(({ tick }) => (tick as Date).toISOString());
const jobs = async () =>
  Number((await db.query('select count(*)::int as n from writ.job_queue'))[0]?.n);
/** A year that is not over, so that the clock is only ever moved forward. */
const year = new Date().getUTCFullYear() + 1;

/**
 * The ticks of a year by the letter of the promise, from the server's own knowledge of zones: every
 * minute of the year with what the clock shows, the first of each wall time where the schedule
 * follows the wall clock, and for wall times that never were the first minute after them.
 */
async function expected(
  zone: string,
  names: string,
  followsWallClock: boolean,
  from: Date,
  to: Date,
): Promise<string[]> {
  const rows = await db.query(
    `with shown as materialized (
       select t, t at time zone $1 as wall from generate_series(date_trunc('minute', $2::timestamptz) - interval '2 days', $3::timestamptz, '1 minute') t
     ), first as (
       select min(t) as t, wall from shown group by wall
     ), skipped as (
       select t, missing as wall from (select t, wall, lag(wall) over (order by t) as before from shown) moved
       cross join lateral generate_series(before + interval '1 minute', wall - interval '1 minute', '1 minute') missing where wall > before + interval '1 minute'
     ), named as (
       select t, wall from shown where not $4 union all select t, wall from first where $4 union all select t, wall from skipped where $4
     )
     select distinct t from named where ${names} and t > $2 and t <= $3 order by t`,
    [zone, from, to, followsWallClock],
  );
  return rows.map(({ t }) => (t as Date).toISOString());
}

test('over a year with both changes of the clocks, two schedulers that race fire each tick exactly once', {
  timeout: 240_000,
}, async () => {
  const hour = 'extract(hour from wall)';
  const minutes = 'extract(minute from wall)';
  const plans = [
    {
      name: 'berlin-night',
      zone: 'Europe/Berlin',
      cron: '30 2 * * *',
      catchUp: 'last',
      wall: true,
      names: `${hour} = 2 and ${minutes} = 30`,
    },
    {
      name: 'berlin-range',
      zone: 'Europe/Berlin',
      cron: '*/20 1-3 * * *',
      catchUp: 'all',
      wall: true,
      names: `${hour} in (1, 2, 3) and ${minutes} in (0, 20, 40)`,
    },
    {
      name: 'york-night',
      zone: 'America/New_York',
      cron: '15 1 * * *',
      catchUp: 'last',
      wall: true,
      names: `${hour} = 1 and ${minutes} = 15`,
    },
    {
      name: 'york-gap',
      zone: 'America/New_York',
      cron: '5,35 2 * * *',
      catchUp: 'all',
      wall: true,
      names: `${hour} = 2 and ${minutes} in (5, 35)`,
    },
    {
      name: 'york-hourly',
      zone: 'America/New_York',
      cron: '0 * * * SUN',
      catchUp: 'all',
      wall: false,
      names: `${minutes} = 0 and extract(dow from wall) = 0`,
    },
  ] as const;
  await db.query(
    `select writ.fn_setting_set('queue.retention.finished_sec', '1000000000', 'test')`,
  );
  await goTo(`${year}-01-01T00:00:30Z`);
  const from = await now();
  for (const { name, zone, cron, catchUp } of plans)
    await writ.schedules.put(name, report, { cron, timeZone: zone, catchUp, input: { n: 1 } });
  // Half an hour at a time on the days on which clocks are moved somewhere, eleven hours on others,
  // never on the minute.
  const changes = (
    await db.query(
      `select distinct d::date::text as day from unnest($1::text[]) z, generate_series($2::timestamptz, $2::timestamptz + interval '1 year', '1 day') d
     where (d at time zone z) - (d at time zone 'UTC') <> ((d + interval '1 day') at time zone z) - ((d + interval '1 day') at time zone 'UTC')`,
      [['Europe/Berlin', 'America/New_York'], `${year}-01-01T00:00:00Z`],
    )
  ).map(({ day }) => String(day));
  expect(changes).toHaveLength(4);
  const end = Date.parse(`${year + 1}-01-01T00:00:30Z`);
  for (let at = from.getTime(), turn = 0; at < end; turn++) {
    const slow = changes.some(
      (day) => Math.abs(Date.parse(`${day}T12:00Z`) - at) < 14 * 60 * minute,
    );
    at += (slow ? 31 : 11 * 60 + 7) * minute;
    await db.clock.advance(slow ? '31m' : (11 * 60 + 7) * minute);
    if (turn % 3 === 0) await Promise.all([a.look(), b.look()]);
    else if (turn % 3 === 1) await Promise.all([a.look(), b.look(), a.look(), b.look()]);
    else await (turn % 2 ? a : b).look();
  }
  await a.look(); // whoever was left alone in a race is seen by the next look
  const to = await now();
  for (const { name, zone, wall, names } of plans) {
    const list = await expected(zone, names, wall, from, to);
    expect(list.length).toBeGreaterThan(360);
    expect([name, await ticks(name)]).toEqual([name, list]);
    const fired = await db.query(
      `select safe_payload ->> 'tick' as tick from writ.job_queue where safe_payload ->> 'schedule' = $1 order by 1`,
      [name],
    );
    expect([name, fired.map(({ tick }) => new Date(String(tick)).toISOString())]).toEqual([
      name,
      list,
    ]);
  }
  const firers = await db.query('select distinct fired_by from writ.schedule_tick order by 1');
  expect(firers).toEqual([{ fired_by: 'a' }, { fired_by: 'b' }]);
});

test('a schedule is left alone by a scheduler that comes while another one fires it', async () => {
  await writ.schedules.put('often', report, { cron: '* * * * *', input: { n: 1 } });
  await db.clock.advance('90s');
  const first: Session = await session(db);
  const due = (await first.gate('fn_schedule_due(10)')).due as Record<string, unknown>[];
  const tick = due[0]?.next_tick;
  const then = new Date(Date.parse(String(tick)) + 10 * minute);
  await first.query('begin');
  expect(
    await first.gate('fn_schedule_fire($1, $2)', [
      JSON.stringify([{ ...due[0], ticks: [tick], move_to: then }]),
      'first',
    ]),
  ).toMatchObject({ fired: 1 });
  await a.look(); // does not wait
  await first.query('commit');
  await first.end();
  await a.look();
  expect(await jobs()).toBe(1);
});

test('many schedulers at once fire many schedules once each', async () => {
  for (let n = 0; n < 30; n++)
    await writ.schedules.put(`s${n}`, report, { cron: '0 * * * *', input: { n } });
  await db.clock.advance('61m');
  await Promise.all(Array.from({ length: 8 }, () => [a.look(), b.look()]).flat());
  await a.look();
  expect(await jobs()).toBe(30);
  expect(
    await db.query(
      'select count(*)::int as n, count(distinct schedule)::int as schedules from writ.schedule_tick',
    ),
  ).toEqual([{ n: 30, schedules: 30 }]);
});

describe('after three days without a scheduler', () => {
  const off = async (catchUp: CatchUp, cron = '0 9 * * *') => {
    await goTo(`${year}-05-01T10:00:00Z`);
    await writ.schedules.put('daily', report, { cron, catchUp, input: { n: 1 } });
    await goTo(`${year}-05-04T12:00:30Z`);
    await a.look();
    return ticks('daily');
  };
  const days = (...all: number[]) => all.map((day) => `${year}-05-0${day}T09:00:00.000Z`);

  test('none: nothing is caught up, and the next tick fires', async () => {
    expect(await off('none')).toEqual([]);
    await goTo(`${year}-05-05T09:00:10Z`);
    await a.look();
    expect(await ticks('daily')).toEqual(days(5));
  });

  test('last: the last tick fires', async () => {
    expect(await off('last')).toEqual(days(4));
  });

  test('all: each tick fires', async () => {
    expect(await off('all')).toEqual(days(2, 3, 4));
  });

  test('all: more than a call takes are fired by looks that follow at once', async () => {
    const total = (3 * 24 + 2) * 60;
    expect(await off('all', '* * * * *')).toHaveLength(1000);
    expect(await a.look()).toBe(0);
    for (let look = 0; look < 3; look++) await a.look();
    expect(await ticks('daily')).toHaveLength(total);
    expect(await a.look()).toBeGreaterThan(0);
    expect(await jobs()).toBe(total);
  });
});

test('a look answers how long it is until the next tick', async () => {
  expect(await a.look()).toBeUndefined();
  await goTo(`${year}-05-01T10:00:30Z`);
  await writ.schedules.put('hourly', report, { cron: '@hourly', input: { n: 1 } });
  const wait = (await a.look()) as number;
  expect(wait).toBeGreaterThan(59 * minute);
  expect(wait).toBeLessThanOrEqual(59.5 * minute);
});

describe('a paused schedule', () => {
  test('does not fire, and its next tick is not waited for', async () => {
    await writ.schedules.put('often', report, { cron: '* * * * *', input: { n: 1 } });
    await writ.schedules.pause('often');
    await db.clock.advance('10m');
    expect(await a.look()).toBeUndefined();
    expect(await jobs()).toBe(0);
  });

  test.each([
    ['none', 0],
    ['last', 1],
    ['all', 5],
  ] as const)('goes on by its rule when it is resumed: %s fires %i', async (catchUp, count) => {
    await goTo(`${year}-05-01T10:00:30Z`);
    await writ.schedules.put('hourly', report, { cron: '@hourly', catchUp, input: { n: 1 } });
    await writ.schedules.pause('hourly');
    await goTo(`${year}-05-01T15:30:00Z`);
    await a.look();
    await writ.schedules.resume('hourly');
    await a.look();
    expect(await jobs()).toBe(count);
    await goTo(`${year}-05-01T16:00:10Z`);
    await a.look();
    expect(await jobs()).toBe(count + 1);
  });
});

describe('a definition that changes while its ticks are being worked out', () => {
  /** A scheduler that stops between the two calls, until it is let go. */
  function halting() {
    let arrived: () => void;
    let go: () => void;
    const there = new Promise<void>((done) => (arrived = done));
    const released = new Promise<void>((done) => (go = done));
    const query = async (sql: string, params?: unknown[]) => {
      if (sql.includes('fn_schedule_fire')) {
        arrived();
        await released;
      }
      return pool.query(sql, params);
    };
    return { scheduler: new Scheduler({ query }, 'slow'), there, go: () => go() };
  }
  beforeEach(async () => {
    await goTo(`${year}-05-01T10:00:30Z`);
    await writ.schedules.put('hourly', report, { cron: '@hourly', input: { n: 1 } });
    await goTo(`${year}-05-01T11:00:01Z`);
  });

  test('another cron: the old tick does not fire any more', async () => {
    const { scheduler, there, go } = halting();
    const looking = scheduler.look();
    await there;
    await writ.schedules.put('hourly', report, { cron: '30 * * * *', input: { n: 1 } });
    go();
    await looking;
    expect(await jobs()).toBe(0);
    await goTo(`${year}-05-01T11:30:01Z`);
    await a.look();
    expect(await ticks('hourly')).toEqual([`${year}-05-01T11:30:00.000Z`]);
  });

  test('another input: the tick fires once, with the new one', async () => {
    const { scheduler, there, go } = halting();
    const looking = scheduler.look();
    await there;
    await writ.schedules.put('hourly', report, { cron: '@hourly', input: { n: 2 } });
    go();
    await looking;
    expect(await jobs()).toBe(0);
    await a.look();
    expect(await ticks('hourly')).toEqual([`${year}-05-01T11:00:00.000Z`]);
    expect(
      await db.query(`select writ.fn_job_payload(job_id) -> 'input' as input from writ.job_queue`),
    ).toEqual([{ input: { n: 2 } }]);
  });

  test('paused or removed: the tick does not fire', async () => {
    for (const verb of ['pause', 'remove'] as const) {
      const { scheduler, there, go } = halting();
      const looking = scheduler.look();
      await there;
      await writ.schedules[verb]('hourly');
      go();
      await looking;
      expect(await jobs()).toBe(0);
      if (verb === 'pause') await writ.schedules.resume('hourly');
    }
  });

  test('fired by another: nothing is left to fire', async () => {
    const { scheduler, there, go } = halting();
    const looking = scheduler.look();
    await there;
    await a.look();
    go();
    await looking;
    expect(await ticks('hourly')).toHaveLength(1);
    expect(await jobs()).toBe(1);
  });

  test('a put that comes while a tick fires waits for it, and does not fire it again', async () => {
    const [first, second] = await Promise.all([session(db), session(db)]);
    const due = (await first.gate('fn_schedule_due(10)')).due as Record<string, unknown>[];
    await first.query('begin');
    const firing = { ...due[0], ticks: [due[0]?.next_tick], move_to: `${year}-05-01T12:00:00Z` };
    await first.gate('fn_schedule_fire($1, $2)', [JSON.stringify([firing]), 'first']);
    const definition = JSON.stringify({
      cron: '@hourly',
      kind: 'report',
      job: { input: { n: 3 } },
    });
    const putting = second.gate('fn_schedule_put($1, $2, $3, $4)', [
      'hourly',
      definition,
      `${year}-05-01T12:00:00Z`,
      'ada',
    ]);
    await untilBlocked(db, second);
    await first.query('commit');
    expect(await putting).toMatchObject({ changed: true });
    await a.look();
    expect(await jobs()).toBe(1);
    await Promise.all([first.end(), second.end()]);
  });
});

describe('a schedule that cannot fire', () => {
  beforeEach(async () => {
    await goTo(`${year}-05-01T10:00:30Z`);
    await writ.schedules.put('large', defineJob<string>('text'), {
      cron: '@hourly',
      input: 'x'.repeat(100),
    });
    await writ.schedules.put('small', report, { cron: '@hourly', input: { n: 1 } });
    await goTo(`${year}-05-01T11:00:01Z`);
  });

  test('is named, keeps no other from firing, and fires when it is mended', async () => {
    await db.query(
      `update writ_data.dot_config set value = '50' where key = 'queue.payload.max_bytes'`,
    );
    const error = await a.look().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(WritRefusal);
    expect(error).toMatchObject({
      code: 'payload_too_large',
      message: expect.stringContaining('schedule large of tenant default'),
    });
    expect([await ticks('small'), await ticks('large')]).toEqual([
      [`${year}-05-01T11:00:00.000Z`],
      [],
    ]);
    await db.query(
      `update writ_data.dot_config set value = '1000' where key = 'queue.payload.max_bytes'`,
    );
    await a.look();
    expect(await ticks('large')).toEqual([`${year}-05-01T11:00:00.000Z`]);
  });

  test('because it was written past this library and cannot be read is named too', async () => {
    await db.query(`update writ_data.schedule set cron = '0 0 L * *' where schedule = 'large'`);
    await expect(a.look()).rejects.toThrow(/schedule large of tenant default/);
    expect(await ticks('small')).toHaveLength(1);
  });

  test('with more of them than fit on a page, the others fire all the same', async () => {
    await db.query(
      `insert into writ_data.schedule select tenant_id, 'bad' || n, '0 0 L * *', time_zone, catch_up, job_kind, job, 1, next_tick - interval '1 hour', null, null, created_at, created_by, updated_at, updated_by
       from writ_data.schedule, generate_series(1, 450) n where schedule = 'large'`,
    );
    await expect(a.look()).rejects.toThrow(/bad450/);
    expect([await ticks('small'), await ticks('large')].map((list) => list.length)).toEqual([1, 1]);
  });

  test('while the queue is off waits, and catches up when it is on', async () => {
    await db.query(
      `update writ_data.dot_config set value = 'false' where key = 'queue.job_substrate.enabled'`,
    );
    await expect(a.look()).rejects.toMatchObject({ code: 'job_substrate_disabled' });
    await db.query(
      `update writ_data.dot_config set value = 'true' where key = 'queue.job_substrate.enabled'`,
    );
    await a.look();
    expect(await jobs()).toBe(2);
  });
});
