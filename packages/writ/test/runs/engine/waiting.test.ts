/** Timers, and waiting for something from outside. */
import { describe, expect, test } from 'vitest';
import { defineJob, definePlan, type RunEvent, type WaitOptions } from '../../../src/index.js';
import { codeOf, scene } from './scene.js';

const s = scene();
const ship = defineJob<unknown>('ship', { retry: { attempts: 1 } });

describe('a timer', () => {
  const plan = definePlan('sleeps', { version: '1' }, (p) => {
    const nap = p.sleep('nap', '10m');
    p.step('ship', ship, { after: nap, input: null });
  });

  test('holds up what comes after it until its time has come', async () => {
    const run = await s.writ.start(plan);
    await s.work([ship.handle(() => undefined)]);
    await s.db.clock.advance('9m');
    expect(await s.log(run.runId)).toEqual(['RunStarted', 'StepStarted nap']);
    expect((await s.writ.runs.get(run.runId)).counts).toMatchObject({ sleeping: 1, running: 0 });
    await s.db.clock.advance('2m');
    expect(await s.ended(run.runId)).toMatchObject({
      status: 'COMPLETED',
      counts: { succeeded: 2 },
    });
  });

  test('says in the log when it is due', async () => {
    const run = await s.writ.start(plan);
    const [, started] = (await s.writ.runs.events(run.runId)) as [RunEvent, RunEvent];
    const { dueAt } = started.eventData as { dueAt: string };
    expect(
      Math.abs(Date.parse(dueAt) - Date.parse(started.emittedAt) - 600_000),
    ).toBeLessThanOrEqual(2);
  });

  test('that is due while the run is paused lets nothing start before the run goes on', async () => {
    const run = await s.writ.start(plan);
    await s.writ.runs.signal(run.runId, { type: 'PAUSE' });
    await s.work([ship.handle(() => undefined)]);
    await s.db.clock.advance('11m');
    await s.untilLog(run.runId, 'StepCompleted nap');
    expect(await s.log(run.runId)).not.toContain('StepStarted ship');
    await s.writ.runs.signal(run.runId, { type: 'RESUME' });
    expect((await s.ended(run.runId)).status).toBe('COMPLETED');
  });

  test('can be skipped by an operator', async () => {
    const run = await s.writ.start(plan);
    await s.work([ship.handle(() => undefined)]);
    await s.writ.runs.signal(run.runId, { type: 'SKIP_STEP', stepId: 'nap' });
    expect(await s.ended(run.runId)).toMatchObject({
      status: 'COMPLETED',
      counts: { skipped: 1, succeeded: 1 },
    });
  });
});

describe('a wait', () => {
  const waits = (name: string, options: WaitOptions = {}) =>
    definePlan(name, { version: '1' }, (p) => {
      const before = p.step('before', ship, { input: null });
      const ok = p.waitFor<{ by: string }>('approval', { after: before, ...options });
      p.step('ship', ship, { input: { by: ok.output.by } });
    });
  const shipping = () => {
    const inputs: unknown[] = [];
    return {
      inputs,
      handlers: [ship.handle(({ input, step }) => step?.stepId === 'ship' && inputs.push(input))],
    };
  };

  test('ends with what is delivered, which is its output', async () => {
    const { inputs, handlers } = shipping();
    const run = await s.writ.start(waits('after'));
    await s.work(handlers);
    await s.untilLog(run.runId, 'StepStarted approval');
    expect(await s.writ.runs.get(run.runId)).toMatchObject({
      status: 'RUNNING',
      substatus: 'WAITING_APPROVAL',
      counts: { waiting: 1 },
    });
    expect(await s.writ.runs.deliver(run.runId, 'approval', { by: 'ada' })).toEqual({
      duplicate: false,
      stepId: 'approval',
    });
    expect((await s.ended(run.runId)).status).toBe('COMPLETED');
    expect(inputs).toEqual([{ by: 'ada' }]);
  });

  test('takes what was delivered before it was reached', async () => {
    const { inputs, handlers } = shipping();
    const run = await s.writ.start(waits('before'));
    expect(await s.writ.runs.deliver(run.runId, 'approval', { by: 'early' })).toEqual({
      duplicate: false,
      stepId: undefined,
    });
    await s.work(handlers);
    expect((await s.ended(run.runId)).status).toBe('COMPLETED');
    expect(inputs).toEqual([{ by: 'early' }]);
    expect(await s.log(run.runId)).toContain('StepStarted approval');
  });

  test('takes the first of two, and a delivery with the same id changes nothing', async () => {
    const { inputs, handlers } = shipping();
    const run = await s.writ.start(waits('twice'));
    const deliver = (by: string, id: string) =>
      s.writ.runs.deliver(run.runId, 'approval', { by }, { id });
    expect(await deliver('first', 'd1')).toMatchObject({ duplicate: false });
    expect(await deliver('changed', 'd1')).toMatchObject({ duplicate: true });
    expect(await deliver('second', 'd2')).toMatchObject({ duplicate: false });
    await s.work(handlers);
    expect((await s.ended(run.runId)).status).toBe('COMPLETED');
    expect(inputs).toEqual([{ by: 'first' }]);
    expect(await deliver('late', 'd1')).toEqual({ duplicate: true, stepId: 'approval' });
    expect(await codeOf(deliver('late', 'd3'))).toBe('RUN_TERMINAL');
  });

  test('fails when its time has passed, and the run with it', async () => {
    const run = await s.writ.start(waits('late', { timeout: '48h' }));
    await s.work(shipping().handlers);
    await s.untilLog(run.runId, 'StepStarted approval');
    await s.db.clock.advance('49h');
    const snapshot = await s.ended(run.runId);
    expect(snapshot).toMatchObject({
      status: 'FAILED',
      rootCause: { stepId: 'approval', errorCode: 'timeout' },
    });
    const failed = (await s.writ.runs.events(run.runId)).find(
      ({ eventType }) => eventType === 'StepFailed',
    );
    expect(failed?.eventData).toMatchObject({ error: { failureCategory: 'TIMEOUT' } });
  });

  test('is skipped when its time has passed, if the plan says so, and the run goes on without it', async () => {
    const { inputs, handlers } = shipping();
    const run = await s.writ.start(waits('skip', { timeout: '48h', onTimeout: 'skip' }));
    await s.work(handlers);
    await s.untilLog(run.runId, 'StepStarted approval');
    await s.db.clock.advance('49h');
    expect(await s.ended(run.runId)).toMatchObject({
      status: 'COMPLETED',
      counts: { skipped: 1, succeeded: 2 },
    });
    expect(inputs).toEqual([{ by: null }]);
  });

  test('without a timeout waits for ever, and costs its workers nothing', async () => {
    const run = await s.writ.start(waits('ever'));
    await s.work(shipping().handlers);
    await s.untilLog(run.runId, 'StepStarted approval');
    await s.db.clock.advance('100d');
    const [row] = await s.db.query(`select writ.fn_job_tick('test') ->> 'next_due_ms' as due`);
    expect(row).toEqual({ due: null });
    expect((await s.writ.runs.get(run.runId)).status).toBe('RUNNING');
    await s.writ.runs.deliver(run.runId, 'approval');
    expect((await s.ended(run.runId)).status).toBe('COMPLETED');
  });

  test('has two of the same event take one delivery each', async () => {
    const plan = definePlan('both', { version: '1' }, (p) => {
      const a = p.waitFor('first', { event: 'word' });
      p.waitFor('second', { event: 'word', after: a });
    });
    const run = await s.writ.start(plan);
    await s.writ.runs.deliver(run.runId, 'word', 1);
    expect(await s.log(run.runId)).toEqual([
      'RunStarted',
      'StepStarted first',
      'StepCompleted first',
      'StepStarted second',
    ]);
    await s.writ.runs.deliver(run.runId, 'word', 2);
    expect((await s.ended(run.runId)).status).toBe('COMPLETED');
  });

  test('of which the plan knows nothing cannot be delivered to', async () => {
    const run = await s.writ.start(waits('unknown'));
    expect(await codeOf(s.writ.runs.deliver(run.runId, 'approvals'))).toBe(
      'SIGNAL_INVALID_PAYLOAD',
    );
    expect(await codeOf(s.writ.runs.deliver(run.runId, 'approval', 'x'.repeat(70_000)))).toBe(
      'SIGNAL_INVALID_PAYLOAD',
    );
    expect(await s.db.query('select from writ_data.run_delivery')).toEqual([]);
  });
});
