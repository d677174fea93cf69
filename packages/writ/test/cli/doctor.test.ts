import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineJob, type Writ } from '../../src/index.js';
import { runUntilIdle, type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { sealEverything } from '../ledger/sealing.js';
import { writ as run } from './run.js';

interface Finding {
  check: string;
  level: string;
  says: string;
  remedy?: string;
}

let db: TestDatabase;
let writ: Writ;
let env: Record<string, string>;

beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
  env = { DATABASE_URL: db.connectionString };
  await sealEverything(db); // the record of the installation, which may be some minutes old
});
afterEach(() => db.drop());

const greet = defineJob('greet', { retry: { attempts: 1 } });
const beat = (worker = 'w1') =>
  db.query(`select writ.fn_queue_heartbeat($1, 'external_worker', '{dot}', 10)`, [worker]);

async function examine(): Promise<{
  code: number | null;
  findings: Finding[];
  of: (check: string) => Finding[];
}> {
  const { code, stdout } = await run(['doctor', '--json'], { env });
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  return { code, findings, of: (check) => findings.filter((finding) => finding.check === check) };
}

/** What is wrong, but for what the tests' server is: quick, not durable. */
const wrong = (findings: readonly Finding[]) =>
  findings.filter(
    ({ level, says }) => (level === 'warning' || level === 'error') && says !== 'fsync is off',
  );

test('a healthy installation is all ok and exits 0', async () => {
  await beat();
  const { code, findings } = await examine();
  expect(wrong(findings)).toEqual([]);
  expect(code).toBe(0);
  // Partitions are looked at where there are any.
  expect(
    new Set(findings.map((finding) => finding.check).filter((check) => check !== 'partitions')),
  ).toEqual(
    new Set([
      'connection',
      'connections',
      'clock',
      'pooler',
      'settings',
      'snapshots',
      'schema',
      'roles',
      'owner',
      'logins',
      'log',
      'dead rows',
      'changes',
      'incidents',
      'probes',
      'trust',
      'queue',
      'workers',
      'backlog',
      'dead letters',
      'destinations',
      'leases',
      'alerts',
      'runs',
      'ledger',
      'checkpoints',
      'governors',
      'driving',
      'governor months',
    ]),
  );
  const { stdout } = await run(['doctor'], { env });
  expect(stdout).toMatch(/^✓ connection +PostgreSQL 1\d/m);
  expect(stdout).toMatch(/: \d+ ok, 2 hints, 1 warning, 0 errors$/m);
});

test('everything that is not ok says what to do', async () => {
  await writ.enqueue(greet);
  const { findings } = await examine();
  for (const finding of findings.filter(({ level }) => level !== 'ok'))
    expect(finding.remedy).toEqual(expect.any(String));
});

test('a backlog without a worker is an error and exits 1', async () => {
  expect((await examine()).of('workers')).toMatchObject([{ level: 'warning', says: 'None' }]);
  await writ.enqueue(greet);
  const { code, of } = await examine();
  expect(of('workers')).toMatchObject([
    { level: 'error', remedy: expect.stringContaining('writ worker') },
  ]);
  expect(code).toBe(1);
});

test('a worker that has not been heard is named', async () => {
  await beat('silent one');
  await db.clock.advance('1h');
  await beat('fresh one');
  const { code, of } = await examine();
  expect(of('workers')).toMatchObject([
    { level: 'ok', says: '1 fresh, 0 late, 1 silent' },
    { level: 'warning', says: expect.stringContaining('silent one') },
  ]);
  expect(code).toBe(0);
});

test('an old backlog is a warning', async () => {
  await writ.enqueue(greet);
  await db.clock.advance('10m');
  await beat();
  expect((await examine()).of('backlog')).toMatchObject([
    { level: 'warning', says: expect.stringMatching(/^1 job can begin, the oldest for 10 min/) },
  ]);
});

test('switches that are off are warnings', async () => {
  for (const key of ['queue.job_substrate.enabled', 'queue.lease.reaper_enabled'])
    await db.query('select writ.fn_setting_set($1, $2, $3)', [key, 'false', 'test']);
  const { of } = await examine();
  expect(of('queue').map((finding) => finding.remedy)).toEqual([
    expect.stringContaining('set queue.job_substrate.enabled true'),
    expect.stringContaining('set queue.lease.reaper_enabled true'),
  ]);
});

test('open dead letters are a warning', async () => {
  await writ.enqueue(greet);
  const fails = greet.handle(() => {
    throw new Error('no');
  });
  await runUntilIdle(writ, [fails]);
  expect((await examine()).of('dead letters')).toMatchObject([
    { level: 'warning', says: '1 wait for a person' },
  ]);
});

test('a lease that expired and was not taken back is an error', async () => {
  await writ.enqueue(greet);
  await db.query(`select writ.fn_job_claim_many('{greet}', 'external_worker', 'me', 60, 1, 1)`);
  await beat();
  expect((await examine()).of('leases')).toMatchObject([{ level: 'ok' }]);
  await db.clock.advance('5m');
  const { code, of } = await examine();
  expect(of('leases')).toMatchObject([
    { level: 'error', says: expect.stringMatching(/^1 lease with 1 job expired/) },
  ]);
  expect(code).toBe(1);
});

test('a gate of another version is a warning, a migration that differs an error', async () => {
  await beat();
  await db.query(
    `update writ_data.schema_object set sha256 = 'older' where name = 'writ.fn_job_cancel'`,
  );
  expect((await examine()).of('schema')).toMatchObject([
    { level: 'warning', says: expect.stringContaining('writ.fn_job_cancel') },
  ]);
  await db.query(`update writ_data.schema_migration set sha256 = 'other'`);
  const { code, of } = await examine();
  expect(of('schema')).toMatchObject([{ level: 'error' }]);
  expect(code).toBe(1);
});

test('an object of another owner is named', async () => {
  await db.query('alter view writ.job_queue owner to current_user');
  expect((await examine()).of('owner')).toMatchObject([
    { level: 'warning', says: expect.stringMatching(/1 object .*writ\.job_queue/) },
  ]);
});

test('a database without Writ is an error and exits 3', async () => {
  const url = new URL(db.connectionString);
  url.pathname = '/template1';
  env = { DATABASE_URL: url.href };
  const { code, of } = await examine();
  expect(of('schema')).toMatchObject([
    { level: 'error', remedy: expect.stringContaining('writ migrate') },
  ]);
  expect(code).toBe(3);
});

test('a database that cannot be reached exits 3', async () => {
  expect((await run(['doctor'], { env: { DATABASE_URL: 'postgres://127.0.0.1:1/x' } })).code).toBe(
    3,
  );
});

test('somebody who only operates can run it, and sees what the role may see', async () => {
  await db.query(
    `do $$ begin create role cli_operator login password 'o8ntw3'; exception when duplicate_object then null; end $$`,
  );
  await db.query('grant workflow_admin to cli_operator');
  const url = new URL(db.connectionString);
  url.username = 'cli_operator';
  url.password = 'o8ntw3';
  env = { DATABASE_URL: url.href };
  await beat();
  const { code, findings, of } = await examine();
  expect(wrong(findings)).toEqual([]);
  expect(of('snapshots')).toMatchObject([
    { level: 'ok' },
    { level: 'hint', remedy: expect.stringContaining('grant pg_monitor to cli_operator;') },
  ]);
  expect(code).toBe(0);
});

test('a clock of gates that somebody has moved is a warning', async () => {
  await beat();
  expect((await examine()).of('clock')).toMatchObject([{ level: 'ok' }]);
  await db.query(`create or replace function writ.now() returns timestamptz language sql volatile
    as $$ select pg_catalog.clock_timestamp() - interval '1 hour' $$`);
  expect((await examine()).of('clock')).toMatchObject([
    { level: 'ok' },
    { level: 'warning', says: expect.stringContaining('60 min behind') },
  ]);
});

test('a kind that no fresh worker serves is named, as long as a worker says what it serves', async () => {
  await db.query(`select writ.fn_queue_heartbeat('w1', 'external_worker', '{dot}', 10, '{other}')`);
  await writ.enqueue(greet);
  expect((await examine()).of('workers')).toMatchObject([
    { level: 'ok' },
    { level: 'warning', says: 'None serves greet (1 job)' },
  ]);
  await db.query(`select writ.fn_queue_heartbeat('w2', 'external_worker', '{dot}', 10, '{greet}')`);
  expect((await examine()).of('workers')).toMatchObject([{ level: 'ok' }]);
});

test('an address to listen on is tried when it is given', async () => {
  await beat();
  const listen = async (url: string) => {
    const { stdout } = await run(['doctor', '--json', '--listen-url', url], { env });
    return (JSON.parse(stdout) as { findings: Finding[] }).findings.filter(
      ({ check }) => check === 'pooler',
    );
  };
  expect(await listen(db.directConnectionString)).toMatchObject([
    { level: 'ok', says: expect.stringContaining('at the address to listen on') },
  ]);
  const elsewhere = new URL(db.directConnectionString);
  elsewhere.pathname = '/postgres';
  expect(await listen(elsewhere.href)).toMatchObject([{ level: 'warning' }]);
  expect((await run(['doctor', '--listen-url', 'nonsense'], { env })).code).toBe(2);
});
