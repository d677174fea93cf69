/** How many runs of a tenant go on at once, and what becomes of more. */
import { describe, expect, test } from 'vitest';
import { defineJob, definePlan } from '../../../src/index.js';
import { latch } from '../../queue/latch.js';
import { session } from '../../races/sessions.js';
import { codeOf, scene } from './scene.js';

const s = scene();
const act = defineJob<{ n: number }>('act');
const plan = definePlan<{ n: number }>('one', { version: '1' }, (p) => {
  p.step('a', act);
});
const start = (n: number, more: object = {}) => s.writ.start(plan, { n }, more);
const statuses = async () =>
  (await s.writ.runs.list({ limit: 100 })).items.map(({ status }) => status).sort();

test('REJECT: what is one too many is refused, with how long to wait, and nothing is left of it', async () => {
  await s.writ.runs.setAdmission('default', { policy: 'REJECT', maxRunning: 2 });
  await start(1);
  await start(2);
  const refused = start(3, { requestId: 'third' });
  await expect(refused).rejects.toMatchObject({
    code: 'TENANT_OVERLOADED',
    status: 429,
    retryable: true,
    detail: 'tenant default: retry after 5 s',
    retryAfterMs: 5_000,
  });
  expect(await statuses()).toEqual(['RUNNING', 'RUNNING']);
  expect(await s.db.query('select * from writ_data.run_request')).toEqual([]);
});

test('of one call as many are taken as there is room for', async () => {
  await s.writ.runs.setAdmission('default', { policy: 'REJECT', maxRunning: 2 });
  const codes = await Promise.all(Array.from({ length: 5 }, (_, n) => codeOf(start(n))));
  expect(codes.sort()).toEqual([
    'TENANT_OVERLOADED',
    'TENANT_OVERLOADED',
    'TENANT_OVERLOADED',
    undefined,
    undefined,
  ]);
});

test('many at once, from many processes, are not more than may be', async () => {
  await s.writ.runs.setAdmission('default', { policy: 'REJECT', maxRunning: 7 });
  const others = await Promise.all(Array.from({ length: 4 }, () => s.db.connect()));
  const codes = await Promise.all(
    others.flatMap((writ) => Array.from({ length: 10 }, (_, n) => codeOf(writ.start(plan, { n })))),
  );
  expect(codes.filter((code) => code === undefined)).toHaveLength(7);
  expect(await statuses()).toHaveLength(7);
});

test('a request that was made before is answered, however many go on', async () => {
  await s.writ.runs.setAdmission('default', { policy: 'REJECT', maxRunning: 1 });
  const first = await start(1, { requestId: 'mine' });
  expect(await start(1, { requestId: 'mine' })).toMatchObject({
    runId: first.runId,
    duplicate: true,
  });
});

test('a rule is for its tenant, and * for those without one', async () => {
  await s.writ.runs.setAdmission('*', { policy: 'REJECT', maxRunning: 1 });
  await s.writ.runs.setAdmission('large', { policy: 'REJECT', maxRunning: 3 });
  await start(1, { tenant: 'small' });
  expect(await codeOf(start(2, { tenant: 'small' }))).toBe('TENANT_OVERLOADED');
  for (let n = 0; n < 3; n++) await start(n, { tenant: 'large' });
  expect(await codeOf(start(4, { tenant: 'large' }))).toBe('TENANT_OVERLOADED');
  await start(1, { tenant: 'another' });
  await s.writ.runs.setAdmission('small', undefined);
  await s.writ.runs.setAdmission('*', undefined);
  await start(2, { tenant: 'small' });
});

describe('QUEUE', () => {
  test('what is one too many waits, and starts when there is room: the most urgent first, then the oldest', async () => {
    await s.writ.runs.setAdmission('default', { policy: 'QUEUE', maxRunning: 1 });
    const order: number[] = [];
    const held = latch();
    const first = await start(1);
    const [second, third, urgent] = [
      await start(2),
      await start(3),
      await start(4, { priority: 5 }),
    ];
    expect(await s.log(second.runId)).toEqual(['RunQueued']);
    expect(await statuses()).toEqual(['PENDING', 'PENDING', 'PENDING', 'RUNNING']);
    expect(await s.writ.runs.dequeueAndStart()).toEqual([]);
    await s.work([
      act.handle(async ({ input }) => {
        if (input.n === 1) await held.opened;
        order.push(input.n);
      }),
    ]);
    held.open();
    for (const run of [first, second, third, urgent])
      expect((await s.ended(run.runId)).status).toBe('COMPLETED');
    expect(order).toEqual([1, 4, 2, 3]);
    expect(await s.log(second.runId)).toEqual([
      'RunQueued',
      'RunStarted',
      'StepStarted a',
      'StepCompleted a',
      'RunCompleted',
    ]);
  });

  test('eight reconcilers at once start each run once, and no more than may be', async () => {
    await s.writ.runs.setAdmission('default', { policy: 'QUEUE', maxRunning: 1 });
    for (let n = 0; n < 101; n++) await start(n);
    await s.writ.runs.setAdmission('default', { policy: 'QUEUE', maxRunning: 60 });
    const others = await Promise.all(Array.from({ length: 8 }, () => s.db.connect()));
    const started = (await Promise.all(others.map((writ) => writ.runs.dequeueAndStart())))
      .flat()
      .map(({ runId }) => runId);
    expect(new Set(started).size).toBe(started.length);
    expect((await statuses()).filter((status) => status === 'RUNNING').length).toBeLessThanOrEqual(
      60,
    );
    await s.writ.runs.setAdmission('default', undefined);
    for (;;)
      if (
        (await Promise.all(others.map((writ) => writ.runs.dequeueAndStart()))).flat().length === 0
      )
        break;
    const [row] = await s.db.query(
      `select count(*)::int as runs, count(*) filter (where starts = 1)::int as once from (select run_id, count(*) filter (where event_type = 'RunStarted') as starts from writ.run_events group by run_id) r`,
    );
    expect(row).toEqual({ runs: 101, once: 101 });
    const [jobs] = await s.db.query(
      'select count(*)::int as jobs, count(distinct run_id)::int as runs from writ_data.job where run_id is not null',
    );
    expect(jobs).toEqual({ jobs: 101, runs: 101 });
  });

  test('a run that waits can be cancelled, and never starts', async () => {
    await s.writ.runs.setAdmission('default', { policy: 'QUEUE', maxRunning: 1 });
    await start(1);
    const waiting = await start(2);
    await s.writ.runs.signal(waiting.runId, { type: 'CANCEL', reason: 'not needed' });
    expect((await s.ended(waiting.runId)).status).toBe('CANCELLED');
    await s.writ.runs.setAdmission('default', undefined);
    expect(await s.writ.runs.dequeueAndStart()).toEqual([]);
  });

  test('at most so many wait', async () => {
    await s.writ.runs.setAdmission('default', { policy: 'QUEUE', maxRunning: 1, maxPending: 2 });
    for (let n = 0; n < 3; n++) await start(n);
    expect(await codeOf(start(4))).toBe('TENANT_OVERLOADED');
    expect(await statuses()).toEqual(['PENDING', 'PENDING', 'RUNNING']);
  });
});

test('where nobody waits, nobody is told to look again soon', async () => {
  await start(1);
  const [row] = await s.db.query(`select writ.fn_run_dequeue_many('test') as answer`);
  expect(row?.answer).toEqual({ runs: [], failed: [], skipped: [], next_ms: null });
});

test('DELAY: what is one too many starts later, whether there is room or not', async () => {
  await s.writ.runs.setAdmission('default', { policy: 'DELAY', maxRunning: 1, delayMs: 60_000 });
  await start(1);
  const later = await start(2);
  expect(await s.writ.runs.dequeueAndStart()).toEqual([]);
  await s.db.clock.advance('61s');
  expect(await s.writ.runs.dequeueAndStart()).toEqual([{ runId: later.runId, status: 'STARTED' }]);
  expect(await statuses()).toEqual(['RUNNING', 'RUNNING']);
});

test('a reconciler answers what became of each run: started, failed, or skipped because another has it', async () => {
  s.unchecked(); // nobody asked for the end of the run that cannot begin
  await s.writ.runs.setAdmission('default', { policy: 'QUEUE', maxRunning: 1 });
  await start(0);
  const [stuck, held, good] = [await start(1), await start(2), await start(3)];
  await s.writ.runs.setAdmission('default', undefined);
  // As damaged as no gate leaves it: its input is too large for what a step may have.
  await s.db.query(
    `update writ_data.run set input = jsonb_build_object('n', repeat('x', 200)) where run_id = $1`,
    [stuck.runId],
  );
  await s.db.query(`update writ_data.plan_step set input = '{"a": {"$ref": "input.n"}}'`);
  await s.db.query(
    `update writ_data.dot_config set value = '100' where key = 'queue.payload.max_bytes'`,
  );
  const other = await session(s.db);
  try {
    await other.query('begin');
    await other.query('select from writ_data.run where run_id = $1 for update', [held.runId]);
    expect(await s.writ.runs.dequeueAndStart()).toEqual([
      { runId: good.runId, status: 'STARTED' },
      { runId: stuck.runId, status: 'FAILED' },
      { runId: held.runId, status: 'SKIPPED' },
    ]);
  } finally {
    await other.end();
  }
});
