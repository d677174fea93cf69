/** Schedules as a program uses them, with a worker that fires them and runs their jobs. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { defineJob, type Writ, WritRefusal } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { until } from '../races/sessions.js';

const report = defineJob('report', { input: z.object({ team: z.string() }) });
const bare = defineJob('bare');
let db: TestDatabase;
let writ: Writ;

beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect({ actor: 'ada' });
});
afterEach(() => db.drop());

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'taken',
    (error: unknown) => (error instanceof WritRefusal ? error.code : error),
  );

test('a worker fires what is due and runs its job, without anything else running', async () => {
  const seen: string[] = [];
  await writ.schedules.put('team-report', report, {
    cron: '* * * * *',
    input: { team: 'billing' },
  });
  const worker = await writ.work([report.handle(async ({ input }) => void seen.push(input.team))], {
    poll: '50ms',
  });
  await db.clock.advance('1m');
  await until(async () => seen.length > 0);
  expect(await db.query('select fired_by from writ.schedule_tick')).toContainEqual({
    fired_by: worker.id,
  });
  expect((await writ.schedules.list()).items[0]?.lastTick).toEqual(expect.any(String));
});

test('a worker whose clock says that a tick is near does not wait for its poll', async () => {
  const seen: unknown[] = [];
  await writ.schedules.put('bare', bare, { cron: '* * * * *' });
  await db.query(
    `create or replace function writ.now() returns timestamptz language sql volatile as
     $$ select pg_catalog.clock_timestamp() + (date_trunc('minute', '${new Date().toISOString()}'::timestamptz) + interval '10 minutes 56 seconds' - '${new Date().toISOString()}'::timestamptz) $$`,
  );
  await writ.schedules.put('bare', bare, { cron: '*/1 * * * *' });
  await writ.work([bare.handle(async () => void seen.push(1))], { poll: '10m' });
  await until(async () => seen.length > 0);
});

test('putting a schedule again changes nothing; putting another definition does', async () => {
  const first = await writ.schedules.put('s', report, {
    cron: '0  9 * * MON',
    timeZone: 'Europe/Berlin',
    input: { team: 'a' },
  });
  expect(first).toEqual({ changed: true, nextTick: expect.any(String) });
  expect(
    await writ.schedules.put('s', report, {
      cron: '0 9 * * MON',
      timeZone: 'Europe/Berlin',
      input: { team: 'a' },
    }),
  ).toEqual({
    ...first,
    changed: false,
  });
  expect(
    await writ.schedules.put('s', report, {
      cron: '0 9 * * MON',
      timeZone: 'Europe/Berlin',
      input: { team: 'b' },
    }),
  ).toEqual(first);
});

test('the list says when each fires next, and whether it is paused and by whom', async () => {
  await writ.schedules.put('b', bare, { cron: '@daily', catchUp: 'all' });
  const { nextTick } = await writ.schedules.put('a', bare, {
    cron: '30 2 * * *',
    timeZone: 'America/New_York',
    tenant: 'acme',
  });
  await writ.schedules.pause('b', { actor: 'bob' });
  expect((await writ.schedules.list()).items).toMatchObject([
    {
      name: 'a',
      tenant: 'acme',
      cron: '30 2 * * *',
      timeZone: 'America/New_York',
      catchUp: 'last',
      kind: 'bare',
      nextTick,
      lastTick: null,
      lastJobId: null,
      pausedAt: null,
      pausedBy: null,
    },
    expect.objectContaining({
      name: 'b',
      tenant: 'default',
      catchUp: 'all',
      pausedAt: expect.any(String),
      pausedBy: 'bob',
    }),
  ]);
  expect((await writ.schedules.list({ tenant: 'acme' })).items.map(({ name }) => name)).toEqual([
    'a',
  ]);
});

test('run now enqueues the job with the options of the schedule', async () => {
  await writ.schedules.put('s', report, {
    cron: '@daily',
    input: { team: 'a' },
    priority: 7,
    attempts: 2,
    labels: { by: 'hand' },
    correlationId: 'c1',
    deadline: '1h',
  });
  const { jobId } = await writ.schedules.runNow('s', { actor: 'bob' });
  const [job] = await db.query(
    `select *, writ.fn_job_payload(job_id) -> 'input' as input, deadline_at - enqueued_at as within from writ.job_queue`,
  );
  expect(job).toMatchObject({
    job_id: jobId,
    priority: 7,
    max_attempts: 2,
    correlation_id: 'c1',
    enqueued_by: 'bob',
    input: { team: 'a' },
    within: { hours: 1 },
  });
  expect(job?.safe_payload).toEqual({ by: 'hand', schedule: 's' });
});

test('pause and resume answer whether something changed; what is removed is gone', async () => {
  await writ.schedules.put('s', bare, { cron: '@daily' });
  expect([await writ.schedules.pause('s'), await writ.schedules.pause('s')]).toEqual([
    { changed: true },
    { changed: false },
  ]);
  expect([await writ.schedules.resume('s'), await writ.schedules.resume('s')]).toEqual([
    { changed: true },
    { changed: false },
  ]);
  await writ.schedules.remove('s');
  expect((await writ.schedules.list()).items).toEqual([]);
  for (const verb of ['pause', 'resume', 'runNow', 'remove'] as const)
    expect(await codeOf(writ.schedules[verb]('s'))).toBe('schedule_not_found');
});

test.each([
  ['invalid_cron', { cron: '61 * * * *' }],
  ['invalid_cron', { cron: '0 0 30 2 *' }],
  ['cron_seconds_unsupported', { cron: '0 * * * * *' }],
  ['invalid_time_zone', { timeZone: 'Europe/Atlantis' }],
  ['invalid_catch_up', { catchUp: 'some' as never }],
  ['invalid_tenant', { tenant: '' }],
  ['invalid_input', { input: { team: 7 } as never }],
  ['invalid_text', { labels: { text: '\0' } }],
  ['forbidden_payload_key', { labels: { token: 'x' } }],
  ['invalid_duration', { deadline: 'soon' as never }],
] as const)('%s is refused when the schedule is defined: %j', async (code, change) => {
  expect(
    await codeOf(
      writ.schedules.put('s', report, { cron: '@daily', input: { team: 'a' }, ...change }),
    ),
  ).toBe(code);
  expect((await writ.schedules.list()).items).toEqual([]);
});

test.each([
  ['invalid_schedule', 'no name'],
  ['invalid_text', 'a\0b'],
])('%s is refused for a name that is none', async (code, name) => {
  expect(await codeOf(writ.schedules.put(name, bare, { cron: '@daily' }))).toBe(code);
});

test('a connection of another library defines schedules too', async () => {
  const { default: postgres } = await import('postgres');
  const sql = postgres(db.connectionString, { max: 1 });
  const { Writ: Connected } = await import('../../src/index.js');
  const other = await Connected.connect({ db: sql });
  const { nextTick } = await other.schedules.put('s', bare, { cron: '@daily' });
  expect(await other.schedules.list()).toEqual(await writ.schedules.list());
  expect((await other.schedules.list()).items[0]?.nextTick).toEqual(nextTick);
  await sql.end();
});
