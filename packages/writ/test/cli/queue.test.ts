import { afterEach, beforeEach, expect, test } from 'vitest';
import { defineJob, type Writ } from '../../src/index.js';
import { runUntilIdle, type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { json, writ as run, start } from './run.js';

let db: TestDatabase;
let writ: Writ;
let env: Record<string, string>;

beforeEach(async () => {
  db = await testDatabase();
  writ = await db.connect();
  env = { DATABASE_URL: db.connectionString };
});
afterEach(() => db.drop());

const greet = defineJob<{ name: string }>('greet', { retry: { attempts: 1 } });
const other = defineJob('other');
const fails = greet.handle(() => {
  throw new Error('line one\nline two \u001b[2J');
});

/** A job of kind greet that has failed for good. */
async function deadLetter(name = 'Ada'): Promise<string> {
  const { jobId } = await writ.enqueue(greet, { name });
  await runUntilIdle(writ, [fails], { skipTime: db });
  return jobId;
}

const statusOf = async (id: string) =>
  (await db.query('select status from writ.job_queue where job_id = $1', [id]))[0]?.status;

test('stats counts the backlog by kind', async () => {
  await writ.enqueueMany(greet, [{ input: { name: 'Ada' } }, { input: { name: 'Bob' } }]);
  await writ.enqueue(other, undefined, { delay: '1h' });
  expect(await json(['queue', 'stats'], { env })).toMatchObject({
    backlog: 2,
    waiting: 1,
    enabled: true,
    kinds: [
      { kind: 'greet', backlog: 2, inProgress: 0, deadLetters: 0 },
      { kind: 'other', backlog: 0 },
    ],
  });
  const { stdout } = await run(['queue', 'stats'], { env });
  expect(stdout).toMatch(/^backlog +2, the oldest for/m);
  expect(stdout).toMatch(/^greet +2 +0 +0$/m);
});

test('list shows the newest first, as many as were asked for', async () => {
  const enqueued = await writ.enqueueMany(
    greet,
    [1, 2, 3].map((n) => ({ input: { name: `${n}` }, key: `key-${n}` })),
  );
  const listed = await json<{ job_id: string }[]>(['queue', 'list', '--limit', '2'], { env });
  expect(listed.map((job) => job.job_id)).toEqual([enqueued[2]?.jobId, enqueued[1]?.jobId]);
  const { stdout, stderr } = await run(['queue', 'list', '--limit', '2'], { env });
  expect(stdout.trimEnd().split('\n')).toHaveLength(3);
  expect(stdout).toMatch(/greet +queued +0\/1 .* key-3/);
  expect(stderr).toContain('--limit');
});

test('list filters by kind and tenant', async () => {
  await writ.enqueue(greet, { name: 'Ada' }, { tenant: 'acme' });
  await writ.enqueue(greet, { name: 'Bob' }, { tenant: 'beta' });
  await writ.enqueue(other, undefined, { tenant: 'acme' });
  const listed = await json<{ tenant_id: string; job_kind: string }[]>(
    ['queue', 'list', '--kind', 'greet', '--tenant', 'acme'],
    { env },
  );
  expect(listed).toMatchObject([{ tenant_id: 'acme', job_kind: 'greet' }]);
});

test('list finds the jobs of every status', async () => {
  const dead = await deadLetter();
  const cancelled = (await writ.enqueue(other)).jobId;
  await writ.jobs.cancel(cancelled);
  const succeeded = (await writ.enqueue(other)).jobId;
  await runUntilIdle(writ, [other.handle(() => undefined)]);
  const queued = (await writ.enqueue(other)).jobId;
  const claimed = (await writ.enqueue(greet, { name: 'Bob' })).jobId;
  const [row] = await db.query(
    `select writ.fn_job_claim_many('{greet}', 'external_worker', 'me', 60, 1, 0) ->> 'lease_token' as token`,
  );
  const ids = async (status: string) =>
    (await json<{ job_id: string }[]>(['queue', 'list', '--status', status], { env })).map(
      (job) => job.job_id,
    );
  expect(await ids('dead_letter')).toEqual([dead]);
  expect(await ids('cancelled')).toEqual([cancelled]);
  expect(await ids('succeeded')).toEqual([succeeded]);
  expect(await ids('queued')).toEqual([queued]);
  expect(await ids('leased')).toEqual([claimed]);
  expect(await ids('in_progress')).toEqual([]);
  await db.query('select writ.fn_job_start_many($1, 1)', [row?.token]);
  expect(await ids('in_progress')).toEqual([claimed]);
  expect(await ids('retry_waiting')).toEqual([]);
});

test('an empty list says so, and is an empty array for programs', async () => {
  expect((await run(['queue', 'list'], { env })).stdout).toBe('No jobs yet.\n');
  expect(await json(['queue', 'list', '--status', 'queued'], { env })).toEqual([]);
});

test('show tells a job’s whole history, with its input and result', async () => {
  const { jobId } = await writ.enqueue(greet, { name: 'Ada' });
  await runUntilIdle(writ, [greet.handle(({ input }) => ({ greeting: `Hello ${input.name}` }))]);
  const shown = await json<{ events: { event_type: string }[] }>(['queue', 'show', jobId], { env });
  expect(shown).toMatchObject({
    job: { job_id: jobId, status: 'succeeded', attempts: 1 },
    executions: [{ execution_no: 1, status: 'DONE' }],
    input: { name: 'Ada' },
    result: { greeting: 'Hello Ada' },
  });
  expect(shown.events.map((event) => event.event_type)).toEqual(
    ['enqueued', 'leased', 'started', 'committed', 'succeeded'].map((fact) => `dot.job.${fact}`),
  );
  const { stdout } = await run(['queue', 'show', jobId.toUpperCase()], { env });
  for (const text of ['Hello Ada', 'dot.job.succeeded', 'DONE', '1 of 1'])
    expect(stdout).toContain(text);
});

test('show prints the stack of the last failed attempt', async () => {
  const { stdout } = await run(['queue', 'show', await deadLetter()], { env });
  expect(stdout).toMatch(
    /^stack of execution 1\n {2}Error: line one\n {2}line two .*\n {6}at .*queue\.test/m,
  );
  expect(stdout).not.toContain('\u001b');
});

test('show does not find another tenant’s job', async () => {
  const { jobId } = await writ.enqueue(greet, { name: 'Ada' }, { tenant: 'acme' });
  expect((await run(['queue', 'show', jobId, '--tenant', 'beta'], { env })).code).toBe(1);
  expect((await run(['queue', 'show', jobId, '--tenant', 'acme'], { env })).code).toBe(0);
});

test('a role that may not read payloads sees the rest of the job', async () => {
  const { jobId } = await writ.enqueue(greet, { name: 'Ada' });
  await db.query(
    `do $$ begin create role cli_auditor login password 'o8ntw3'; exception when duplicate_object then null; end $$`,
  );
  await db.query('grant writ_auditor to cli_auditor');
  const url = new URL(db.connectionString);
  url.username = 'cli_auditor';
  url.password = 'o8ntw3';
  const auditor = { env: { DATABASE_URL: url.href } };
  expect(await json(['queue', 'show', jobId], auditor)).not.toHaveProperty('input');
  expect((await run(['queue', 'show', jobId], auditor)).stdout).toContain(
    'not readable with this role',
  );
  const { code, stderr } = await run(['queue', 'cancel', jobId, '--reason', 'no'], auditor);
  expect([code, stderr]).toEqual([1, expect.stringContaining('workflow_admin')]);
});

test('text from the database has no power over the terminal', async () => {
  await deadLetter();
  const { stdout } = await run(['queue', 'list'], { env });
  expect(stdout).toContain('line one line two');
  expect(stdout).not.toContain('\u001b[2J');
});

test('cancel ends a queued job at once, with its reason on the record', async () => {
  const { jobId } = await writ.enqueue(greet, { name: 'Ada' });
  expect(
    await json(['queue', 'cancel', jobId, '--reason', 'a mistake', '--actor', 'ada'], { env }),
  ).toEqual({
    job_id: jobId,
    status: 'cancelled',
  });
  expect(await statusOf(jobId)).toBe('cancelled');
  expect(
    await db.query(`select actor, note from writ.command_run where command = 'fn_job_cancel'`),
  ).toEqual([{ actor: 'ada', note: 'a mistake' }]);
  const again = await run(['queue', 'cancel', jobId, '--reason', 'again'], { env });
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('has ended')]);
});

test('cancel of a job that a worker holds is a request', async () => {
  const { jobId } = await writ.enqueue(greet, { name: 'Ada' });
  await db.query(`select writ.fn_job_claim_many('{greet}', 'external_worker', 'me', 60, 1, 1)`);
  const { code, stdout } = await run(['queue', 'cancel', jobId, '--reason', 'stop'], { env });
  expect([code, stdout]).toEqual([0, expect.stringContaining('asked to stop')]);
});

test('requeue makes a new job of a dead letter, once', async () => {
  const id = await deadLetter();
  const { job_id: jobId } = await json<{ job_id: string }>(
    ['queue', 'requeue', id, '--reason', 'mended'],
    { env },
  );
  expect(await statusOf(jobId)).toBe('queued');
  expect(await statusOf(id)).toBe('cleaned');
  const again = await run(['queue', 'requeue', id, '--reason', 'mended'], { env });
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('replayed already')]);
});

test('requeue --all shows the dead letters of a kind, and does nothing without --yes', async () => {
  const ids = [await deadLetter('Ada'), await deadLetter('Bob')];
  const all = ['queue', 'requeue', '--all', '--kind', 'greet', '--reason', 'mended'];
  const preview = await run(all, { env });
  expect([preview.code, preview.stderr]).toEqual([
    1,
    expect.stringMatching(/these 2 dead letters[\s\S]*Add --yes/),
  ]);
  for (const id of ids) {
    expect(preview.stdout).toContain(id);
    expect(await statusOf(id)).toBe('dead_letter');
  }
  const done = await json<{ requeued: { parent_job_id: string }[]; refused: unknown[] }>(
    [...all, '--yes'],
    { env },
  );
  expect(done.requeued.map(({ parent_job_id }) => parent_job_id)).toEqual(ids);
  expect(done.refused).toEqual([]);
  for (const id of ids) expect(await statusOf(id)).toBe('cleaned');
  expect((await run(all, { env })).stdout).toBe('No dead letter of kind greet.\n');
});

test('a requeue that is refused exits 1 and changes nothing', async () => {
  const id = await deadLetter();
  await db.query(`select writ.fn_setting_set('queue.dlq.replay_enabled', 'false', 'test')`);
  const { code, stderr } = await run(
    ['queue', 'requeue', '--all', '--kind', 'greet', '--reason', 'mended', '--yes'],
    { env },
  );
  expect([code, stderr]).toEqual([1, expect.stringContaining('switched off')]);
  expect(await statusOf(id)).toBe('dead_letter');
});

test('a paused kind waits and is shown as paused, and a resumed one goes on', async () => {
  await writ.enqueue(greet, { name: 'Ada' });
  expect((await run(['queue', 'pause', 'greet', '--actor', 'ada'], { env })).stdout).toBe(
    'Paused greet.\n',
  );
  expect((await run(['queue', 'pause', 'greet'], { env })).stdout).toBe(
    'greet was paused already.\n',
  );
  expect((await run(['queue', 'stats'], { env })).stdout).toMatch(/^greet .* ago by ada$/m);
  expect(await json(['queue', 'resume', 'greet'], { env })).toEqual({
    kind: 'greet',
    changed: true,
  });
  expect((await run(['queue', 'pause', 'nobody'], { env })).code).toBe(1);
});

test('workers are listed with when they were heard', async () => {
  expect((await run(['queue', 'workers'], { env })).stdout).toMatch(/^No workers/);
  const worker = await writ.work([greet.handle(() => undefined)], { name: 'till' });
  expect((await run(['queue', 'workers'], { env })).stdout).toMatch(
    /\ntill +\d.* ago +0 .* greet\n/,
  );
  await worker.stop();
});

test('watch gives readings as lines of JSON: what comes, what is done, how long it waited', async () => {
  const watching = start(['queue', 'watch', '--json'], { env });
  await watching.saying(/"backlog":0/);
  await writ.enqueueMany(
    greet,
    Array.from({ length: 50 }, (_, i) => ({ input: { name: `${i}` } })),
  );
  await watching.saying(/"backlog":50/);
  await runUntilIdle(writ, [greet.handle(() => undefined)]);
  await watching.saying(/"succeeded_per_s":[1-9]/);
  watching.kill('SIGINT');
  const { code, stdout } = await watching.ended;
  const readings = stdout
    .trim()
    .split('\n')
    .map(
      (line) =>
        JSON.parse(line) as {
          enqueued_per_s: number;
          wait_p50_ms: number | null;
          wait_p99_ms: number | null;
          kinds: unknown[];
        },
    );
  expect(code).toBe(0);
  expect(readings.some((reading) => reading.enqueued_per_s > 0)).toBe(true);
  expect(
    readings.some(
      ({ wait_p50_ms, wait_p99_ms }) =>
        wait_p50_ms !== null && wait_p99_ms !== null && wait_p50_ms <= wait_p99_ms,
    ),
  ).toBe(true);
  expect(readings.flatMap(({ kinds }) => kinds)).toContainEqual(
    expect.objectContaining({ kind: 'greet', backlog: 50 }),
  );
});

test('watch without a terminal prints a line a second for people', async () => {
  const { code, stdout } = await run(['queue', 'watch', '--for', '100ms'], { env });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^\d\d:\d\d:\d\d {2}backlog 0 .*\n$/);
});

test('watch ends by Ctrl-C, and that is fine', async () => {
  const watching = start(['queue', 'watch', '--json'], { env });
  await watching.saying(/"backlog":0/);
  watching.kill('SIGINT');
  expect((await watching.ended).code).toBe(0);
});
