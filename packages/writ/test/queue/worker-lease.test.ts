/**
 * Leases of workers that are busy, stalled or gone. Those that block their event loop are processes
 * of their own.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { defineJob, type Writ } from '../../src/index.js';
import { runUntilIdle, type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { latch } from './latch.js';

let db: TestDatabase;
let writ: Writ;
const children: ChildProcess[] = [];

const block = defineJob('block', { retry: { attempts: 3, base: '1ms', cap: '1ms' } });
const within = <T>(check: () => Promise<T> | T) =>
  vi.waitFor(check, { timeout: 25_000, interval: 20 });
const job = async () => (await db.query('select status, attempts from writ.job_queue'))[0];
const effects = async () => (await db.query('select by from effects')).map(({ by }) => by);
const executions = () =>
  db.query('select status, abort_kind from writ.job_execution order by execution_no');

beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
  await db.query('create table effects (by text)');
  await writ.enqueue(block);
});
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await db.drop();
});

/**
 * Starts a worker whose handler begins and then waits to be told to block its event loop; answers
 * the lines that it prints.
 */
function blockedWorker(blockMs: number, lease: string, stall: string) {
  const file = fileURLToPath(new URL('./blocked-worker.mjs', import.meta.url));
  const child = spawn(
    process.execPath,
    [file, db.connectionString, String(blockMs), lease, stall],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  children.push(child);
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  return { lines, kill: () => child.kill('SIGKILL'), block: () => child.stdin.write('now') };
}

/** Resolves when the one lease there is has been renewed. */
async function renewed(by = '0 seconds') {
  const [first] = await within(async () => {
    const leases = await db.query('select leased_until from writ_data.job_lease');
    expect(leases).toHaveLength(1);
    return leases;
  });
  const later =
    'select from writ_data.job_lease where leased_until > $1::timestamptz + $2::interval';
  await within(async () =>
    expect(await db.query(later, [first?.leased_until, by])).toHaveLength(1),
  );
}

const rival = () =>
  writ.work(
    [
      block.handle(({ commit }) =>
        commit((tx) => tx.query(`insert into effects values ('rival')`)),
      ),
    ],
    { poll: '50ms' },
  );

// A machine may stand still for a moment without missing these leases. The thread that renews the
// shorter one runs from the start, that of the longer one from the first lease on.
test.each([
  ['3s', 9_000],
  ['5s', 12_000],
])(
  'a worker that blocks its event loop for longer than its lease of %s keeps it',
  {
    timeout: 60_000,
  },
  async (lease, blockMs) => {
    const child = blockedWorker(blockMs, lease, '60s');
    await renewed();
    const worker = await rival();
    child.block();
    await within(() => expect(child.lines).toHaveLength(2));
    expect(child.lines).toEqual(['begun', 'committed']);
    await within(async () => expect(await job()).toEqual({ status: 'succeeded', attempts: 1 }));
    await worker.stop();
    expect(await effects()).toEqual(['child']);
  },
);

test('a worker whose event loop stands still past the stall loses its lease, and can commit nothing when it wakes', {
  timeout: 60_000,
}, async () => {
  const child = blockedWorker(9_000, '1500ms', '1s');
  await renewed();
  const worker = await rival();
  child.block();
  await within(async () => expect(await job()).toEqual({ status: 'succeeded', attempts: 2 }));
  expect(child.lines).toEqual(['begun']); // it still stands
  await within(() => expect(child.lines).toHaveLength(2));
  await worker.stop();
  expect(['lease_lost', 'already_committed']).toContain(child.lines[1]);
  expect(await effects()).toEqual(['rival']);
  expect(await executions()).toEqual([
    { status: 'ABORTED', abort_kind: 'lease_expired' },
    { status: 'DONE', abort_kind: null },
  ]);
});

test('the job of a worker that was killed is done by another one', async () => {
  const child = blockedWorker(0, '1s', '60s');
  await within(() => expect(child.lines).toContain('begun'));
  child.kill();
  const worker = await rival();
  await within(async () => expect(await job()).toEqual({ status: 'succeeded', attempts: 2 }));
  await worker.stop();
  expect(await effects()).toEqual(['rival']);
});

test('a handler that outlives many leases is not disturbed', async () => {
  const begun = latch();
  const goOn = latch();
  let aborted = false;
  const handler = block.handle(async ({ signal }) => {
    begun.open();
    await goOn.opened;
    aborted = signal.aborted;
  });
  const worker = await writ.work([handler], { lease: '3s', poll: '50ms' });
  await begun.opened;
  await renewed('6 seconds'); // several times over
  goOn.open();
  await worker.stop();
  expect(aborted).toBe(false);
  expect(await job()).toEqual({ status: 'succeeded', attempts: 1 });
});

test('a handler whose lease was taken back is told by its signal, and what it returns is not reported', async () => {
  const begun = latch();
  const aborted = latch<unknown>();
  const handler = block.handle(
    ({ signal }) =>
      new Promise<void>((done) => {
        signal.addEventListener('abort', () => {
          aborted.open(signal.reason);
          done();
        });
        begun.open();
      }),
  );
  const worker = await writ.work([handler], { lease: '600ms', poll: '10m' });
  await begun.opened;
  // Together: the worker would renew it in between.
  await db.query(
    `update writ_data.job_lease set leased_until = writ.now() - interval '1 second'; select writ.fn_job_lease_reaper('test')`,
  );
  expect(await aborted.opened).toMatchObject({ code: 'lease_lost' });
  await worker.stop();
  expect(await executions()).toEqual([{ status: 'ABORTED', abort_kind: 'lease_expired' }]);
  await runUntilIdle(writ, [block.handle(() => undefined)], { skipTime: db });
  expect(await job()).toEqual({ status: 'succeeded', attempts: 2 });
});
