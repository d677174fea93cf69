/**
 * Somebody sets the clock of the machine that a worker runs on; the clock of the database stays
 * right.
 */
import pg from 'pg';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { defineJob, definePlan, type Writ } from '../../src/index.js';
import { Secrets } from '../../src/secrets/secrets.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { latch } from './latch.js';

const day = 86_400_000;
const patient = { timeout: 60_000, interval: 50 };
let db: TestDatabase;
let writ: Writ;

beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
  // The clock alone is moved: timers run as they do when somebody sets it.
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(async () => {
  vi.useRealTimers();
  await db.drop();
});

const move = (ms: number) =>
  vi.setSystemTime(new Date(performance.timeOrigin + performance.now() + ms));
const statusOf = async (id: string) =>
  (await db.query('select status from writ.job_queue where job_id = $1', [id]))[0]?.status;

test('jobs are enqueued and runs start whatever the clock of this machine says, and when it is set right', async () => {
  const chore = defineJob<{ n: number }>('chore');
  const plan = definePlan('chores', { version: '1.0.0' }, (p) =>
    p.step('chore', defineJob('step')),
  );
  let n = 0;
  for (const by of [0, 40 * day, 0, -40 * day, day / 4, 0]) {
    move(by);
    const key = `key-${by}-${n}`;
    const alone = await writ.enqueue(chore, { n: n++ });
    const keyed = await writ.enqueue(chore, { n: n++ }, { key });
    const many = await writ.enqueueMany(chore, [
      { input: { n: n++ } },
      { input: { n: n++ }, delay: '1h' },
    ]);
    const client = new pg.Client(db.connectionString);
    await client.connect();
    await client.query('begin');
    const within = await writ.enqueue(chore, { n: n++ }, { db: client });
    const { runId } = await writ.start(plan, undefined, { db: client });
    await client.query('commit');
    await client.end();
    for (const { jobId } of [alone, keyed, ...many, within])
      expect(await statusOf(jobId)).toMatch(/queued|retry_waiting/);
    expect(await writ.enqueue(chore, { n: 0 }, { key })).toMatchObject({
      jobId: keyed.jobId,
      duplicate: true,
    });
    expect((await writ.runs.snapshot(runId)).runId).toBe(runId);
    expect((await writ.start(plan, undefined)).duplicate).toBe(false);
  }
});

test('an id of a caller that is not of about now is refused', async () => {
  move(0);
  const plan = definePlan('chores', { version: '1.0.0' }, (p) =>
    p.step('chore', defineJob('step')),
  );
  const runId = '01900000-0000-7000-8000-000000000001';
  await expect(writ.start(plan, undefined, { runId })).rejects.toMatchObject({
    code: 'INVALID_RUN_ID',
  });
});

test('a worker whose clock is set back 40 days renews its heartbeat', {
  timeout: 90_000,
}, async () => {
  const worker = await writ.work([], { poll: '50ms' });
  const heard = async () => {
    const [row] = await db.query(
      'select last_beat_at from writ.v_queue_heartbeat where executor_id = $1',
      [worker.id],
    );
    return (row?.last_beat_at as Date | undefined)?.getTime() ?? 0;
  };
  await vi.waitFor(async () => expect(await heard()).toBeGreaterThan(0), patient);
  move(-40 * day);
  const before = await heard();
  await vi.waitFor(async () => expect(await heard()).toBeGreaterThan(before + 1_000), patient);
});

test('a handler times out though the clock of its worker is set back', {
  timeout: 90_000,
}, async () => {
  const begun = latch();
  const stopped = latch<unknown>();
  const stuck = defineJob<object>('stuck', { timeout: '2s', retry: { attempts: 1 } });
  await writ.work([
    stuck.handle(async ({ signal }) => {
      signal.addEventListener('abort', () => stopped.open(signal.reason));
      begun.open();
      throw await stopped.opened;
    }),
  ]);
  const { jobId } = await writ.enqueue(stuck, {});
  await begun.opened;
  move(-40 * day);
  expect(await stopped.opened).toMatchObject({ code: 'timeout' });
  await vi.waitFor(async () => expect(await statusOf(jobId)).toBe('dead_letter'), patient);
});

test('a handler does not time out because the clock of its worker is set forward', {
  timeout: 90_000,
}, async () => {
  const begun = latch();
  const finish = latch();
  const long = defineJob<object>('long', { timeout: '10m', retry: { attempts: 1 } });
  let stopped = false;
  await writ.work([
    long.handle(async ({ signal }) => {
      signal.addEventListener('abort', () => {
        stopped = true;
      });
      begun.open();
      await finish.opened;
    }),
  ]);
  const { jobId } = await writ.enqueue(long, {});
  await begun.opened;
  move(40 * day);
  // The worker looks at its handlers ten times a second.
  await new Promise((resume) => setTimeout(resume, 500));
  expect(stopped).toBe(false);
  finish.open();
  await vi.waitFor(async () => expect(await statusOf(jobId)).toBe('succeeded'), patient);
});

test('a secret is asked for again when its time is over though the clock is set back', async () => {
  let asked = 0;
  const secrets = new Secrets({ resolve: async () => ({ one: `value-of-one-${++asked}` }) }, 5);
  await secrets.resolve(['one'], { tenantId: 'acme', environmentId: 'prod' });
  move(-40 * day);
  await new Promise((resume) => setTimeout(resume, 20));
  await secrets.resolve(['one'], { tenantId: 'acme', environmentId: 'prod' });
  expect(asked).toBe(2);
});
