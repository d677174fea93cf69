/** Timers, and waiting for something from outside. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
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
    expect((await s.writ.runs.snapshot(run.runId)).counts).toMatchObject({
      sleeping: 1,
      running: 0,
    });
    await s.db.clock.advance('2m');
    expect(await s.ended(run.runId)).toMatchObject({
      status: 'COMPLETED',
      counts: { succeeded: 2 },
    });
  });

  test('says in the log when it is due', async () => {
    const run = await s.writ.start(plan);
    const [, started] = (await s.writ.runs.events(run.runId)).items as [RunEvent, RunEvent];
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
    expect(await s.writ.runs.snapshot(run.runId)).toMatchObject({
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
    const failed = (await s.writ.runs.events(run.runId)).items.find(
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
    expect((await s.writ.runs.snapshot(run.runId)).status).toBe('RUNNING');
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

describe('the schema of a wait', () => {
  const Approval = z.object({
    by: z.string().min(2).max(20),
    level: z.int().min(1).max(3).optional(),
    tags: z
      .array(z.enum(['a', 'b']))
      .max(2)
      .default([]),
    how: z.union([z.literal('mail'), z.strictObject({ call: z.string() })]).nullable(),
  });
  const good = { by: 'ada', how: null };
  const approval = definePlan('approval', { version: '1' }, (p) => {
    const ok = p.waitFor('approval', Approval);
    p.step('ship', ship, { input: { by: ok.output.by } });
  });
  const bySql = async (runId: string, payload: unknown) => {
    const json = payload === undefined ? null : JSON.stringify(payload);
    const [row] = await s.db.query(
      `select writ.fn_run_deliver($1, 'approval', $2::text::json, gen_random_uuid()::text, 'ada') as answer`,
      [runId, json],
    );
    return row?.answer as { reason?: string; detail?: string; duplicate?: boolean };
  };

  test.each<[string, unknown]>([
    ['of another type', 'ada'],
    ['that is missing', undefined],
    ['without a field', { how: null }],
    ['with a field of another type', { ...good, by: 7 }],
    ['with a text that is empty', { ...good, by: '' }],
    ['with a text of one unit, where two are wanted', { ...good, by: 'x' }],
    ['with a text that is too long', { ...good, by: 'x'.repeat(21) }],
    ['with a fraction', { ...good, level: 1.5 }],
    ['with a number that is too large', { ...good, level: 4 }],
    ['with an element of another kind', { ...good, tags: ['a', 'c'] }],
    ['with too many elements', { ...good, tags: ['a', 'b', 'a'] }],
    ['that fits no part of a union', { ...good, how: 'fax' }],
    ['with a field too many in a strict object', { ...good, how: { call: 'x', at: 1 } }],
  ])('refuses a payload %s, from SQL and from any process', async (_, payload) => {
    const { runId } = await s.writ.start(approval);
    expect(await bySql(runId, payload)).toMatchObject({
      refused: true,
      reason: 'SIGNAL_INVALID_PAYLOAD',
    });
    const other = await s.db.connect(); // it has never seen the plan
    expect(await codeOf(other.runs.deliver(runId, 'approval', payload))).toBe(
      'SIGNAL_INVALID_PAYLOAD',
    );
    expect(await codeOf(s.writ.runs.deliver(runId, 'approval', payload))).toBe('invalid_input');
    expect(await s.db.query('select from writ_data.run_delivery')).toEqual([]);
    expect(await s.log(runId)).toEqual(['RunStarted', 'StepStarted approval']);
  });

  test.each<[string, unknown]>([
    ['with what it has to have', good],
    ['with everything', { by: 'ada', level: 3, tags: ['a', 'b'], how: { call: 'x' }, more: 1 }],
    ['with a text of two units and one character', { by: '😀', how: 'mail' }],
    ['with a text of 20 characters and 40 units', { by: '😀'.repeat(20), how: 'mail' }],
    ['with a text of 20 units and 40 octets', { by: 'é'.repeat(20), how: 'mail' }],
  ])('takes a payload %s, from SQL', async (_, payload) => {
    const { runId } = await s.writ.start(approval);
    expect(await bySql(runId, payload)).toMatchObject({ duplicate: false, step: 'approval' });
  });

  test('says where the payload does not fit', async () => {
    const { runId } = await s.writ.start(approval);
    expect((await bySql(runId, { ...good, tags: ['a', 'c'] })).detail).toBe(
      'approval: the payload.tags.1 is none of the values allowed.',
    );
  });

  test('refuses what only the schema itself can tell, in a process that knows the plan', async () => {
    const even = definePlan('even', { version: '1' }, (p) => {
      p.waitFor(
        'approval',
        z.number().refine((n) => n % 2 === 0),
      );
    });
    const { runId } = await s.writ.start(even);
    expect(await codeOf(s.writ.runs.deliver(runId, 'approval', 3))).toBe('invalid_input');
    await s.writ.runs.deliver(runId, 'approval', 4);
    expect((await s.ended(runId)).status).toBe('COMPLETED');
  });

  test('may take a delivery without a payload', async () => {
    const maybe = definePlan('maybe', { version: '1' }, (p) => {
      p.waitFor('approval', z.string().optional());
    });
    const { runId } = await s.writ.start(maybe);
    await s.writ.runs.deliver(runId, 'approval');
    expect((await s.ended(runId)).status).toBe('COMPLETED');
  });

  test('is of the run that the delivery is for, and not of another version of its plan', async () => {
    const next = definePlan('approval', { version: '2' }, (p) => {
      p.waitFor('approval', z.number());
    });
    const [first, second] = [await s.writ.start(approval), await s.writ.start(next)];
    expect(await codeOf(s.writ.runs.deliver(second.runId, 'approval', good))).toBe('invalid_input');
    expect(await codeOf(s.writ.runs.deliver(first.runId, 'approval', 1))).toBe('invalid_input');
    await s.writ.runs.deliver(second.runId, 'approval', 1);
    expect((await s.ended(second.runId)).status).toBe('COMPLETED');
  });
});
