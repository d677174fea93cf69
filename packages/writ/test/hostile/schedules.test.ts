/**
 * One schedule stops no other, and a login of one tenant learns nothing of the others' schedules.
 */
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Scheduler } from '../../src/schedules/scheduler.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { type Login, login } from './logins.js';

let db: TestDatabase;
let producer: Login;
let engine: Login;

beforeEach(async () => {
  db = await testDatabase();
  await db.query(`select writ.fn_job_kind_register('chore', '{}', 'test')`);
  producer = await login(db, ['writ_producer']);
  engine = await login(db, ['writ_engine']);
});
afterEach(async () => {
  for (const one of [producer, engine]) await one.end();
  await db.drop();
});

const minute = 60_000;
/** A whole minute, this many minutes before the database's clock. */
const ago = async (minutes: number) => {
  const [row] = await db.query('select extract(epoch from writ.now()) * 1000 as now');
  return new Date(Math.floor(Number(row?.now) / minute) * minute - minutes * minute).toISOString();
};
const put = async (
  schedule: string,
  more: object = {},
  next_tick: unknown = undefined,
  as = producer,
) =>
  as.call('fn_schedule_put', {
    schedule,
    definition: JSON.stringify({ cron: '* * * * *', kind: 'chore', job: {}, ...more }),
    next_tick: next_tick ?? (await ago(0)),
    actor: 'p',
  });
async function look(): Promise<unknown> {
  const client = new pg.Client({ connectionString: engine.connectionString });
  await client.connect();
  try {
    return await new Scheduler(client as never, 'engine').look();
  } catch (error) {
    return error;
  } finally {
    await client.end();
  }
}
const fired = async () =>
  Object.fromEntries(
    (
      await db.query('select schedule, count(*)::integer as n from writ.schedule_tick group by 1')
    ).map((row) => [row.schedule, row.n]),
  );

describe('a producer', () => {
  test.each(['4713-01-01 BC', '1999-12-31', '200000-01-01', 'infinity', '-infinity'])(
    'cannot define a schedule whose next tick is %s',
    async (next_tick) => {
      expect(await put('bad', {}, next_tick)).toMatchObject({
        refused: true,
        reason: 'invalid_ticks',
      });
    },
  );

  test('cannot define a schedule whose job is too large', async () => {
    expect(await put('bad', { job: { junk: 'x'.repeat(2_000_000) } })).toMatchObject({
      reason: 'payload_too_large',
    });
    expect(await put('bad', { job: { limit_key: 'x'.repeat(2_000_000) } })).toMatchObject({
      reason: 'payload_too_large',
    });
  });

  test('with a megabyte of input and 300 missed ticks delays no other schedule, and gets its ticks in several calls', async () => {
    await put('large', { catch_up: 'all', job: { input: 'x'.repeat(1_000_000) } }, await ago(299));
    await put('small');
    expect(await look()).not.toBeInstanceOf(Error);
    const first = await fired();
    expect(first).toMatchObject({ small: 1, large: expect.any(Number) });
    expect(await look()).not.toBeInstanceOf(Error);
    expect((await fired()).large).toBeGreaterThan(Number(first.large));
    const [row] = await db.query(
      `select next_tick > last_tick as waits from writ.schedule where schedule = 'large'`,
    );
    expect(row).toEqual({ waits: true });
  }, 120_000);
});

describe('the scheduler', () => {
  test('fires every other schedule when one has a time that JavaScript cannot read', async () => {
    await put('good');
    await put('bad', {}, await ago(5));
    await db.query(
      `update writ_data.schedule set next_tick = '4713-01-01 00:00Z BC' where schedule = 'bad'`,
    );
    const error = await look();
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).toContain('schedule bad of tenant default');
    expect(await fired()).toEqual({ good: 1 });
  });

  test('sets a schedule that raises aside for an hour, with an alert, and fires the others', async () => {
    await put('good');
    await put('bad');
    await db.query(`create function writ_data.poisoned() returns trigger language plpgsql as $$
        begin raise exception 'This row is damaged.'; end $$;
      create trigger poisoned before insert on writ_data.schedule_tick
        for each row when (new.schedule = 'bad') execute function writ_data.poisoned()`);
    expect(await look()).toMatchObject({ code: 'schedule_set_aside' });
    expect(await fired()).toEqual({ good: 1 });
    expect(await db.query('select code, tenant_id, subject from writ.alert')).toEqual([
      { code: 'CLOCKWORK_SET_ASIDE', tenant_id: 'default', subject: 'schedule/default/bad' },
    ]);
    expect(await look()).not.toBeInstanceOf(Error);

    await db.query('drop trigger poisoned on writ_data.schedule_tick');
    await db.clock.advance('61m');
    await look();
    expect((await fired()).bad).toBeGreaterThan(0);
  });
});

describe('an engine', () => {
  const firing = (change: object) => ({
    tenant: 'default',
    schedule: 'bad',
    version: 1,
    ...change,
  });

  test('fires the good item of a call whose other items are bad', async () => {
    const tick = await ago(0);
    await put('good');
    await put('bad');
    const next = await ago(-1);
    const good = firing({ schedule: 'good', next_tick: tick, ticks: [tick], move_to: next });
    const bad = [
      7,
      null,
      {},
      firing({ next_tick: 'soon', ticks: [tick], move_to: next }),
      firing({ next_tick: tick, ticks: [tick], move_to: 'infinity' }),
      firing({ next_tick: tick, ticks: [tick], move_to: '200000-01-01' }),
      firing({ next_tick: tick, ticks: 'all', move_to: next }),
      firing({ next_tick: tick, ticks: Array(1001).fill(tick), move_to: next }),
      firing({ next_tick: tick, ticks: [tick], move_to: next, version: 1e300 }),
    ];
    const answer = await engine.call('fn_schedule_fire', {
      due: JSON.stringify([...bad, good]),
      actor: 'e',
    });
    expect(answer).toMatchObject({ fired: 1, moved: 1 });
    expect(answer.refused).toHaveLength(bad.length);
    expect(await fired()).toEqual({ good: 1 });
  });

  test('gets a bounded number of schedules for any limit', async () => {
    await put('good');
    for (const limit of [-1, 0, null, 2_147_483_647])
      expect(await engine.call('fn_schedule_due', { limit })).toMatchObject({
        due: [{ schedule: 'good' }],
      });
    expect(
      await engine.call('fn_schedule_fire', {
        due: JSON.stringify(Array(1001).fill({})),
        actor: 'e',
      }),
    ).toMatchObject({
      reason: 'batch_too_large',
    });
  });
});

describe('an engine of one tenant', () => {
  const standing = () =>
    db.query(`select aside_until::text, next_tick::text as next_tick, version
      from writ_data.schedule where schedule = 'theirs'`);
  /** What a driver would hand in for the schedule of another tenant. */
  const theirs = async () => {
    await put('theirs');
    const tick = await ago(0);
    return {
      due: JSON.stringify([
        {
          tenant: 'default',
          schedule: 'theirs',
          version: 1,
          next_tick: tick,
          ticks: [],
          move_to: await ago(-1),
        },
      ]),
      actor: 'mallory',
    };
  };

  test('sets no schedule of another tenant aside by naming a wrong tenant in writ.tenant', async () => {
    const call = await theirs();
    const before = await standing();
    const bound = await login(db, ['writ_engine'], { tenant_id: 'mallory' });
    try {
      await bound.query(`select set_config('writ.tenant', 'x', false)`);
      await expect(bound.call('fn_schedule_fire', call)).rejects.toMatchObject({ code: '42501' });
      expect(await standing()).toEqual(before);
      expect(await db.query('select code from writ.alert')).toEqual([]);
      expect(await engine.call('fn_schedule_fire', call)).toMatchObject({ moved: 1 });
    } finally {
      await bound.end();
    }
  });

  test('neither fires, moves nor sets aside the schedule of another tenant that it names', async () => {
    const call = await theirs();
    // It would raise, and an engine of all tenants would set it aside.
    await db.query(`create function writ_data.poisoned() returns trigger language plpgsql as $$
        begin raise exception 'This row is damaged.'; end $$;
      create trigger poisoned before update of next_tick on writ_data.schedule
        for each row execute function writ_data.poisoned()`);
    const before = await standing();
    const bound = await login(db, ['writ_engine'], { tenant_id: 'mallory' });
    try {
      expect(await bound.call('fn_schedule_fire', call)).toEqual({
        fired: 0,
        moved: 0,
        refused: [],
      });
      expect(await standing()).toEqual(before);
    } finally {
      await bound.end();
    }
  });
});

test('no answer tells a login of one tenant when another tenant’s schedule is due', async () => {
  await put('theirs', {}, await ago(-5));
  const bound = await login(db, ['writ_engine'], { tenant_id: 'acme' });
  try {
    expect(await bound.call('fn_schedule_due', { limit: 10 })).toMatchObject({
      due: [],
      next_due: null,
    });
  } finally {
    await bound.end();
  }
});
