/**
 * The connection breaks around COMMIT. A worker that hears nothing does not guess: it asks the
 * database what became of that transaction. In each case here the verdict is checked, and that the
 * effect is there once in the end.
 */
import pg from 'pg';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { defineJob, type HandledJob, type JobContext, Writ } from '../../src/index.js';
import {
  type FaultPoint,
  onFaultPoint,
  type TestDatabase,
  testDatabase,
} from '../../src/testing/index.js';
import { type Wire, wireTo } from './wire.js';

let db: TestDatabase;
let wire: Wire;
let writ: Writ;
let verdicts: string[];

const pay = defineJob('pay', { retry: { attempts: 4 } });
const status = () => db.query('select status, attempts from writ.job_queue');
const charges = async () => (await db.query('select from charges')).length;
const mark = async () =>
  (await db.query(`select from writ.job_execution where status = 'COMMITTED'`)).length;

beforeEach(async () => {
  db = await testDatabase();
  wire = await wireTo(db.connectionString);
  writ = await Writ.connect({ connectionString: wire.connectionString });
  verdicts = [];
  await db.query('create table charges ()');
  await writ.enqueue(pay);
});
afterEach(async () => {
  onFaultPoint(undefined);
  await writ.close();
  await db.drop();
  await wire.close();
});

/** Does something at the first passage of a point, and never again. */
function once(point: FaultPoint, act: () => Promise<unknown> | unknown): void {
  let passed = false;
  onFaultPoint(async (at) => {
    if (at !== point || passed) return;
    passed = true;
    await act();
  });
}

const handler = pay.handle(async ({ commit }: JobContext<void>) => {
  await commit((tx) => tx.query('insert into charges default values')).then(
    () => verdicts.push('committed'),
    (error) => {
      verdicts.push(error.code);
      throw error;
    },
  );
});

/** Works until the job has succeeded; what waits for a retry does not wait long. */
async function workUntilSucceeded(handled: HandledJob): Promise<void> {
  const worker = await writ.work([handled], { poll: '50ms', onError: () => undefined });
  const succeeded = async () => {
    const [job] = await status();
    if (job?.status === 'retry_waiting') await db.clock.advance('1h');
    expect(job?.status).toBe('succeeded');
  };
  await vi.waitFor(succeeded, { timeout: 20_000, interval: 20 });
  await worker.stop();
}

const killBackends = () =>
  db.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like 'writ%' and pid <> pg_backend_pid()`,
  );

test('COMMIT went through and its answer was lost: the job is committed and not repeated', async () => {
  once('commit_sent', async () => {
    wire.holdAnswers();
    await vi.waitFor(async () => expect(await mark()).toBe(1), { timeout: 15_000, interval: 10 });
    wire.cut();
  });
  await workUntilSucceeded(handler);
  expect(verdicts).toEqual(['committed']);
  expect([await charges(), await status()]).toEqual([1, [{ status: 'succeeded', attempts: 1 }]]);
});

test('COMMIT never arrived: the attempt failed, and the next one commits', async () => {
  once('before_commit', () => {
    wire.holdRequests();
    setImmediate(() => wire.cut());
  });
  await workUntilSucceeded(handler);
  expect(verdicts).toEqual(['database_unreachable', 'committed']);
  expect([await charges(), await status()]).toEqual([1, [{ status: 'succeeded', attempts: 2 }]]);
});

test('the server is still busy with the COMMIT: the worker waits for the verdict', async () => {
  await db.query(
    `create function slow() returns trigger language plpgsql as $$ begin perform pg_advisory_xact_lock(7); return null; end $$`,
  );
  await db.query(
    'create constraint trigger slow after insert on charges deferrable initially deferred for each row execute function slow()',
  );
  const admin = new pg.Client({ connectionString: db.directConnectionString });
  await admin.connect();
  // COMMIT runs the deferred trigger, which waits for this
  await admin.query('select pg_advisory_lock(7)');
  const waiting = `select from pg_stat_activity where wait_event = 'advisory' and query like '%; commit'`;
  const asking = `select from pg_stat_activity where query like '%fn_job_commit_status%' and pid <> pg_backend_pid() and datname = current_database()`;
  once('commit_sent', async () => {
    await vi.waitFor(async () => expect((await admin.query(waiting)).rowCount).toBe(1), {
      timeout: 15_000,
      interval: 10,
    });
    wire.cut();
  });
  const running = workUntilSucceeded(handler);
  await vi.waitFor(async () => expect((await admin.query(asking)).rowCount).toBeGreaterThan(0), {
    timeout: 15_000,
    interval: 10,
  });
  expect(verdicts).toEqual([]);
  await admin.query('select pg_advisory_unlock(7)');
  await running;
  await admin.end();
  expect(verdicts).toEqual(['committed']);
  expect([await charges(), await status()]).toEqual([1, [{ status: 'succeeded', attempts: 1 }]]);
});

test.each(['started', 'before_commit', 'commit_sent', 'after_commit', 'finish_sent'] as const)(
  'every backend of the worker is killed at %s: one effect, and the worker goes on',
  async (point) => {
    once(point, killBackends);
    await workUntilSucceeded(handler);
    expect([await charges(), await status()]).toMatchObject([1, [{ status: 'succeeded' }]]);
  },
);

test('a backend that is killed while the effect does something else fails the attempt, not the process', async () => {
  let runs = 0;
  const waits = pay.handle(({ commit }) =>
    commit(async (tx) => {
      await tx.query('insert into charges default values');
      if (++runs > 1) return;
      await killBackends();
      // The loss of the connection is heard here, while no statement is on its way.
      await new Promise((resume) => setTimeout(resume, 50));
    }),
  );
  await workUntilSucceeded(waits);
  expect([runs, await charges(), await status()]).toEqual([
    2,
    1,
    [{ status: 'succeeded', attempts: 2 }],
  ]);
});
