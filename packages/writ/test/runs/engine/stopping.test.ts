/** Cancelling, and stopping at once. */
import { describe, expect, test } from 'vitest';
import { defineJob, definePlan } from '../../../src/index.js';
import { latch } from '../../queue/latch.js';
import { codeOf, scene } from './scene.js';

const s = scene();
const act = defineJob<unknown>('act', { retry: { attempts: 3, base: '1d', cap: '1d' } });
const undo = defineJob<unknown>('undo', { retry: { attempts: 1 } });

const plan = definePlan<unknown>('saga', { version: '1' }, (p) => {
  const a = p.step('a', act, { compensate: undo });
  const b = p.step('b', act, { after: a, compensate: undo });
  const c = p.step('c', act, { after: b, compensate: undo });
  p.step('d', act, { after: c });
});

/** A worker whose step c runs until it is told to stop. */
async function untilC() {
  const stopped = latch<unknown>();
  const undone: unknown[] = [];
  await s.work([
    act.handle(({ step, signal }) =>
      step?.stepId !== 'c'
        ? undefined
        : new Promise((_, stop) => {
            signal.addEventListener('abort', () => {
              stopped.open(signal.reason);
              stop(signal.reason);
            });
          }),
    ),
    undo.handle(({ step }) => undone.push(step?.stepId)),
  ]);
  const run = await s.writ.start(plan, {});
  await s.untilLog(run.runId, 'StepStarted c');
  return { run, stopped, undone };
}

test('a cancel tells the handler that runs to stop, undoes what was committed in reverse, and ends the run', async () => {
  const { run, stopped, undone } = await untilC();
  const answer = await s.writ.runs.signal(run.runId, { type: 'CANCEL', reason: 'changed my mind' });
  expect(answer).toMatchObject({ status: 'RUNNING', duplicate: false });
  expect(await stopped.opened).toMatchObject({ code: 'cancelled' });
  expect(await s.ended(run.runId)).toMatchObject({
    status: 'CANCELLED',
    reason: 'changed my mind',
    undone: true,
  });
  expect(undone).toEqual(['undo:b', 'undo:a']);
  expect((await s.log(run.runId)).slice(-7)).toEqual([
    'SignalAccepted CANCEL',
    'StepFailed c',
    'StepStarted undo:b',
    'StepCompleted undo:b',
    'StepStarted undo:a',
    'StepCompleted undo:a',
    'RunCancelled',
  ]);
});

test('a step that commits although it was told to stop is undone too', async () => {
  const reached = latch();
  const undone: unknown[] = [];
  await s.work([
    act.handle(async ({ step, signal }) => {
      if (step?.stepId !== 'b') return;
      reached.open();
      await new Promise((go) => signal.addEventListener('abort', go));
    }),
    undo.handle(({ step }) => undone.push(step?.stepId)),
  ]);
  const run = await s.writ.start(plan, {});
  await reached.opened;
  await s.untilLog(run.runId, 'StepStarted b');
  await s.writ.runs.signal(run.runId, { type: 'CANCEL' });
  expect((await s.ended(run.runId)).status).toBe('CANCELLED');
  const log = await s.log(run.runId);
  // Whether it got through is the queue's affair; what the log says was done is undone.
  expect(undone).toEqual(log.includes('StepCompleted b') ? ['undo:b', 'undo:a'] : ['undo:a']);
});

test('a cancel of a run that waits for nothing but a person, a clock or another attempt ends it at once', async () => {
  const waits = definePlan<unknown>('waits', { version: '1' }, (p) => {
    p.waitFor('word');
    p.sleep('nap', '1h');
    p.step('again', act);
  });
  const run = await s.writ.start(waits, {});
  await s.work([
    act.handle(() => {
      throw new Error('try again tomorrow');
    }),
  ]);
  await s.untilLog(run.runId, 'StepStarted again');
  const waiting = () => s.db.query(`select from writ.job_queue where status = 'retry_waiting'`);
  while ((await waiting()).length === 0) await new Promise((turn) => setImmediate(turn));
  await s.writ.runs.signal(run.runId, { type: 'CANCEL' });
  expect((await s.ended(run.runId)).status).toBe('CANCELLED');
  expect((await s.log(run.runId)).slice(-5).sort()).toEqual([
    'RunCancelled',
    'SignalAccepted CANCEL',
    'StepFailed again',
    'StepSkipped nap',
    'StepSkipped word',
  ]);
  expect(await s.db.query('select from writ_data.job_wait')).toEqual([]);
});

test.each(['CANCEL', 'EMERGENCY_STOP'] as const)(
  '%s ends a run whose next attempt is ready and whose kind no worker serves',
  async (type) => {
    const quick = defineJob<unknown>('quick', { retry: { attempts: 3, base: '1ms', cap: '1ms' } });
    const unserved = definePlan<unknown>('unserved', { version: '1' }, (p) => {
      const a = p.step('a', act, { compensate: undo });
      p.step('b', quick, { after: a });
    });
    const run = await s.writ.start(unserved, {});
    const worker = await s.work([
      act.handle(() => undefined),
      quick.handle(async () => {
        void worker.stop();
        throw new Error('again');
      }),
    ]);
    await s.untilLog(run.runId, 'StepStarted b');
    await worker.stop();
    await s.db.clock.advance('1m');
    await s.db.query(`select writ.fn_job_tick('test')`);
    expect(await s.db.query('select from writ_data.job_ready where moved')).toHaveLength(1);
    await s.work([undo.handle(() => undefined)]);
    await s.writ.runs.signal(run.runId, { type, reason: 'enough' });
    expect((await s.ended(run.runId)).status).toBe('CANCELLED');
    expect((await s.log(run.runId)).filter((line) => /b|undo/.test(line))).toEqual([
      'StepStarted b',
      'StepFailed b',
      ...(type === 'CANCEL' ? ['StepStarted undo:a', 'StepCompleted undo:a'] : []),
    ]);
    expect(await s.db.query('select from writ_data.job_ready')).toEqual([]);
  },
);

test('an emergency stop ends a run whose undoing no worker serves', async () => {
  const waits = definePlan<unknown>('undone-by-nobody', { version: '1' }, (p) => {
    const a = p.step('a', act, { compensate: undo });
    p.waitFor('word', { after: a });
  });
  const run = await s.writ.start(waits, {});
  await s.work([act.handle(() => undefined)]);
  await s.untilLog(run.runId, 'StepStarted word');
  await s.writ.runs.signal(run.runId, { type: 'CANCEL' });
  expect((await s.writ.runs.snapshot(run.runId)).status).toBe('RUNNING');
  await s.writ.runs.signal(run.runId, { type: 'EMERGENCY_STOP', reason: 'fire' });
  expect((await s.ended(run.runId)).status).toBe('CANCELLED');
  // The undoing that had not begun never will.
  await s.work([undo.handle(() => expect.unreachable())]);
  const open = () =>
    s.db.query(`select from writ.job_queue where status in ('queued', 'leased', 'in_progress')`);
  while ((await open()).length > 0) await new Promise((turn) => setImmediate(turn));
  expect((await s.log(run.runId)).at(-1)).toBe('RunCancelled');
});

test('the clockwork ends what became ready again after its run began to end', async () => {
  const run = await s.writ.start(plan, {});
  const [claimed] = await s.db.query(
    `select writ.fn_job_claim_many('{act}', 'external_worker', 'lost', 10, 60, 1) as answer`,
  );
  expect(claimed?.answer).toBeDefined();
  await s.db.query(
    `update writ_data.run set ending = 'FAILED', ending_with = '{}', moved_at = writ.now() where run_id = $1`,
    [run.runId],
  );
  await s.db.clock.advance('10m');
  await s.db.query(`select writ.fn_job_tick('test')`); // takes the lease back
  await s.db.clock.advance('2d');
  await s.db.query(`select writ.fn_job_tick('test')`);
  await s.db.clock.advance('2m');
  await s.db.query(`select writ.fn_job_tick('test')`);
  expect(await s.ended(run.runId)).toMatchObject({ status: 'FAILED' });
});

test('a cancel before any worker has begun leaves nothing to be begun', async () => {
  let begun = 0;
  const run = await s.writ.start(plan, {});
  await s.writ.runs.signal(run.runId, { type: 'CANCEL' });
  expect((await s.ended(run.runId)).status).toBe('CANCELLED');
  await s.work([
    act.handle(() => {
      begun++;
    }),
  ]);
  const open = () =>
    s.db.query(`select from writ.job_queue where status in ('queued', 'leased', 'in_progress')`);
  while ((await open()).length > 0) await new Promise((turn) => setImmediate(turn));
  expect(begun).toBe(0);
  expect(await s.log(run.runId)).toEqual(['RunStarted', 'SignalAccepted CANCEL', 'RunCancelled']);
});

test('a paused run can be cancelled, and undoes', async () => {
  const { run, undone } = await untilC();
  await s.writ.runs.signal(run.runId, { type: 'PAUSE' });
  await s.writ.runs.signal(run.runId, { type: 'CANCEL' });
  expect((await s.ended(run.runId)).status).toBe('CANCELLED');
  expect(undone).toEqual(['undo:b', 'undo:a']);
});

describe('an emergency stop', () => {
  test('stops what runs, undoes nothing, and ends the run', async () => {
    const { run, stopped, undone } = await untilC();
    await s.writ.runs.signal(run.runId, { type: 'EMERGENCY_STOP', reason: 'fire' });
    await stopped.opened;
    const snapshot = await s.ended(run.runId);
    expect(snapshot).toMatchObject({ status: 'CANCELLED', reason: 'fire' });
    expect(snapshot.undone).toBeUndefined();
    expect(undone).toEqual([]);
    expect((await s.log(run.runId)).filter((line) => line.includes('undo:'))).toEqual([]);
  });

  test.each([undefined, '', '   '])(
    'needs a reason, and without one nothing happens: %o',
    async (reason) => {
      const run = await s.writ.start(plan, {});
      const sent = s.writ.runs.signal(run.runId, {
        type: 'EMERGENCY_STOP',
        ...(reason !== undefined && { reason }),
      });
      expect(await codeOf(sent)).toBe('AUTHZ_REASON_REQUIRED');
      expect(await s.log(run.runId)).toEqual(['RunStarted']);
      expect(await s.db.query('select from writ_data.run_signal')).toEqual([]);
    },
  );

  test('ends undoing that is under way', async () => {
    const undoing = latch();
    const go = latch();
    const undone: unknown[] = [];
    await s.work([
      act.handle(({ step, signal }) =>
        step?.stepId === 'c'
          ? new Promise((_, stop) => signal.addEventListener('abort', () => stop(signal.reason)))
          : undefined,
      ),
      undo.handle(async ({ step }) => {
        undone.push(step?.stepId);
        undoing.open();
        await go.opened;
      }),
    ]);
    const run = await s.writ.start(plan, {});
    await s.untilLog(run.runId, 'StepStarted c');
    await s.writ.runs.signal(run.runId, { type: 'CANCEL' });
    await undoing.opened;
    expect(await codeOf(s.writ.runs.signal(run.runId, { type: 'PAUSE' }))).toBe('RUN_TERMINAL');
    await s.writ.runs.signal(run.runId, { type: 'EMERGENCY_STOP', reason: 'fire' });
    go.open();
    expect((await s.ended(run.runId)).status).toBe('CANCELLED');
    expect(undone).toEqual(['undo:b']);
  });
});
