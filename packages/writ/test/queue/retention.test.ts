/**
 * What is only ever added is kept by the day: days are made ahead, cleaned jobs go with their day,
 * and what is still needed stays.
 */
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { migrate } from '../../src/database/migrate.js';
import { defineJob, definePlan } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { disagreements, type Session, session, untilBlocked } from '../races/sessions.js';
import { bulk, bulkOf, call, claim, idsOf, register, statuses, succeed, tick } from './bulk.js';
import { idOf, makeDay, oldDays, oldJobs } from './old-jobs.js';

const jobTables = ['job', 'job_execution', 'job_cleaned'];

let db: TestDatabase;
let a: Session;
let b: Session;

beforeEach(async () => {
  db = await testDatabase();
  [a, b] = await Promise.all([session(db), session(db)]);
  await register(db, 'chore');
});
afterEach(async () => {
  await Promise.all([a.end(), b.end()]);
  await db.drop();
});

const partitions = async (table: string) =>
  Number(
    (
      await db.query(`select count(*)::int as n from pg_inherits where inhparent = $1::regclass`, [
        `writ_data.${table}`,
      ])
    )[0]?.n,
  );
const keep = (on: Session | TestDatabase = db) =>
  on
    .query(`select writ_data.keep_partitions('test', writ.now()) as made`)
    .then(([row]) => Number(row?.made));
const dropAhead = async (from: number, upto = 14) => {
  for (const table of [...jobTables, 'event_batch']) {
    for (let n = from; n <= upto; n++) {
      const [row] = await db.query(
        `select to_char((clock_timestamp() at time zone 'UTC')::date + $1::integer, '_YYYYMMDD') as day`,
        [n],
      );
      await db.query(`drop table writ_data.${table}${row?.day}`);
    }
  }
};
const alerts = async () =>
  Number(
    (
      await db.query(
        `select count(*)::int as n from writ.event_outbox where event_type = 'system.partitions_low'`,
      )
    )[0]?.n,
  );
const sweep = (limit = 10_000) =>
  call(db, 'writ.fn_job_cleanup_sweep', { limit, actor: 'test' }).then(({ cleaned }) => cleaned);
const retire = (on: Session | TestDatabase = db) =>
  on
    .query(`select writ_data.retire_days('test', writ.now()) as dropped`)
    .then(([row]) => Number(row?.dropped));

// Days ahead
// ---------------------------------------------------------------------------------------------------------

/** As a migration leaves it; databases for tests have fewer days. */
async function fourteenDays(): Promise<void> {
  await db.query(
    `update writ_data.dot_config set value = '14' where key = 'queue.partition.days_ahead'`,
  );
  await keep();
}

test('fourteen days are made ahead, and what is there is not made again', async () => {
  await fourteenDays();
  for (const table of [...jobTables, 'event_batch']) expect(await partitions(table)).toBe(16);
  expect(await keep()).toBe(0);
  await dropAhead(10);
  expect(await keep()).toBe(20);
  expect(await keep()).toBe(0);
  for (const table of jobTables) expect(await partitions(table)).toBe(16);
});

test('the clockwork makes the days that are missing, and says nothing while there are enough', async () => {
  await fourteenDays();
  await dropAhead(4);
  await tick(db);
  for (const table of jobTables) expect(await partitions(table)).toBe(16);
  expect(await alerts()).toBe(0);
});

test('two that make days at once do not fail', async () => {
  await fourteenDays();
  await dropAhead(12);
  await a.query('begin');
  expect(await keep(a)).toBe(12);
  const other = keep(b).catch((error: Error) => error.message);
  await untilBlocked(db, b);
  await a.query('commit');
  expect([0, 12]).toContain(await other);
  expect(await keep()).toBe(0);
});

test('fewer than three days ahead are a fact in the record, and nobody waits for them long', async () => {
  await fourteenDays();
  await dropAhead(3);
  await a.query('begin');
  // as a vacuum would: no day can be attached
  await a.query('lock table writ_data.job in share update exclusive mode');
  await tick(db);
  expect(await alerts()).toBe(1);
  await a.query('rollback');
  await db.clock.advance('2m');
  await tick(db);
  expect(await alerts()).toBe(1);
  expect(await partitions('job')).toBe(16);
});

// Idleness
// -----------------------------------------------------------------------------------------------------------

/** As a database is in which no worker ran for weeks. */
async function idleForWeeks(tables = '.*'): Promise<void> {
  const days = await db.query(
    `select format('drop table writ_data.%I', c.relname) as drop from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where c.relkind = 'r' and c.relnamespace = 'writ_data'::regnamespace and c.relname ~ ('^' || $1 || '_[0-9]{8}$')
       and right(c.relname, 8) >= to_char(clock_timestamp() at time zone 'UTC', 'YYYYMMDD')`,
    [tables],
  );
  for (const { drop } of days) await db.query(String(drop));
  expect(await partitions('event_batch')).toBe(1);
}

test('after weeks without a worker, an enqueue makes the missing days, whichever gate it comes through', async () => {
  await idleForWeeks();
  expect(await bulkOf(db, [{ input: { n: 1 }, key: 'k' }])).toHaveLength(1);
  expect(await partitions('event_batch')).toBe(5);
  await idleForWeeks();
  expect(await bulk(db, 3)).toHaveLength(3);
});

test('after weeks without a worker, two enqueues at once are both taken', async () => {
  await idleForWeeks();
  await a.query('begin');
  expect(await bulk(a, 1)).toHaveLength(1);
  const other = bulk(b, 1);
  await untilBlocked(db, b);
  await a.query('commit');
  expect(await other).toHaveLength(1);
});

test('after weeks without a worker, the clockwork makes the missing days before it records anything', async () => {
  const beat = {
    executor_id: 'w',
    executor_kind: 'external_worker',
    domain_scope: ['dot'],
    cadence_seconds: 10,
  };
  await call(db, 'writ.fn_queue_heartbeat', beat);
  await idleForWeeks();
  await db.clock.advance('20m');
  await tick(db);
  const silent = await db.query(
    `select event_type from writ.event_outbox where event_type = 'system.queue_worker_silent'`,
  );
  expect(silent).toHaveLength(1);
});

test('after weeks without a worker, a new kind is registered, and migrate --enable works', async () => {
  await idleForWeeks();
  await register(db, 'errand');
  expect(await partitions('job')).toBe(5);
  await idleForWeeks();
  const client = new pg.Client({ connectionString: db.directConnectionString });
  await client.connect();
  await migrate(client, { enable: true });
  await client.end();
  expect(await partitions('run')).toBe(5);
});

test('after weeks without a worker, any other first call makes the missing days', async () => {
  const writ = await db.connect();
  const plan = definePlan<unknown>('row', { version: '1.0.0' }, (p) => {
    p.waitFor('paid');
    p.waitFor('sent');
  });
  const { runId } = await writ.start(plan, {});
  const { jobId } = await writ.enqueue(defineJob('chore'));
  const schedule = { cron: '0 0 1 1 *' } as const;
  const calls = [
    () => writ.jobs.cancel(jobId),
    () => writ.runs.deliver(runId, 'paid'),
    () => writ.runs.signal(runId, { type: 'CANCEL' }),
    () => writ.schedules.put('yearly', defineJob('chore'), schedule),
    () => writ.schedules.remove('yearly'),
    () => db.query(`select writ.fn_setting_set('queue.poison.crashes', '4', 'ada')`),
    () => db.query(`select writ.fn_tenant_weight_set('acme', 2, 'ada')`),
  ];
  for (const call of calls) {
    await idleForWeeks('event_batch'); // the days of the job and the run stand
    await call();
    expect(await partitions('event_batch')).toBe(5);
  }
});

test('after weeks without a worker, a run starts', async () => {
  const writ = await db.connect();
  await idleForWeeks();
  const plan = definePlan<unknown>('row', { version: '1.0.0' }, (p) => {
    p.step('a', defineJob<unknown>('chore'));
  });
  expect(await writ.start(plan, {})).toMatchObject({ duplicate: false });
});

// Cleaning
// -----------------------------------------------------------------------------------------------------------

test('a sweep cleans what is past its retention, in bounded steps, and frees its keys', async () => {
  await makeDay(db, 40);
  await oldJobs(db, 40, 15, 'succeeded', 'k');
  await oldJobs(db, 40, 10, 'cancelled');
  await oldJobs(db, 40, 3, 'dead_letter');
  await oldJobs(db, 40, 3, 'committed');
  const young = await bulkOf(db, [{ key: 'young' }]);
  await succeed(db, await claim(db, 1, { start: 1 }));
  expect([await sweep(10), await sweep(10), await sweep(10), await sweep(10)]).toEqual([
    10, 10, 5, 0,
  ]);
  expect(await statuses(db)).toEqual({ cleaned: 25, dead_letter: 3, in_progress: 3, succeeded: 1 });
  const again = await call(db, 'writ.fn_job_enqueue_many', {
    jobs: JSON.stringify([
      { id: idOf(0).replace(/^.{13}/, young[0]?.slice(0, 13) ?? ''), kind: 'chore', key: 'k1' },
      { id: idOf(0).replace(/^.{13}/, young[0]?.slice(0, 13) ?? ''), kind: 'chore', key: 'young' },
    ]),
    actor: 'test',
  });
  expect(again).toMatchObject({ enqueued: 1, duplicates: [{ index: 1, job_id: young[0] }] });
});

test('dead letters have a retention of their own', async () => {
  await makeDay(db, 400);
  await makeDay(db, 40);
  await oldJobs(db, 400, 2, 'dead_letter');
  await oldJobs(db, 40, 2, 'dead_letter');
  expect(await sweep()).toBe(2);
  expect(await statuses(db)).toEqual({ cleaned: 2, dead_letter: 2 });
});

// Days gone by
// ---------------------------------------------------------------------------------------------------------

test('a day goes with its cleaned jobs; what has not been cleaned is carried over as it was', async () => {
  await makeDay(db, 40);
  await oldJobs(db, 40, 50, 'succeeded');
  const kept = [
    ...(await oldJobs(db, 40, 3, 'dead_letter')),
    ...(await oldJobs(db, 40, 3, 'retry_waiting')),
    ...(await oldJobs(db, 40, 5, 'queued')),
    ...(await oldJobs(db, 40, 2, 'committed')),
  ];
  await claim(db, 2, { start: 1 });
  await call(db, 'writ.fn_job_cancel', { job_id: kept[6], reason: null, actor: 'test' });
  await sweep();
  const look = async () => [
    await db.query('select * from writ.job_queue where job_id = any ($1) order by job_id', [kept]),
    await db.query(
      'select * from writ.job_execution where job_id = any ($1) order by job_id, execution_no',
      [kept],
    ),
    await db.query('select * from writ_data.job_cancel'),
  ];
  const before = await look();
  expect(await retire()).toBe(1);
  expect(await look()).toEqual(before);
  expect(await statuses(db)).not.toHaveProperty('cleaned');
  expect(await disagreements(db)).toEqual([]);
  expect(await retire()).toBe(0); // nothing more to gain
  expect(await oldDays(db, 'job')).toEqual([40]);
  // What was carried over can still be worked on, and goes when it has ended and its time has come.
  const rest = await claim(db, 10, { start: 10 });
  expect(idsOf(rest).every((id) => kept.includes(id))).toBe(true);
  expect(await succeed(db, rest)).toMatchObject({ done: rest.jobs.length });
});

test('a day without jobs goes, and one in which nothing has been cleaned stays', async () => {
  await makeDay(db, 50);
  await makeDay(db, 40);
  await oldJobs(db, 40, 3, 'dead_letter');
  while ((await retire()) > 0);
  for (const table of jobTables) expect(await oldDays(db, table)).toEqual([40]);
  expect(await statuses(db)).toEqual({ dead_letter: 3 });
});

test('a day within its retention stays', async () => {
  await makeDay(db, 20);
  await oldJobs(db, 20, 3, 'succeeded');
  expect(await retire()).toBe(0);
  expect(await statuses(db)).toEqual({ succeeded: 3 });
});

test('days of the record go after their own time', async () => {
  for (const day of [100, 95, 80]) await makeDay(db, day, ['event_batch']);
  while ((await retire()) > 0);
  expect(await oldDays(db, 'event_batch')).toEqual([80]);
});

test('a day that a dump is reading stays for the next hour, and an enqueue does not wait for it', async () => {
  await makeDay(db, 40);
  await oldJobs(db, 40, 5, 'succeeded');
  await sweep();
  await a.query('begin');
  await a.query(
    'lock table writ_data.job, writ_data.job_execution, writ_data.job_cleaned, writ_data.event_batch in access share mode',
  );
  const turning = retire(b);
  await untilBlocked(db, b);
  const from = performance.now();
  await bulk(db, 1);
  const waited = performance.now() - from;
  expect(await turning).toBe(0);
  expect(waited).toBeLessThan(400); // a tenth of a second, and the rest of a busy machine
  await a.query('commit');
  expect(await oldDays(db, 'job')).toEqual([40]);
  while ((await retire()) > 0);
  expect(await oldDays(db, 'job')).toEqual([]);
});

test('nobody waits longer for a day with much to carry over, or for many days at once: one goes at a time', async () => {
  for (const day of [60, 59, 58, 57]) await makeDay(db, day);
  await oldJobs(db, 60, 1, 'succeeded');
  await oldJobs(db, 60, 4_900, 'dead_letter');
  await sweep();
  await b.query('begin');
  const from = performance.now();
  await retire(b);
  const held = performance.now() - from;
  await b.query('commit');
  expect(held).toBeLessThan(400); // a tenth of a second, and the rest of a busy machine
  // the oldest, with what was carried over
  expect(await oldDays(db, 'job')).toEqual([57, 58, 59, 60]);
  expect(await oldDays(db, 'event_batch')).toEqual([57, 58, 59, 60]);
  expect(await statuses(db)).toEqual({ dead_letter: 4900 });
  while ((await retire()) > 0);
  expect(await oldDays(db, 'job')).toEqual([60]);
});

test('a day with too much to carry over stays as it is, and nobody is locked out to find that out', async () => {
  await makeDay(db, 60);
  await makeDay(db, 50);
  await oldJobs(db, 60, 1, 'succeeded');
  await oldJobs(db, 60, 5_001, 'dead_letter');
  await sweep();
  await b.query('begin');
  await b.query(`select writ_data.retire_day((clock_timestamp() at time zone 'UTC')::date - 60)`);
  expect(
    await b.query(
      `select from pg_locks where mode = 'AccessExclusiveLock' and locktype = 'relation' and pid = pg_backend_pid()`,
    ),
  ).toEqual([]);
  await b.query('commit');
  expect(await retire()).toBe(1);
  expect(await oldDays(db, 'job')).toEqual([60]);
  expect(await statuses(db)).toEqual({ cleaned: 1, dead_letter: 5001 });
});

test('the clockwork comes around to all of it', async () => {
  await makeDay(db, 40);
  await makeDay(db, 41);
  await oldJobs(db, 40, 5, 'succeeded');
  await oldJobs(db, 41, 5, 'succeeded');
  for (let n = 0; n < 5; n++) {
    await tick(db);
    await db.clock.advance('61s');
  }
  expect(await oldDays(db, 'job')).toEqual([]);
  expect(await statuses(db)).toEqual({});
});
