/** Pausing and going on. */
import { describe, expect, test } from 'vitest';
import { defineJob, definePlan, PermanentFailure } from '../../../src/index.js';
import { latch } from '../../queue/latch.js';
import { until } from '../../races/sessions.js';
import { codeOf, scene } from './scene.js';

const s = scene();
const act = defineJob<unknown>('act', { retry: { attempts: 1 } });
const item = defineJob<number>('item', { retry: { attempts: 1 } });

const row = definePlan<unknown>('row', { version: '1' }, (p) => {
  const a = p.step('a', act);
  const b = p.step('b', act, { after: a });
  p.step('c', act, { after: b });
});
const signal = (runId: string, type: 'PAUSE' | 'RESUME', reason?: string) =>
  s.writ.runs.signal(runId, { type, ...(reason && { reason }) });

test('a pause lets what runs go on to its end, and nothing new begin', async () => {
  const finish = latch();
  const run = await s.writ.start(row, {});
  await s.work([act.handle(({ step }) => (step?.stepId === 'a' ? finish.opened : undefined))]);
  await s.untilLog(run.runId, 'StepStarted a');
  expect(await signal(run.runId, 'PAUSE', 'lunch')).toMatchObject({
    status: 'PAUSED',
    duplicate: false,
  });
  expect(await s.writ.runs.snapshot(run.runId)).toMatchObject({
    status: 'PAUSED',
    substatus: 'DRAINING',
    reason: 'lunch',
  });
  const paused = (await s.writ.runs.events(run.runId)).items.find(
    ({ eventType }) => eventType === 'RunPaused',
  );
  expect(paused).toMatchObject({
    eventData: { reason: 'lunch', draining: 1 },
    logicalAttemptId: '1',
  });
  finish.open();
  await s.untilLog(run.runId, 'StepCompleted a');
  const drained = await s.writ.runs.snapshot(run.runId);
  expect([drained.status, drained.substatus]).toEqual(['PAUSED', undefined]);
  expect(await s.log(run.runId)).not.toContain('StepStarted b');
  await signal(run.runId, 'RESUME');
  expect((await s.ended(run.runId)).status).toBe('COMPLETED');
});

test('a run can be paused again, and each pause is in the log', async () => {
  const run = await s.writ.start(row, {});
  for (let n = 0; n < 3; n++) {
    await signal(run.runId, 'PAUSE');
    await signal(run.runId, 'RESUME');
  }
  expect(
    (await s.log(run.runId)).filter((line) => line === 'RunPaused' || line === 'RunResumed'),
  ).toHaveLength(6);
  await s.work([act.handle(() => undefined)]);
  expect((await s.ended(run.runId)).status).toBe('COMPLETED');
});

test('a pause of what is paused, and going on with what runs, is refused and changes nothing', async () => {
  const run = await s.writ.start(row, {});
  expect(await codeOf(signal(run.runId, 'RESUME'))).toBe('SIGNAL_NOT_APPLICABLE');
  await signal(run.runId, 'PAUSE');
  const before = await s.log(run.runId);
  expect(await codeOf(signal(run.runId, 'PAUSE'))).toBe('SIGNAL_NOT_APPLICABLE');
  expect(await s.log(run.runId)).toEqual(before);
});

test('jobs that a worker claims during a pause are turned away, and begin when the run goes on', async () => {
  let begun = 0;
  const run = await s.writ.start(row, {});
  await signal(run.runId, 'PAUSE');
  await s.work([
    act.handle(() => {
      begun++;
    }),
  ]);
  await until(
    async () =>
      (await s.db.query(`select from writ_data.job_execution where error_code = 'run_not_running'`))
        .length === 1,
  );
  expect(begun).toBe(0);
  expect(await s.log(run.runId)).toEqual(['RunStarted', 'SignalAccepted PAUSE', 'RunPaused']);
  await signal(run.runId, 'RESUME');
  expect((await s.ended(run.runId)).status).toBe('COMPLETED');
  expect(begun).toBe(3);
});

describe('in the middle of a list', () => {
  const list = definePlan<{ list: number[] }>('list', { version: '1' }, (p) => {
    const all = p.each('item', item, { over: p.input.list, parallel: 2 });
    p.step('last', act, { after: all, input: null });
  });
  const numbers = { list: Array.from({ length: 9 }, (_, n) => n) };

  test('the elements that run end, no other begins, and the list goes on where it stopped', async () => {
    const finish = latch();
    const done: number[] = [];
    const run = await s.writ.start(list, numbers);
    await s.work([
      item.handle(async ({ input }) => {
        if (input === 3) await finish.opened;
        done.push(input);
      }),
      act.handle(() => undefined),
    ]);
    await s.untilLog(run.runId, 'StepStarted item[3]');
    await signal(run.runId, 'PAUSE');
    finish.open();
    await s.untilLog(run.runId, 'StepCompleted item[3]');
    const started = (await s.log(run.runId)).filter((line) =>
      line.startsWith('StepStarted item['),
    ).length;
    await until(async () => (await s.writ.runs.snapshot(run.runId)).counts.running === 0);
    expect(
      (await s.log(run.runId)).filter((line) => line.startsWith('StepStarted item[')),
    ).toHaveLength(started);
    await signal(run.runId, 'RESUME');
    expect((await s.ended(run.runId)).status).toBe('COMPLETED');
    expect(done.sort()).toEqual(numbers.list);
  });

  test('elements that stand in the queue are turned away, and begin once when the run goes on', async () => {
    const done: number[] = [];
    const run = await s.writ.start(list, numbers);
    await signal(run.runId, 'PAUSE');
    await s.work([item.handle(({ input }) => done.push(input)), act.handle(() => undefined)]);
    await until(
      async () =>
        (
          await s.db.query(
            `select from writ_data.job_execution where error_code = 'run_not_running'`,
          )
        ).length === 2,
    );
    expect(done).toEqual([]);
    await signal(run.runId, 'RESUME');
    expect((await s.ended(run.runId)).status).toBe('COMPLETED');
    expect(done.sort()).toEqual(numbers.list);
  });

  test('a list whose last elements end in a pause ends its step in the pause', async () => {
    const finish = latch();
    const run = await s.writ.start(list, { list: [0, 1] });
    await s.work([item.handle(() => finish.opened), act.handle(() => undefined)]);
    await s.untilLog(run.runId, 'StepStarted item[1]');
    await signal(run.runId, 'PAUSE');
    finish.open();
    await s.untilLog(run.runId, 'StepCompleted item');
    expect(await s.log(run.runId)).not.toContain('StepStarted last');
    await signal(run.runId, 'RESUME');
    expect((await s.ended(run.runId)).status).toBe('COMPLETED');
  });
});

test('a step that fails in a pause fails the run, unless the plan leaves it to people', async () => {
  const finish = latch();
  const run = await s.writ.start(row, {});
  await s.work([
    act.handle(async () => {
      await finish.opened;
      throw new PermanentFailure('no luck');
    }),
  ]);
  await s.untilLog(run.runId, 'StepStarted a');
  await signal(run.runId, 'PAUSE');
  finish.open();
  expect(await s.ended(run.runId)).toMatchObject({ status: 'FAILED', rootCause: { stepId: 'a' } });
});

describe('a plan that leaves failures to people', () => {
  const asks = definePlan<unknown>('asks', { version: '1', onFailure: 'pause' }, (p) => {
    const a = p.step('a', act);
    const b = p.step('b', act);
    p.step('c', act, { after: [a, b] });
  });
  /** A worker that fails the first attempts of some steps. */
  const working = (...failing: string[]) =>
    s.work([
      act.handle(({ step }) => {
        if (failing.includes(step?.stepId as string) && step?.attempt === 1)
          throw new PermanentFailure('no luck', { code: 'no_luck' });
      }),
    ]);

  test('pauses when a step fails, and a retry of the step lets the run go on', async () => {
    const run = await s.writ.start(asks, {});
    await working('a');
    await s.untilStatus(run.runId, 'PAUSED');
    await s.untilLog(run.runId, 'StepCompleted b');
    expect((await s.writ.runs.snapshot(run.runId)).reason).toBe('Step a failed: no_luck');
    expect(await s.writ.runs.signal(run.runId, { type: 'RETRY_STEP', stepId: 'a' })).toMatchObject({
      status: 'RUNNING',
    });
    expect((await s.ended(run.runId)).status).toBe('COMPLETED');
    const log = await s.log(run.runId);
    expect(log).toEqual(
      expect.arrayContaining(['StepFailed a', 'StepStarted a #2', 'StepCompleted a #2']),
    );
    expect(log.indexOf('StepStarted a #2')).toBeGreaterThan(log.indexOf('RunResumed'));
  });

  test('goes on only when each failed step was retried or skipped', async () => {
    const run = await s.writ.start(asks, {});
    await working('a', 'b');
    await s.untilLog(run.runId, 'StepFailed a');
    await s.untilLog(run.runId, 'StepFailed b');
    expect(await codeOf(signal(run.runId, 'RESUME'))).toBe('SIGNAL_NOT_APPLICABLE');
    expect(await s.writ.runs.signal(run.runId, { type: 'RETRY_STEP', stepId: 'a' })).toMatchObject({
      status: 'PAUSED',
    });
    expect(await codeOf(signal(run.runId, 'RESUME'))).toBe('SIGNAL_NOT_APPLICABLE');
    expect(await s.log(run.runId)).not.toContain('StepStarted a #2');
    expect(await s.writ.runs.signal(run.runId, { type: 'SKIP_STEP', stepId: 'b' })).toMatchObject({
      status: 'RUNNING',
    });
    expect(await s.ended(run.runId)).toMatchObject({
      status: 'COMPLETED',
      counts: { succeeded: 2, skipped: 1, failed: 0 },
    });
  });

  test('is cancelled by whoever gives up', async () => {
    const run = await s.writ.start(asks, {});
    await working('a');
    await s.untilStatus(run.runId, 'PAUSED');
    await s.writ.runs.signal(run.runId, { type: 'CANCEL', reason: 'hopeless' });
    expect(await s.ended(run.runId)).toMatchObject({ status: 'CANCELLED', reason: 'hopeless' });
  });

  test('keeps an operator’s pause when a failed step is retried in it', async () => {
    const finish = latch();
    const run = await s.writ.start(asks, {});
    await s.work([
      act.handle(async ({ step }) => {
        if (step?.stepId !== 'a' || step.attempt > 1) return;
        await finish.opened;
        throw new PermanentFailure('no luck');
      }),
    ]);
    await s.untilLog(run.runId, 'StepStarted a');
    await signal(run.runId, 'PAUSE');
    finish.open();
    await s.untilLog(run.runId, 'StepFailed a');
    expect(await s.writ.runs.signal(run.runId, { type: 'RETRY_STEP', stepId: 'a' })).toMatchObject({
      status: 'PAUSED',
    });
    await signal(run.runId, 'RESUME');
    expect((await s.ended(run.runId)).status).toBe('COMPLETED');
  });
});
