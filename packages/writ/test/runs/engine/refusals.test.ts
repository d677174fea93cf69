/** What must not happen: each is refused with its code, and nothing has changed. */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { uuidv7 } from '../../../src/database/uuid.js';
import { defineJob, definePlan, NativeEngine, type PlanRef } from '../../../src/index.js';
import { session } from '../../races/sessions.js';
import { codeOf, scene } from './scene.js';

const s = scene();
const act = defineJob<unknown>('act');
const plan = definePlan<unknown>('row', { version: '1.0.0' }, (p) => {
  p.step('a', act);
});
const other = definePlan<unknown>('row', { version: '1.0.0' }, (p) => {
  p.step('b', act);
});
const context = (more: object = {}) => ({
  tenantId: 'acme',
  projectId: 'shop',
  environmentId: 'test',
  runId: uuidv7(),
  targetAdapter: 'native',
  ...more,
});
const native = async () => {
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({ connectionString: s.db.connectionString, max: 1 });
  return { engine: new NativeEngine(pool, s.writ.runs, 'test'), end: () => pool.end() };
};
const everything = async () => ({
  plans: await s.db.query('select * from writ_data.plan'),
  runs: await s.db.query('select * from writ_data.run'),
  events: await s.db.query('select * from writ_data.run_event'),
  requests: await s.db.query('select * from writ_data.run_request'),
  jobs: await s.db.query('select * from writ_data.job'),
});
/** Starts through the gate, as anybody could. */
const startMany = async (...runs: object[]) => {
  const [row] = await s.db.query(`select writ.fn_run_start_many($1, 'test') as answer`, [
    JSON.stringify(runs),
  ]);
  return row?.answer as {
    runs: object[];
    refused: { index: number; reason: string }[];
    reason?: string;
  };
};
const item = (more: object = {}) => ({
  run_id: uuidv7(),
  plan_id: 'row',
  plan_version: '1.0.0',
  sha256: plan.sha256,
  input: {},
  ...more,
});

/** A UUIDv7 of this time. */
const idAt = (ms: number) => {
  const hex = Math.floor(ms).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7${randomUUID().slice(15)}`;
};

describe('a plan that is not what its reference says', () => {
  test.each<[string, Partial<PlanRef>]>([
    ['another hash', { sha256: 'ab'.repeat(32) }],
    ['the hash of another plan', { sha256: other.sha256 }],
    ['another size', { sizeBytes: 1 }],
    ['an expiry that has passed', { expiresAt: '2020-01-01T00:00:00Z' }],
  ])('is not started: %s', async (_, change) => {
    await s.writ.runs.register(plan as never);
    const { engine, end } = await native();
    try {
      const before = await everything();
      expect(await codeOf(engine.startRun({ ...plan.ref, ...change }, context()))).toBe(
        'PLAN_INTEGRITY_VALIDATION_FAILED',
      );
      expect(await everything()).toEqual(before);
    } finally {
      await end();
    }
  });

  test('is not started by the gate either', async () => {
    await s.writ.runs.register(plan as never);
    const before = await everything();
    for (const sha256 of ['ab'.repeat(32), other.sha256, '', undefined]) {
      expect((await startMany(item({ sha256 }))).refused).toMatchObject([
        { index: 0, reason: 'PLAN_INTEGRITY_VALIDATION_FAILED' },
      ]);
    }
    expect(await everything()).toEqual(before);
  });

  test('does not keep others in the same call from starting', async () => {
    await s.writ.runs.register(plan as never);
    const answer = await startMany(item(), item({ sha256: other.sha256 }), item());
    expect(answer.runs).toHaveLength(2);
    expect(answer.refused).toMatchObject([
      { index: 1, reason: 'PLAN_INTEGRITY_VALIDATION_FAILED' },
    ]);
  });

  test('is not registered', async () => {
    const text = new TextDecoder().decode(plan.canonical);
    await s.writ.runs.register(plan as never);
    const before = await everything();
    for (const [document, sha256] of [
      [text.replace('"a"', '"z"'), plan.sha256],
      [text, other.sha256],
    ]) {
      const [row] = await s.db.query(`select writ.fn_plan_register($1, $2, 'test') as answer`, [
        document,
        sha256,
      ]);
      expect(row?.answer).toMatchObject({
        refused: true,
        reason: 'PLAN_INTEGRITY_VALIDATION_FAILED',
      });
    }
    expect(await everything()).toEqual(before);
  });
});

test.each([
  ['a NUL character', 'a\0b'],
  ['half a surrogate pair', 'a\ud800'],
])(
  'a text with %s is refused as an input and as a payload, and ends a step that answers it',
  async (_, text) => {
    const answering = definePlan<unknown>('answering', { version: '1.0.0' }, (p) => {
      p.step('a', act);
      p.waitFor('w', { event: 'go' });
    });
    expect(await codeOf(s.writ.start(answering, { text }))).toBe('invalid_text');
    const run = await s.writ.start(answering, { text: '\\u0000 and \\ud800 are words' });
    expect(await codeOf(s.writ.runs.deliver(run.runId, 'go', { text }))).toBe(
      'SIGNAL_INVALID_PAYLOAD',
    );
    await s.work([act.handle(() => ({ text }))], { onError: () => undefined });
    const { steps } = await s.ended(run.runId);
    expect(steps.find(({ stepId }) => stepId === 'a')).toMatchObject({ status: 'FAILED' });
  },
);

test('a version of a plan that is there has no other content, whoever asks', async () => {
  await s.writ.start(plan, {});
  const before = await everything();
  expect(await codeOf(s.writ.start(other, {}))).toBe('PLAN_VERSION_EXISTS');
  expect(await everything()).toEqual(before);
  await s.writ.runs.register(plan as never);
});

test('a stored plan cannot be changed, even by its owner', async () => {
  await s.writ.runs.register(plan as never);
  for (const sql of [`update writ_data.plan set document = '{}'`, 'delete from writ_data.plan'])
    expect(await codeOf(s.db.query(sql))).toBeDefined();
});

test('a plan that nobody registered, and an engine that is another one, start nothing', async () => {
  const { engine, end } = await native();
  try {
    expect(await codeOf(engine.startRun(plan.ref, context()))).toBe('PLAN_NOT_FOUND');
    await s.writ.runs.register(plan as never);
    expect(await codeOf(engine.startRun(plan.ref, context({ targetAdapter: 'temporal' })))).toBe(
      'CAPABILITIES_NOT_SUPPORTED',
    );
    expect((await everything()).runs).toEqual([]);
  } finally {
    await end();
  }
});

describe('the id of a run', () => {
  test.each<[string, string]>([
    ['a UUIDv4', randomUUID()],
    ['no UUID', 'run-1'],
    ['two hours old', idAt(Date.now() - 7_200_000)],
    ['ten minutes ahead', idAt(Date.now() + 600_000)],
    ['of another variant', '0198c0de-0000-7000-c000-000000000001'],
  ])('that is %s is refused', async (_, runId) => {
    await s.writ.runs.register(plan as never);
    const before = await everything();
    expect(await codeOf(s.writ.start(plan, {}, { runId }))).toBe('INVALID_RUN_ID');
    expect(await everything()).toEqual(before);
  });

  test('that was given again answers the same run, and starts nothing', async () => {
    const runId = uuidv7();
    await s.writ.start(plan, {}, { runId });
    const before = await everything();
    expect((await s.writ.start(plan, {}, { runId })).runId).toBe(runId);
    expect(await everything()).toEqual(before);
  });

  test('that another tenant has is taken, and tells nothing of it', async () => {
    const runId = uuidv7();
    await s.writ.start(plan, { secret: 1 }, { runId, tenant: 'acme' });
    const before = await everything();
    expect(await codeOf(s.writ.start(plan, {}, { runId, tenant: 'globex' }))).toBe(
      'INVALID_RUN_ID',
    );
    expect(await everything()).toEqual(before);
  });
});

test('an id that is taken is refused by itself: others in the same call start, and its request is free', async () => {
  const taken = uuidv7();
  await s.writ.start(plan, {}, { runId: taken, tenant: 'acme' });
  const good = item({ tenant: 'globex' });
  const answer = await startMany(
    good,
    item({ run_id: taken, tenant: 'globex', request_id: 'order-1' }),
    item({ run_id: taken, tenant: 'globex' }),
  );
  expect(answer.runs).toEqual([
    { index: 0, run_id: good.run_id, duplicate: false, same_input: true },
  ]);
  expect(answer.refused).toMatchObject(
    [1, 2].map((index) => ({ index, reason: 'INVALID_RUN_ID' })),
  );
  expect(await s.log(good.run_id)).toEqual(['RunStarted']);
  const again = await startMany(item({ tenant: 'globex', request_id: 'order-1' }));
  expect(again.runs).toMatchObject([{ duplicate: false }]);
});

test('an id that a run of another plan has is taken', async () => {
  const run_id = uuidv7();
  await s.writ.start(plan, {}, { runId: run_id });
  const next = definePlan<unknown>('row', { version: '1.0.1' }, (p) => {
    p.step('a', act);
  });
  expect(await codeOf(s.writ.start(next, {}, { runId: run_id }))).toBe('INVALID_RUN_ID');
});

describe('a request', () => {
  const requests = { requestId: 'order-1', tenant: 'acme', project: 'shop', environment: 'live' };

  test('that is repeated is the same run, also at the same time and in the same call', async () => {
    const many = await Promise.all(
      Array.from({ length: 8 }, () => s.writ.start(plan, {}, requests)),
    );
    expect(new Set(many.map(({ runId }) => runId)).size).toBe(1);
    expect(many.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
    expect(await s.writ.start(plan, { another: 'input' }, requests)).toMatchObject({
      runId: many[0]?.runId,
      duplicate: true,
    });
    expect(await s.db.query('select from writ.run')).toHaveLength(1);
  });

  test('of another tenant, project, environment or plan is another run', async () => {
    const first = await s.writ.start(plan, {}, requests);
    const next = definePlan<unknown>('row', { version: '1.0.1' }, (p) => {
      p.step('a', act);
    });
    const others = [
      await s.writ.start(plan, {}, { ...requests, tenant: 'globex' }),
      await s.writ.start(plan, {}, { ...requests, project: 'p' }),
      await s.writ.start(plan, {}, { ...requests, environment: 'e' }),
      await s.writ.start(plan, {}, { ...requests, requestId: 'order-2' }),
      await s.writ.start(next, {}, requests),
    ];
    expect(new Set([first, ...others].map(({ runId }) => runId)).size).toBe(6);
    expect(others.every(({ duplicate }) => !duplicate)).toBe(true);
  });

  test('cannot be made to look like another by where its parts are cut', async () => {
    const one = await s.writ.start(
      plan,
      {},
      { tenant: 'a', project: 'b|c', environment: 'd', requestId: 'r' },
    );
    const two = await s.writ.start(
      plan,
      {},
      { tenant: 'a', project: 'b', environment: 'c|d', requestId: 'r' },
    );
    expect(one.runId).not.toBe(two.runId);
  });
});

describe('a run of another tenant', () => {
  test('is not found, by whoever says which tenant they are', async () => {
    const { runId } = await s.writ.start(plan, {}, { tenant: 'acme' });
    const before = await everything();
    const tenant = 'globex';
    const { runs } = s.writ;
    const attempts: (() => Promise<unknown>)[] = [
      () => runs.snapshot(runId, { tenant }),
      () => runs.events(runId, { tenant }),
      () => runs.signal(runId, { type: 'CANCEL' }, { tenant }),
      () => runs.deliver(runId, 'word', 1, { tenant }),
      () => runs.snapshot(uuidv7()),
      () => runs.snapshot('run-1'),
    ];
    for (const attempt of attempts) expect(await codeOf(attempt())).toBe('RUN_NOT_FOUND');
    expect(await everything()).toEqual(before);
    expect((await runs.list({ tenant })).items.length).toBe(0);
  });

  test('does not exist under writ.tenant, neither in views nor for gates', async () => {
    const { runId } = await s.writ.start(plan, {}, { tenant: 'acme' });
    const client = await session(s.db);
    try {
      await client.query('begin');
      await client.query(`select set_config('writ.tenant', 'globex', true)`);
      for (const view of ['run', 'run_events', 'run_snapshots', 'alert'])
        expect(await client.query(`select * from writ.${view}`)).toEqual([]);
      const signal = JSON.stringify({ type: 'CANCEL', signalId: randomUUID() });
      expect(await client.gate(`fn_run_signal($1, $2, 'mallory')`, [runId, signal])).toMatchObject({
        reason: 'RUN_NOT_FOUND',
      });
      expect(
        await client.gate(`fn_run_deliver($1, 'word', null, 'd', 'mallory')`, [runId]),
      ).toMatchObject({ reason: 'RUN_NOT_FOUND' });
      const stolen = await client.gate(`fn_run_start_many($1, 'mallory')`, [
        JSON.stringify([item({ tenant: 'acme' })]),
      ]);
      expect(stolen).toMatchObject({ runs: [], refused: [{ reason: 'TENANT_ACCESS_DENIED' }] });
      await client.query('rollback');
    } finally {
      await client.end();
    }
  });
});
