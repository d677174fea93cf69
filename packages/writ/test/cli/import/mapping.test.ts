/** What a job of the real pg-boss or graphile-worker says, and what its copy says. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { defineJob } from '../../../src/index.js';
import { runUntilIdle, type TestDatabase, testDatabase } from '../../../src/testing/index.js';
import { json } from '../run.js';
import { add, missing, type System, work } from './peer.js';

let db: TestDatabase;
let env: Record<string, string>;
beforeEach(async () => {
  db = await testDatabase();
  env = { DATABASE_URL: db.connectionString };
  await db.query('create table ran (n integer, side text)');
});
afterEach(() => db.drop());

interface Imported {
  readonly plan: {
    readonly jobs: number;
    readonly copied: Record<string, unknown>[];
    readonly left: Record<string, unknown>[];
    readonly schedules: number;
  };
  readonly result: {
    copied: number;
    already: number;
    gone: number;
    deleted: number;
    troubles: { reason: string }[];
  } | null;
}
const bring = (system: string, ...args: string[]) =>
  json<Imported>(['queue', 'import', '--from', system, '--yes', ...args], { env });

/** The copies, by the `n` in the input of their originals. */
async function copiesOf(system: System) {
  const [jobs, n] =
    system === 'pg-boss'
      ? ['pgboss.job', "data ->> 'n'"]
      : ['graphile_worker._private_jobs', "payload ->> 'n'"];
  const rows = await db.query(
    `select j.${n} as n, q.* from ${jobs} j join writ.job_queue q on split_part(split_part(q.source_ref, '#', 1), '@', 1) = '${system}:' || j.id`,
  );
  return Object.fromEntries(rows.map((row) => [String(row.n), row]));
}

/** The inputs as handlers of this kind get them, in their order. */
async function handled(kind: string): Promise<unknown[]> {
  const inputs: unknown[] = [];
  const job = defineJob<unknown>(kind);
  await runUntilIdle(await db.connect(), [job.handle(({ input }) => void inputs.push(input))], {
    concurrency: 1,
    skipTime: db,
  });
  return inputs;
}

describe.skipIf(missing)('pg-boss', () => {
  test('a copy keeps name, input, moment, priority, attempts left and a key that is unique there', async () => {
    const later = '2031-04-05T06:07:08.000Z';
    await add('pg-boss', db.connectionString, {
      queues: [{ name: 'mail' }, { name: 'one', policy: 'exclusive' }],
      jobs: [
        { name: 'mail', data: { n: 1, to: 'ada' }, priority: 7, retryLimit: 3 },
        { name: 'mail', data: { n: 2 }, startAfter: later, priority: 100_000, retryLimit: 0 },
        { name: 'mail', data: { n: 3 }, singletonKey: 'twice' },
        { name: 'mail', data: { n: 4 }, singletonKey: 'twice' },
        { name: 'one', data: { n: 5 }, singletonKey: 'once' },
      ],
    });
    const { result } = await bring('pg-boss', '--kind-map', 'mail=mail.send', '--tenant', 'acme');
    expect(result).toMatchObject({ copied: 5, already: 0, gone: 0, deleted: 0, troubles: [] });
    const copies = await copiesOf('pg-boss');
    expect(copies['1']).toMatchObject({
      job_kind: 'mail.send',
      tenant_id: 'acme',
      priority: 7,
      max_attempts: 4,
      status: 'queued',
    });
    expect(copies['2']).toMatchObject({
      priority: 32_767,
      max_attempts: 1,
      process_after: new Date(later),
    });
    // A standard queue takes any number of jobs with one singleton key; all of them are copied.
    for (const n of ['1', '3', '4'])
      expect(copies[n]?.idempotency_key).toMatch(/^import:pg-boss:[0-9a-f-]{36}$/);
    expect(copies['5']).toMatchObject({ job_kind: 'one', idempotency_key: 'once' });
    expect(await handled('mail.send')).toEqual([{ n: 1, to: 'ada' }, { n: 3 }, { n: 4 }, { n: 2 }]);
  });

  test('a retry keeps the attempts it has left, and the moment it is due', async () => {
    await add('pg-boss', db.connectionString, {
      queues: [{ name: 'mail' }],
      jobs: [{ name: 'mail', data: { n: 1, fail: true }, retryLimit: 3, retryDelay: 3600 }],
    });
    const worker = await work('pg-boss', db.connectionString, { names: ['mail'] });
    await until(`select from pgboss.job where name = 'mail' and state = 'retry'`);
    await worker.stop();
    const { plan, result } = await bring('pg-boss');
    expect(plan.copied).toEqual([
      { name: 'mail', kind: 'mail', ready: 0, delayed: 0, retrying: 1 },
    ]);
    expect(result?.copied).toBe(1);
    const [row] = await db.query(`select start_after from pgboss.job where name = 'mail'`);
    expect((await copiesOf('pg-boss'))['1']).toMatchObject({
      max_attempts: 3,
      process_after: row?.start_after,
    });
  });

  test('what runs, has failed, is linked, or runs one at a time is left, counted and named', async () => {
    await add('pg-boss', db.connectionString, {
      queues: [
        { name: 'mail' },
        { name: 'serial', policy: 'singleton' },
        { name: 'fifo', policy: 'key_strict_fifo' },
        { name: '_mail' },
        { name: 'linked' },
      ],
      jobs: [
        { name: 'mail', data: { n: 1, hang: true } },
        { name: 'serial', data: { n: 2 } },
        { name: 'fifo', data: { n: 3 }, singletonKey: 'k' },
        { name: '_mail', data: { n: 4 } },
        { name: 'mail', data: { n: 5 }, group: { id: 'g' } },
      ].map((job) => ({ retryLimit: 0, ...job })),
      flow: [
        { ref: 'first', name: 'linked', data: { n: 6 } },
        { ref: 'then', name: 'linked', data: { n: 7 }, dependsOn: ['first'] },
      ],
      schedule: 'mail',
    });
    const worker = await work('pg-boss', db.connectionString, { names: ['mail'] });
    await worker.saying('hanging');
    try {
      const { plan, result } = await bring('pg-boss');
      expect(result).toBeNull();
      expect(plan).toMatchObject({ jobs: 0, schedules: 1 });
      expect(plan.left).toEqual([
        { name: '_mail', reason: 'name', jobs: 1 },
        { name: 'fifo', reason: 'serial', jobs: 1 },
        { name: 'linked', reason: 'linked', jobs: 2 },
        { name: 'mail', reason: 'running', jobs: 1 },
        { name: 'mail', reason: 'serial', jobs: 1 },
        { name: 'serial', reason: 'serial', jobs: 1 },
      ]);
      expect((await bring('pg-boss', '--kind-map', '_mail=good-name')).result?.copied).toBe(1);
      expect((await copiesOf('pg-boss'))['4']).toMatchObject({ job_kind: 'good-name' });
    } finally {
      await worker.stop();
    }
  });
});

describe.skipIf(missing)('graphile-worker', () => {
  test('a copy keeps name, input, moment, attempts left and its key, and turns the priority round', async () => {
    const later = '2031-04-05T06:07:08.000Z';
    await add('graphile-worker', db.connectionString, {
      jobs: [
        { name: 'mail', data: { n: 1, to: 'ada' }, priority: 7, maxAttempts: 4 },
        { name: 'mail', data: { n: 2 }, priority: -9, runAt: later },
        { name: 'mail', data: { n: 3 }, jobKey: 'once' },
        { name: 'mail', data: { n: 4 }, priority: -32_768 },
      ],
    });
    expect((await bring('graphile-worker')).result).toMatchObject({ copied: 4, troubles: [] });
    const copies = await copiesOf('graphile-worker');
    expect(copies['1']).toMatchObject({
      job_kind: 'mail',
      tenant_id: 'default',
      priority: -7,
      max_attempts: 4,
    });
    expect(copies['1']?.idempotency_key).toMatch(/^import:graphile-worker:1@/);
    expect(copies['2']).toMatchObject({
      priority: 9,
      max_attempts: 25,
      process_after: new Date(later),
    });
    expect(copies['3']).toMatchObject({ idempotency_key: 'once' });
    expect(copies['4']).toMatchObject({ priority: 32_767 });
    expect(await handled('mail')).toEqual([{ n: 4 }, { n: 3 }, { n: 1, to: 'ada' }, { n: 2 }]);
  });

  test('a retry keeps the attempts it has left; what runs, has failed or has a queue name is left, counted and named', async () => {
    await add('graphile-worker', db.connectionString, {
      jobs: [
        { name: 'mail', data: { n: 1, fail: true }, maxAttempts: 3 },
        { name: 'mail', data: { n: 2, fail: true }, maxAttempts: 1 },
        { name: 'mail', data: { n: 3, hang: true } },
        { name: 'other', data: { n: 4 }, queueName: 'in turn' },
      ],
    });
    const worker = await work('graphile-worker', db.connectionString, {
      names: ['mail'],
      crontab: '0 3 * * * mail',
    });
    await worker.saying('hanging');
    await until(
      'select from graphile_worker._private_jobs where attempts = 1 and locked_at is null having count(*) = 2',
    );
    try {
      const { plan, result } = await bring('graphile-worker');
      expect(plan.copied).toEqual([
        { name: 'mail', kind: 'mail', ready: 0, delayed: 0, retrying: 1 },
      ]);
      expect(plan.left).toEqual([
        { name: 'mail', reason: 'failed', jobs: 1 },
        { name: 'mail', reason: 'running', jobs: 1 },
        { name: 'other', reason: 'serial', jobs: 1 },
      ]);
      expect(plan.schedules).toBe(1);
      expect(result?.copied).toBe(1);
      expect((await copiesOf('graphile-worker'))['1']).toMatchObject({ max_attempts: 2 });
    } finally {
      await worker.stop();
    }
  });

  test('copies begin in the order in which the originals would have', async () => {
    const minutesAgo = (n: number) => new Date(Date.now() - n * 60_000).toISOString();
    await add('graphile-worker', db.connectionString, {
      jobs: [
        { name: 'mail', data: { n: 4 }, runAt: minutesAgo(1) },
        { name: 'mail', data: { n: 3 }, runAt: minutesAgo(9) },
        { name: 'mail', data: { n: 2 }, priority: -1, runAt: minutesAgo(2) },
        { name: 'mail', data: { n: 1 }, priority: -2, runAt: minutesAgo(3) },
      ],
    });
    await bring('graphile-worker', '--delete');
    expect(await handled('mail')).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 }]);
  });

  test('an input keeps what JavaScript cannot hold, and one that no database text can hold is refused alone', async () => {
    await add('graphile-worker', db.connectionString, { jobs: [{ name: 'mail', data: { n: 1 } }] });
    const insert = (payload: string) =>
      db.query(`select graphile_worker.add_job('mail', $1::text::json)`, [payload]);
    await insert('{"n":2,"big":12345678901234567890,"pair":"\\ud83d\\ude00","slash":"\\\\u0000"}');
    await insert('{"n":3,"nul":"\\u0000"}');
    await insert('{"n":4,"half":"\\ud83d"}');
    const outcome = await json<Imported>(
      ['queue', 'import', '--from', 'graphile-worker', '--yes', '--delete'],
      { env },
    ).catch((e) => e);
    expect(String(outcome)).toMatch(/^Error: exit 1/);
    const [claimed] = await db.query(
      `select writ.fn_job_claim_many('{mail}', 'external_worker', 'me', 60, 10, 0)::text as answer`,
    );
    const inputs = (JSON.parse(String(claimed?.answer)) as { jobs: unknown[][] }).jobs.map(
      (job) => (job[7] as unknown[])[0],
    );
    expect(claimed?.answer).toContain('12345678901234567890');
    expect(inputs).toEqual([
      { n: 1 },
      { n: 2, big: expect.any(Number), pair: '😀', slash: '\\u0000' },
    ]);
    expect(await db.query(`select id from graphile_worker._private_jobs order by id`)).toEqual([
      { id: '3' },
      { id: '4' },
    ]);
  });
});

async function until(sql: string): Promise<void> {
  for (const giveUpAt = Date.now() + 15_000; (await db.query(sql)).length === 0; ) {
    if (Date.now() > giveUpAt) throw new Error(`it did not come to ${sql}`);
    await new Promise((resume) => setTimeout(resume, 25));
  }
}
