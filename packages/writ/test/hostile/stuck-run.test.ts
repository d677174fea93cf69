/**
 * One producer's plan stops nobody else: numbers have bounds, and a run that cannot be moved is set
 * aside.
 */
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { uuidv7 } from '../../src/database/uuid.js';
import { type TestDatabase, testDatabase } from '../../src/testing/index.js';
import { type Login, login } from './logins.js';

let db: TestDatabase;
let producer: Login;
let worker: Login;
let engine: Login;
const kinds = `select writ.fn_job_kind_register('act', '{}'::jsonb, 'test')`;

beforeEach(async () => {
  db = await testDatabase();
  await db.query(kinds);
  producer = await login(db, ['writ_producer']);
  worker = await login(db, ['writ_worker']);
  engine = await login(db, ['writ_engine']);
});
afterEach(async () => {
  for (const one of [producer, worker, engine]) await one.end();
  await db.drop();
});

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const timer = (id: string, ms: unknown, after: string[] = []) => ({ after, id, ms, type: 'timer' });
const job = (id: string, after: string[] = [], more: object = {}) => ({
  after,
  id,
  kind: 'act',
  type: 'job',
  ...more,
});

async function register(steps: unknown[], planId = 'p', more: object = {}) {
  const document = JSON.stringify({ planId, planVersion: '1', schemaVersion: 1, steps, ...more });
  const answer = await producer.call('fn_plan_register', {
    document,
    sha256: sha256(document),
    actor: 'producer',
  });
  return { answer, hash: sha256(document) };
}

async function start(planId: string, hash: string, more: object = {}) {
  const run = {
    run_id: uuidv7(),
    plan_id: planId,
    plan_version: '1',
    sha256: hash,
    input: { n: 1 },
    tenant: planId,
    ...more,
  };
  const answer = await producer.call('fn_run_start_many', {
    runs: JSON.stringify([run]),
    actor: 'producer',
  });
  return { runId: run.run_id, answer };
}

const claim = () =>
  worker.call('fn_job_claim_many', {
    kinds: ['act'],
    executor: 'external_worker',
    lease_holder: 'w',
    limit: 10,
    start: 10,
  });
const tick = () => engine.call('fn_job_tick', { actor: 'engine' });
const statusOf = async (runId: string) =>
  (await db.query('select status from writ.run where run_id = $1', [runId]))[0]?.status;
const stuck = async () =>
  db.query(
    `select tenant_id, subject from writ.alert where code = 'RUN_STUCK' and cleared_at is null`,
  );

/** The steps of a plan that a superuser has damaged: no gate would have taken it. */
const damage = (planId: string, stepId: string) =>
  db.query(
    `update writ_data.plan_step s set plain = false,
       condition = case when s.step_id = $2 then '{"ref": "input.n", "above": "x"}'::jsonb end
     from writ_data.plan p where p.plan_no = s.plan_no and p.plan_id = $1`,
    [planId, stepId],
  );

describe('a producer', () => {
  test('cannot stop the clockwork with a timer of 9e18 ms', async () => {
    const { answer } = await register([timer('a', 1), timer('b', 9e18, ['a'])], 'bad');
    expect(answer).toMatchObject({ refused: true, reason: 'INVALID_STEP_SCHEMA' });
    const { hash } = await register([timer('a', 1)], 'good');
    const { runId } = await start('good', hash);
    await db.clock.advance('1s');
    await tick();
    expect(await statusOf(runId)).toBe('COMPLETED');
  });

  test.each<[string, unknown]>([
    ['a timer of no time', timer('a', 0)],
    ['a timer of a fraction', timer('a', 1.5)],
    ['a timer of text', timer('a', '5')],
    ['a timer that is negative', timer('a', -1)],
    ['a timer with the kind of a job', { ...timer('a', 1), kind: 'act' }],
    ['a timeout of 1e300', job('a', [], { timeoutMs: 1e300 })],
    ['a million attempts', job('a', [], { retry: { attempts: 1e6 } })],
    [
      'a million attempts to undo',
      job('a', [], { compensate: { kind: 'act', retry: { attempts: 1e6 } } }),
    ],
    [
      'a list a billion wide',
      { id: 'a', kind: 'act', over: { $ref: 'input' }, parallel: 1e9, type: 'each' },
    ],
    ['a wait of 9e18 ms', { event: 'e', id: 'a', timeoutMs: 9e18, type: 'wait' }],
    ['an event of a megabyte', { event: 'e'.repeat(100_000), id: 'a', type: 'wait' }],
    [
      'a condition that compares with a text',
      job('a', [], { when: { ref: 'input.n', above: 'x' } }),
    ],
    ['a condition that is none', job('a', [], { when: 'x' })],
    ['a condition about a wish', job('a', [], { when: { ref: 'input.n', exists: 'maybe' } })],
    ['the name of the run', job('RUN')],
    ['a field that no step has', job('a', [], { undo_of: 1 })],
    ['a reserved kind', { id: 'a', kind: 'governance.change', type: 'job' }],
    ['a reserved kind to undo', job('a', [], { compensate: { kind: 'writ.timer' } })],
    ['an after that is a text', { ...job('a'), after: 'a' }],
    ['no object', 7],
  ])('cannot register a step with %s', async (_, step) => {
    expect((await register([step])).answer).toMatchObject({
      refused: true,
      reason: 'INVALID_STEP_SCHEMA',
    });
  });

  test('cannot register a plan that is nested too deeply', async () => {
    const deep = (n: number): unknown => JSON.parse(`${'['.repeat(n)}${']'.repeat(n)}`);
    expect((await register([job('a', [], { input: deep(1_000) })])).answer).toMatchObject({
      reason: 'INVALID_STEP_SCHEMA',
    });
    const document = `{"planId":"p","planVersion":"1","schemaVersion":1,"steps":${'['.repeat(60_000)}${']'.repeat(60_000)}}`;
    const answer = await producer.call('fn_plan_register', {
      document,
      sha256: sha256(document),
      actor: 'p',
    });
    expect(answer).toMatchObject({ reason: 'INVALID_STEP_SCHEMA' });
  });

  test('can neither register nor start a plan under a name of governance', async () => {
    expect((await register([job('s1')], 'governed')).answer).toMatchObject({
      refused: true,
      reason: 'reserved_job_kind',
    });
    const { answer } = await start('governed', sha256('x'));
    expect(answer.refused).toMatchObject([{ reason: 'reserved_job_kind' }]);
  });
});

describe('a run that cannot be moved', () => {
  test('fails with an alert when its timer ends, and timers of other tenants end in the same turn', async () => {
    const bad = await register([timer('a', 1), job('b', ['a'])], 'bad');
    const good = await register([timer('a', 1)], 'good');
    await damage('bad', 'b');
    const broken = await start('bad', bad.hash);
    const { runId } = await start('good', good.hash);
    await db.clock.advance('1s');
    await tick();
    expect(await statusOf(runId)).toBe('COMPLETED');
    expect(await statusOf(broken.runId)).toBe('FAILED');
    expect(await stuck()).toEqual([{ tenant_id: 'bad', subject: `run/${broken.runId}` }]);
  });

  test('does not stop the other runs of the same report', async () => {
    const bad = await register([job('a'), job('b', ['a'])], 'bad');
    const good = await register([job('a')], 'good');
    await damage('bad', 'b');
    const broken = await start('bad', bad.hash);
    const { runId } = await start('good', good.hash);
    const claimed = await claim();
    const { lease_token, jobs } = claimed as { lease_token: string; jobs: unknown[] };
    expect(jobs).toHaveLength(2);
    await worker.call('fn_job_succeed_many', { lease_token, positions: [1, 2] });
    expect(await statusOf(runId)).toBe('COMPLETED');
    expect(await statusOf(broken.runId)).toBe('FAILED');
    expect(await stuck()).toHaveLength(1);
  });

  test('does not stop other leases from being taken back', async () => {
    const bad = await register([job('a'), job('b', ['a'])], 'bad');
    await damage('bad', 'b');
    const broken = await start('bad', bad.hash);
    const { lease_token, jobs } = (await claim()) as { lease_token: string; jobs: [string][] };
    await worker.call('fn_job_commit', { job_id: jobs[0]?.[0], lease_token });
    await db.clock.advance('10m');
    await tick();
    expect(await statusOf(broken.runId)).toBe('FAILED');
    expect(await stuck()).toHaveLength(1);
  });

  test('does not stop other queued runs from starting', async () => {
    await db.query(`select writ.fn_admission_put('*', 'QUEUE', 1, 10, null, 'test')`);
    const bad = await register([job('a')], 'bad');
    const good = await register([job('a')], 'good');
    for (const [plan, { hash }] of [
      ['bad', bad],
      ['good', good],
    ] as const)
      await start(plan, hash, { tenant: 't' });
    await damage('bad', 'a');
    const [waiting] = await db.query(`select run_id from writ.run where plan_id = 'good'`);
    await db.query(`update writ_data.run set status = 'COMPLETED' where status = 'RUNNING'`);
    const broken = await start('bad', bad.hash, { tenant: 't', priority: 5 });
    await db.query(`select writ.fn_admission_put('*', 'QUEUE', 5, 10, null, 'test')`);
    await engine.call('fn_run_dequeue_many', { actor: 'engine' });
    expect(await statusOf(String(waiting?.run_id))).toBe('RUNNING');
    expect(await statusOf(broken.runId)).toBe('CANCELLED');
  });

  test('does not stop the watch over pauses with an attempt id that is not a number', async () => {
    const { hash } = await register([job('a')], 'foreign');
    const { runId } = await start('foreign', hash, { engine: 'external' });
    const append = (eventType: string, more: object = {}) =>
      producer.call('fn_run_append', {
        run_id: runId,
        event: JSON.stringify({ eventType, ...more }),
        actor: 'p',
      });
    for (const [type, more] of [
      ['RunStarted', {}],
      ['StepStarted', { stepId: 'a', logicalAttemptId: 'one', eventData: { jobId: 'none' } }],
      ['RunPaused', {}],
    ] as const)
      expect(await append(type, more)).not.toHaveProperty('refused');
    await db.clock.advance('10m');
    expect(await tick()).not.toHaveProperty('busy');
  });
});

test('a template cannot expand a small input into a huge one', async () => {
  const input = Object.fromEntries(
    Array.from({ length: 100 }, (_, n) => [`k${n}`, { $ref: 'input' }]),
  );
  const { hash } = await register([timer('t', 1), job('a', ['t'], { input })], 'wide');
  const { runId } = await start('wide', hash, { input: 'x'.repeat(100_000) });
  await db.clock.advance('1s');
  await tick();
  expect(await statusOf(runId)).toBe('FAILED');
});

test.each<[string, (good: Record<string, unknown>) => unknown, string]>([
  ['that is no object', () => 7, 'invalid_argument'],
  ['with an id that is none', (good) => ({ ...good, run_id: 'x' }), 'invalid_argument'],
  ['with a priority that overflows', (good) => ({ ...good, priority: 99_999 }), 'invalid_argument'],
  [
    'whose template grows too large',
    (good) => ({ ...good, input: { n: 'x'.repeat(900_000) } }),
    'payload_too_large',
  ],
])('a start %s is refused by itself, and those beside it start', async (_, spoil, reason) => {
  const { hash } = await register(
    [job('a', [], { input: { x: { $ref: 'input.n' }, y: { $ref: 'input.n' } } })],
    'p',
  );
  const good = () => ({
    run_id: uuidv7(),
    plan_id: 'p',
    plan_version: '1',
    sha256: hash,
    input: { n: 1 },
    tenant: 'acme',
  });
  const runs = [good(), good(), spoil(good()), good(), good()];
  const answer = await producer.call('fn_run_start_many', {
    runs: JSON.stringify(runs),
    actor: 'producer',
  });
  expect(answer.refused).toMatchObject([{ index: 2, reason }]);
  expect((answer.runs as { index: number }[]).map(({ index }) => index)).toEqual([0, 1, 3, 4]);
  expect(await db.query(`select from writ.run where status = 'RUNNING'`)).toHaveLength(4);
});

test('a start with ten thousand items that are no runs refuses each within seconds, and starts the one that is a run', async () => {
  const { hash } = await register([job('a')]);
  const good = {
    run_id: uuidv7(),
    plan_id: 'p',
    plan_version: '1',
    sha256: hash,
    input: { n: 1 },
    tenant: 'acme',
  };
  const bad = [
    7,
    null,
    [],
    {},
    { ...good, run_id: 'x' },
    { ...good, priority: 1e9 },
    { ...good, original_run_id: 7 },
  ];
  const runs: unknown[] = Array.from({ length: 9_999 }, (_, n) => bad[n % bad.length]);
  runs.splice(5_000, 0, good);
  await producer.query(`set statement_timeout = '20s'`);
  const answer = await producer.call('fn_run_start_many', {
    runs: JSON.stringify(runs),
    actor: 'producer',
  });
  expect(answer.runs).toEqual([{ index: 5_000, run_id: good.run_id, duplicate: false }]);
  const refused = answer.refused as { index: number; reason: string }[];
  expect(refused.map(({ index }) => index)).toEqual(
    runs.flatMap((run, index) => (run === good ? [] : [index])),
  );
  expect(new Set(refused.map(({ reason }) => reason))).toEqual(
    new Set(['invalid_argument', 'INVALID_RUN_ID']),
  );
});
