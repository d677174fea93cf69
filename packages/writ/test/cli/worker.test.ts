import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineJob, type Writ } from '../../src/index.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { eventually, fixture, type Running, writ as run, start } from './run.js';

let db: TestDatabase;
let writ: Writ;
let env: Record<string, string>;
let folder: string;
let running: Running[];

beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
  env = { DATABASE_URL: db.connectionString };
  folder = mkdtempSync(join(tmpdir(), 'writ-cli-'));
  running = [];
});
afterEach(async () => {
  for (const each of running) each.kill('SIGKILL');
  await Promise.all(running.map((each) => each.ended));
  rmSync(folder, { recursive: true });
  await db.drop();
});

const greet = defineJob<{ name: string; fail?: boolean }>('greet', { retry: { attempts: 1 } });
const slow = defineJob<{ ms: number }>('slow');
const endless = defineJob<Record<string, never>>('endless');

const work = (...args: string[]): Running => {
  const worker = start(['worker', fixture('jobs.mjs'), ...args], { env });
  running.push(worker);
  return worker;
};
const jobs = () => db.query('select status, attempts from writ.job_queue order by job_id');
const statuses = async () => (await jobs()).map((job) => job.status);

test('a worker runs what files export by name and in arrays, and sums up when it stops', async () => {
  await writ.enqueue(greet, { name: 'Ada' });
  await writ.enqueue(slow, { ms: 1 });
  const worker = work();
  await eventually(async () => (await statuses()).every((status) => status === 'succeeded'));
  worker.kill('SIGTERM');
  const { code, stdout } = await worker.ended;
  expect(code).toBe(0);
  expect(stdout).toMatch(/^Working on greet, slow, endless|^Working on slow, endless, greet/m);
  expect(stdout).toMatch(/^Stopped after .*: 2 jobs handled, 0 failed attempts\.$/m);
});

test('a failed attempt is a line with the job and the reason', async () => {
  const { jobId } = await writ.enqueue(greet, { name: 'Ada', fail: true });
  const worker = work();
  await worker.saying(new RegExp(`^✗ greet ${jobId} attempt 1: nobody there$`, 'm'));
  await eventually(async () => (await statuses())[0] === 'dead_letter');
  worker.kill('SIGINT');
  expect((await worker.ended).stdout).toMatch(/0 jobs handled, 1 failed attempt\.$/m);
});

test('with --json it speaks in lines of JSON', async () => {
  const { jobId } = await writ.enqueue(greet, { name: 'Ada', fail: true });
  const worker = work('--json');
  await worker.saying(/"event":"failed"/);
  worker.kill('SIGTERM');
  const events = (await worker.ended).stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { event: string });
  expect(events).toContainEqual(
    expect.objectContaining({
      event: 'failed',
      job_id: jobId,
      job_kind: 'greet',
      attempt: 1,
      message: 'nobody there',
    }),
  );
  expect(events.at(-1)).toMatchObject({ event: 'stopped', failed: 1 });
});

test('SIGTERM lets a running handler finish and burns no attempt of the others', async () => {
  // longer than it takes to see it running
  for (let i = 0; i < 3; i++) await writ.enqueue(slow, { ms: 5_000 });
  const worker = work('--concurrency', '1');
  await eventually(async () => (await statuses()).includes('in_progress'));
  worker.kill('SIGTERM');
  expect((await worker.ended).code).toBe(0);
  expect(await jobs()).toEqual([
    { status: 'succeeded', attempts: 1 },
    { status: 'queued', attempts: 0 },
    { status: 'queued', attempts: 0 },
  ]);
});

test('a handler that outlasts the grace is given back without an attempt', async () => {
  await writ.enqueue(endless, {});
  const worker = work('--grace', '100ms');
  await eventually(async () => (await statuses())[0] === 'in_progress');
  worker.kill('SIGTERM');
  const { code, stdout } = await worker.ended;
  expect(code).toBe(0);
  expect(stdout).toContain('1 job given back');
  expect(await jobs()).toEqual([{ status: 'queued', attempts: 0 }]);
});

test('a second signal ends the worker at once', async () => {
  await writ.enqueue(endless, {});
  const worker = work('--grace', '1h');
  await eventually(async () => (await statuses())[0] === 'in_progress');
  worker.kill('SIGINT');
  await worker.saying(/SIGINT: stopping, 1 handler may finish/);
  worker.kill('SIGINT');
  expect((await worker.ended).code).toBe(130);
});

test('a worker leaves the list of workers when it stops', async () => {
  const worker = work();
  const count = async () => (await db.query('select from writ.v_queue_heartbeat')).length;
  await eventually(async () => (await count()) === 1);
  worker.kill('SIGTERM');
  await worker.ended;
  expect(await count()).toBe(0);
});

test('a queue that is switched off is said once, with what to do', async () => {
  await db.query(`select writ.fn_setting_set('queue.job_substrate.enabled', 'false', 'test')`);
  const worker = work();
  await worker.saying(/Working on/);
  await worker.warning(/switched off/);
  await db.query(`select writ.fn_setting_set('queue.job_substrate.enabled', 'true', 'test')`);
  await writ.enqueue(greet, { name: 'Ada' });
  await eventually(async () => (await statuses())[0] === 'succeeded');
  worker.kill('SIGTERM');
  const { stderr } = await worker.ended;
  expect(stderr.match(/^writ: The queue is switched off/gm)).toHaveLength(1);
  expect(stderr).toContain('writ settings set queue.job_substrate.enabled true');
});

test('--health-port answers live and ready, is not ready while the worker cannot claim, and says nothing else', async () => {
  await writ.enqueue(endless, {});
  const worker = work('--health-port', '0', '--concurrency', '2', '--grace', '1h');
  const [, port] = await worker.saying(/\/live and \/ready answer on port (\d+)\./);
  const ask = async (path: string, method = 'GET') => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method });
    return [answer.status, (await answer.text()).trim()] as const;
  };
  const becomes = (path: string, status: number) =>
    eventually(async () => (await ask(path))[0] === status);
  await becomes('/ready', 200);
  expect([await ask('/live'), await ask('/ready')]).toEqual([
    [200, '{"live":true}'],
    [200, '{"ready":true}'],
  ]);
  expect([await ask('/'), await ask('/__proto__'), await ask('/ready', 'POST')]).toEqual([
    [404, ''],
    [404, ''],
    [405, ''],
  ]);

  await db.query(`select writ.fn_setting_set('queue.job_substrate.enabled', 'false', 'test')`);
  await becomes('/ready', 503);
  expect(await ask('/live')).toEqual([200, '{"live":true}']);
  await db.query(`select writ.fn_setting_set('queue.job_substrate.enabled', 'true', 'test')`);
  await becomes('/ready', 200);

  // An outage of the database: the worker is not ready, and a restart would not help.
  const url = new URL(db.directConnectionString);
  const name = url.pathname.slice(1);
  url.pathname = '/postgres';
  const admin = new pg.Client({ connectionString: url.href });
  await admin.connect();
  await admin.query(`alter database ${name} allow_connections false`);
  await admin.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
  );
  await becomes('/ready', 503);
  expect(await ask('/live')).toEqual([200, '{"live":true}']);
  await admin.query(`alter database ${name} allow_connections true`);
  await admin.end();
  await becomes('/ready', 200);

  // What stops finishes its handlers, alive, and takes nothing new.
  await eventually(async () => (await statuses())[0] === 'in_progress');
  worker.kill('SIGTERM');
  await becomes('/ready', 503);
  expect(await ask('/live')).toEqual([200, '{"live":true}']);
}, 60_000);

test('a health port that is taken exits 1 and names it', async () => {
  const other = createServer();
  await new Promise<void>((done) => other.listen(0, done));
  const { port } = other.address() as { port: number };
  const { code, stderr } = await work('--health-port', String(port)).ended;
  other.close();
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining(`Cannot listen on port ${port}: another process uses it.`),
  ]);
});

const module = (name: string, source: string): string => {
  const file = join(folder, name);
  writeFileSync(file, source);
  return file;
};

test('with --listen-url the worker listens there, and works where it always does', async () => {
  const elsewhere = new URL(db.directConnectionString);
  elsewhere.pathname = '/postgres';
  elsewhere.searchParams.set('application_name', 'listening elsewhere');
  const worker = work('--listen-url', elsewhere.href);
  await eventually(async () => {
    const rows = await db.query(
      `select from pg_stat_activity where datname = 'postgres' and query ilike 'listen %' and application_name in ('listening elsewhere', 'writ worker')`,
    );
    return rows.length > 0;
  });
  await writ.enqueue(greet, { name: 'Ada' });
  await eventually(async () => (await statuses())[0] === 'succeeded');
  worker.kill('SIGTERM');
  expect((await worker.ended).code).toBe(0);
});

test('an address to listen on that is none exits 2 and does not show it', async () => {
  const { code, stderr } = await work('--listen-url', 'mysql://ada:s3cret@host').ended;
  expect([code, stderr]).toEqual([2, expect.not.stringContaining('s3cret')]);
});

test('a file without handlers exits 2 and shows what to export', async () => {
  const { code, stderr } = await run(['worker', module('none.mjs', 'export const answer = 42;')], {
    env,
  });
  expect([code, stderr]).toEqual([2, expect.stringContaining('.handle(')]);
});

test('a file that does not exist exits 2', async () => {
  const { code, stderr } = await run(['worker', join(folder, 'nothing.mjs')], { env });
  expect([code, stderr]).toEqual([2, expect.stringContaining('does not exist')]);
});

test('a file that is not JavaScript exits 2', async () => {
  expect((await run(['worker', module('jobs.yaml', 'a: b')], { env })).code).toBe(2);
});

test('a file that breaks when it is loaded exits 1 with its message', async () => {
  const { code, stderr } = await run(
    ['worker', module('broken.mjs', `throw new Error('no configuration')`)],
    { env },
  );
  expect([code, stderr]).toEqual([1, expect.stringContaining('no configuration')]);
});

test('two handlers for one kind exit 2', async () => {
  const second = module(
    'second.mjs',
    `export default { job: { kind: 'greet', options: {}, definition: {} }, run() {} };`,
  );
  const { code, stderr } = await run(['worker', fixture('jobs.mjs'), second], { env });
  expect([code, stderr]).toEqual([2, expect.stringContaining('greet has two handlers')]);
});

test('a worker on a database without Writ exits 3', async () => {
  const url = new URL(db.connectionString);
  url.pathname = '/template1';
  expect((await run(['worker', fixture('jobs.mjs'), '--database-url', url.href])).code).toBe(3);
});
