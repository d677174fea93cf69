/**
 * Enqueues that are asked for at the same time travel together. What a caller is promised does not
 * change by that: its own answer, its own refusal, and a job that is there once whatever happens to
 * the connection.
 */
import pg from 'pg';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { defineJob, Writ, WritRefusal } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';

let db: TestDatabase;
let writ: Writ;

const note = defineJob<{ i: number }>('note');
const commands = async () =>
  (await db.query(`select jobs from writ.command_run where command = 'fn_job_enqueue'`)).map(
    ({ jobs }) => Number(jobs),
  );
const hundred = Array.from({ length: 100 }, (_, i) => i);
const inputs = async () => {
  const rows = await db.query(
    `select (writ.fn_job_payload(job_id) #>> '{input,i}')::int as i from writ.job_queue order by i`,
  );
  return rows.map(({ i }) => i);
};

beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
  await writ.enqueueMany(note, []); // the kind is known from here on
});
afterEach(() => db.drop());

test('a hundred calls at the same time are few commands and a hundred jobs', async () => {
  await Promise.all(hundred.map((i) => writ.enqueue(note, { i })));
  const sizes = await commands();
  expect(sizes.reduce((sum, jobs) => sum + jobs, 0)).toBe(100);
  expect(sizes.length).toBeLessThanOrEqual(10);
});

test('coalesce: false sends a job alone', async () => {
  await Promise.all(hundred.slice(0, 5).map((i) => writ.enqueue(note, { i }, { coalesce: false })));
  expect(await commands()).toEqual([1, 1, 1, 1, 1]);
});

test('each caller gets the answer about its own job', async () => {
  await writ.enqueue(note, { i: 7 }, { key: 'seven' });
  const results = await Promise.all(
    hundred.map((i) => writ.enqueue(note, { i }, { key: i === 7 ? 'seven' : `key ${i}` })),
  );
  expect(results.filter(({ duplicate }) => duplicate)).toEqual([results[7]]);
  const rows = await db.query('select job_id, idempotency_key from writ.job_queue');
  const idOf = new Map(rows.map((row) => [row.idempotency_key, row.job_id]));
  expect(results.map(({ jobId }) => jobId)).toEqual(
    hundred.map((i) => idOf.get(i === 7 ? 'seven' : `key ${i}`)),
  );
});

test.each([
  ['labels that are forbidden', { labels: { password: 'x' } }, 'forbidden_payload_key'],
  ['an empty key', { key: '' }, 'invalid_idempotency_key'],
  ['no attempts', { attempts: 0 }, 'invalid_max_attempts'],
])('a bad one among a hundred is refused alone: %s', async (_, options, code) => {
  const outcomes = await Promise.all(
    hundred.map((i) => writ.tryEnqueue(note, { i }, i === 50 ? options : {})),
  );
  expect(
    outcomes.flatMap((outcome, i) => (outcome instanceof WritRefusal ? [[i, outcome.code]] : [])),
  ).toEqual([[50, code]]);
  expect(await inputs()).toEqual(hundred.filter((i) => i !== 50));
});

test.each([
  ['a priority beyond its range', { priority: 40_000 }],
  ['a priority that is no whole number', { priority: 0.5 }],
  ['attempts beyond their range', { attempts: 40_000 }],
  ['a parent that is no id', { parentJobId: 'job-1' }],
  ['a delay beyond the calendar', { delay: 1e16 }],
  ['a moment that is none', { delay: new Date('nonsense') }],
])('a value that the database cannot hold fails alone: %s', async (_, options) => {
  const outcomes = await Promise.allSettled(
    hundred.map((i) => writ.enqueue(note, { i }, i === 50 ? options : {})),
  );
  expect(
    outcomes.flatMap((outcome, i) =>
      outcome.status === 'rejected' ? [[i, outcome.reason.name]] : [],
    ),
  ).toEqual([[50, 'WritRefusal']]);
});

test('a batch whose connection is cut while it is written is sent again: nothing is lost, nothing is there twice', async () => {
  const admin = new pg.Client({ connectionString: db.connectionString });
  await admin.connect();
  await admin.query('begin');
  // holds every batch in the middle of its statement
  await admin.query('lock table writ_data.job in exclusive mode');
  const answers = Promise.all(
    hundred.map((i) => writ.enqueue(note, { i }, i % 2 ? { key: `k${i}` } : {})),
  );
  const cut = `select pg_terminate_backend(pid) as cut from pg_stat_activity
    where datname = current_database() and application_name = 'writ' and wait_event_type = 'Lock'`;
  // Asked from outside the transaction, in which pg_stat_activity would answer the same again and
  // again.
  await vi.waitFor(async () => expect((await db.query(cut)).length).toBeGreaterThan(0), {
    timeout: 20_000,
    interval: 10,
  });
  await admin.query('rollback');
  await admin.end();
  expect((await answers).map(({ duplicate }) => duplicate)).toEqual(hundred.map(() => false));
  expect(await inputs()).toEqual(hundred);
});

test.each([
  ['of jobs that are alike', () => ({})],
  ['of which some have keys', (i: number) => (i % 2 ? { key: `k${i}` } : {})],
])(
  'a batch %s that was written but not answered is recognised when it is sent again',
  async (_, options) => {
    const pool = new pg.Pool({ connectionString: db.connectionString, max: 2 });
    let unanswered = 0;
    const deaf = {
      query: async (sql: string, params?: unknown[]) => {
        const result = await pool.query(sql, params);
        if (sql.includes('fn_job_enqueue_') && unanswered++ < 2)
          throw new Error('Connection terminated unexpectedly');
        return result;
      },
    };
    const through = await Writ.connect({ db: deaf });
    const results = await Promise.all(hundred.map((i) => through.enqueue(note, { i }, options(i))));
    await pool.end();
    expect(results.filter(({ duplicate }) => duplicate)).toEqual([]);
    expect(await inputs()).toEqual(hundred);
    expect(unanswered).toBeGreaterThan(2);
  },
);

test('an error that a second try cannot help is given to every caller of the batch at once', async () => {
  await db.query('alter function writ.fn_job_enqueue_alike rename to gone');
  const outcomes = await Promise.allSettled(hundred.map((i) => writ.enqueue(note, { i })));
  expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(100);
});

test('close waits for every enqueue that was asked for before it', async () => {
  const answers = Promise.allSettled(hundred.map((i) => writ.enqueue(note, { i })));
  await writ.close();
  expect((await answers).filter(({ status }) => status === 'rejected')).toHaveLength(0);
  expect(await inputs()).toEqual(hundred);
});

test('after close an enqueue is an error by name', async () => {
  await writ.close();
  await expect(writ.enqueue(note, { i: 1 })).rejects.toMatchObject({ code: 'closed' });
  await expect(writ.tryEnqueueMany(note, [{ input: { i: 1 } }])).rejects.toMatchObject({
    code: 'closed',
  });
  await expect(writ.enqueueMany(note, [{ input: { i: 1 } }])).rejects.toMatchObject({
    code: 'closed',
  });
});

test('closing twice is closing once', async () => {
  await writ.close();
  await writ.close();
});

test('one connection is enough to enqueue in bulk', async () => {
  const narrow = await Writ.connect({ connectionString: db.connectionString, max: 1 });
  const late = new Promise((_, failed) =>
    setTimeout(failed, 20_000, new Error('no answer in 20 s')).unref(),
  );
  await Promise.race([
    narrow.enqueueMany(defineJob<{ i: number }>('fresh'), [{ input: { i: 1 } }]),
    late,
  ]);
  await narrow.close();
});
