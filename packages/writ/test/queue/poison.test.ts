/**
 * A job whose worker dies in it runs alone from then on, and is quarantined when it kills again;
 * those beside it lose nothing.
 */
import { once } from 'node:events';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineJob } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { crasher } from '../faults/crasher.js';
import { disagreements, until } from '../races/sessions.js';
import {
  abort,
  bulk,
  type ClaimAnswer,
  claim as claimOf,
  idsOf,
  register,
  succeed,
  tick,
} from './bulk.js';

let db: TestDatabase;

beforeEach(async () => {
  db = await testDatabase();
  await register(db, 'chore', { backoff_base_s: 1, backoff_cap_s: 1, max_attempts: 3 });
});
afterEach(() => db.drop());

const claim = (limit: number, more: Record<string, unknown> = {}): Promise<ClaimAnswer> =>
  claimOf(db, limit, { start: limit, alone: true, ...more });
const job = async (id: unknown) =>
  (
    await db.query(
      'select status, attempts, last_error_code from writ.job_queue where job_id = $1',
      [id],
    )
  )[0];

/** The worker of every open lease dies, and what waits for a retry becomes due. */
async function crash(): Promise<void> {
  await db.clock.advance('1m');
  await tick(db);
  await db.clock.advance('10s');
  await tick(db);
}

test('after a crash a job is handed out by itself, and only to a worker with nothing beside it', async () => {
  const ids = await bulk(db, 3);
  const first = await claim(2);
  expect(first.alone).toBeUndefined();
  await crash();
  // A busy worker gets what is innocent.
  const busy = await claim(10, { alone: false });
  expect(idsOf(busy)).toEqual([ids[2]]);
  for (const _ of [0, 1]) {
    const alone = await claim(10);
    expect(alone).toMatchObject({ alone: true, started_upto: 1 });
    expect(alone.jobs).toHaveLength(1);
    expect(ids.slice(0, 2)).toContain(idsOf(alone)[0]);
    await succeed(db, alone);
  }
  expect(await disagreements(db)).toEqual([]);
});

test('what was only at hand when the worker died is innocent: neither charged nor alone', async () => {
  const ids = await bulk(db, 5);
  await claim(5, { start: 1 });
  await crash();
  const others = await claim(10, { alone: false });
  expect(new Set(idsOf(others))).toEqual(new Set(ids.slice(1)));
  expect(others.jobs.map((row) => row[4])).toEqual([1, 1, 1, 1]);
  expect(idsOf(await claim(10))).toEqual([ids[0]]);
});

test('three crashes alone quarantine a job as poison; crashes beside others do not count', async () => {
  const [id] = await bulk(db, 1);
  await claim(1); // beside others, for all the database knows
  await crash();
  for (const _ of [1, 2]) {
    expect(idsOf(await claim(1))).toEqual([id]);
    await crash();
    expect(await job(id)).toMatchObject({ status: 'queued' });
  }
  expect(idsOf(await claim(1))).toEqual([id]);
  await crash();
  expect(await job(id)).toMatchObject({ status: 'dead_letter', last_error_code: 'poison' });
  expect(await disagreements(db)).toEqual([]);
});

test('the setting says how many crashes alone are too many', async () => {
  await db.query(`update writ_data.dot_config set value = '1' where key = 'queue.poison.crashes'`);
  const [id] = await bulk(db, 1);
  await claim(1);
  await crash();
  await claim(1);
  await crash();
  expect(await job(id)).toMatchObject({ status: 'dead_letter', last_error_code: 'poison' });
});

test('crashes never take the last attempt, and a failure after a crash is an ordinary one, still alone', async () => {
  const [id] = await bulk(db, 1);
  for (const _ of [1, 2, 3]) {
    await claim(1);
    await crash();
  }
  expect(await job(id)).toMatchObject({ status: 'queued', attempts: 2 });
  await register(db, 'chore', { backoff_base_s: 1, backoff_cap_s: 1, max_attempts: 9 });
  const alone = await claim(1);
  expect(alone.alone).toBe(true);
  await abort(db, alone, 'transient');
  expect(await job(id)).toMatchObject({ status: 'dead_letter', last_error_code: 'x' });
});

test('a lone job that is given back stays alone', async () => {
  const [id] = await bulk(db, 1);
  await claim(1);
  await crash();
  await abort(db, await claim(1), 'released');
  expect((await claim(1, { alone: false })).jobs).toEqual([]);
  expect(idsOf(await claim(1))).toEqual([id]);
});

test('a lone job that a limit keeps back does not keep its worker from other work', async () => {
  await register(db, 'call', { limit_concurrency: 1, backoff_base_s: 1, backoff_cap_s: 1 });
  await bulk(db, 3);
  await bulk(db, 2, { kind: 'call' });
  const kinds = ['call', 'chore'];
  await claim(1, { kinds: ['call'] });
  await crash(); // one of its jobs is to run alone now
  // and another has the only place
  expect((await claim(1, { kinds: ['call'], alone: false })).jobs).toHaveLength(1);
  expect((await claim(10, { kinds })).jobs.map((row) => row[1])).toEqual([
    'chore',
    'chore',
    'chore',
  ]);
});

test('a replayed dead letter begins anew, among others', async () => {
  const [id] = await bulk(db, 1);
  await db.query(`update writ_data.dot_config set value = '1' where key = 'queue.poison.crashes'`);
  await claim(1);
  await crash();
  await claim(1);
  await crash();
  await db.query(`select writ.fn_job_dead_letter_replay($1, 'mended', 'test')`, [id]);
  expect((await claim(1, { alone: false })).jobs).toHaveLength(1);
});

// Real processes
// ---------------------------------------------------------------------------------------------------------

test('a job that kills its process is quarantined, its neighbours succeed, and each death takes nobody with it', async (context) => {
  const kind = defineJob<{ deadly: boolean }>('crasher', {
    retry: { attempts: 5, base: '20ms', cap: '40ms' },
  });
  const writ = await db.connect();
  const deadly = await writ.enqueue(kind, { deadly: true });
  const innocent = await writ.enqueueMany(
    kind,
    Array.from({ length: 12 }, () => ({ input: { deadly: false } })),
  );
  let deaths = 0;
  const status = async () => (await job(deadly.jobId))?.status;
  while ((await status()) !== 'dead_letter' && deaths < 8) {
    const process = crasher(context, db.connectionString);
    const died = once(process, 'exit').then(() => 'died');
    const outcome = await Promise.race([
      died,
      until(async () => (await status()) === 'dead_letter', 20_000).then(
        () => 'over',
        () => 'nothing',
      ),
    ]);
    expect(outcome).not.toBe('nothing');
    if (outcome === 'died') deaths++;
  }
  // Once beside others, and three times alone.
  expect(deaths).toBe(4);
  expect(await job(deadly.jobId)).toMatchObject({
    status: 'dead_letter',
    last_error_code: 'poison',
  });
  const survivor = crasher(context, db.connectionString);
  expect(survivor.pid).toBeGreaterThan(0);
  await until(async () => {
    const [row] = await db.query(
      'select count(*)::int as n from writ.job_queue where job_id = any ($1) and status = $2',
      [innocent.map(({ jobId }) => jobId), 'succeeded'],
    );
    return row?.n === 12;
  });
  expect(await disagreements(db)).toEqual([]);
}, 60_000);

test('a busy worker makes room for a lone job, and runs nothing beside it', async () => {
  const writ = await db.connect();
  const kind = defineJob<{ n: number }>('busy', {
    retry: { attempts: 5, base: '1ms', cap: '2ms' },
  });
  const { jobId } = await writ.enqueue(kind, { n: -1 });
  await claim(1, { kinds: ['busy'] });
  await crash();
  const running = new Set<number>();
  let beside = -1;
  let next = 0;
  let stop = false;
  const more = () => writ.enqueueMany(kind, [{ input: { n: next++ } }, { input: { n: next++ } }]);
  await more();
  const worker = await writ.work(
    [
      kind.handle(async ({ input }) => {
        running.add(input.n);
        if (input.n === -1) beside = running.size;
        else if (!stop) await more(); // there is always more to do
        await new Promise((resume) => setTimeout(resume, 5));
        if (input.n === -1) beside = Math.max(beside, running.size);
        running.delete(input.n);
      }),
    ],
    { concurrency: 5, poll: '50ms' },
  );
  await until(async () => (await job(jobId))?.status === 'succeeded');
  stop = true;
  await worker.stop();
  expect(beside).toBe(1);
});
