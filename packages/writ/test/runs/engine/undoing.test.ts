/**
 * What was done is undone when a run fails or is cancelled: the newest first, one after the other,
 * each on the record.
 */
import { describe, expect, test } from 'vitest';
import { defineJob, definePlan, PermanentFailure } from '../../../src/index.js';
import { scene } from './scene.js';

const s = scene();
const once = { retry: { attempts: 1 } } as const;
const act = defineJob<{ order: string }>('act', once);
const undo = defineJob<unknown>('undo', once);
const resize = defineJob<number>('resize', once);
const input = { order: 'o-1' };

const plan = definePlan<{ order: string }>('saga', { version: '1' }, (p) => {
  const a = p.step('reserve', act, {
    compensate: {
      job: undo,
      input: (output) => ({ reservation: output.id, order: p.input.order }),
    },
  });
  const b = p.step('note', act, { after: a });
  const c = p.step('charge', act, { after: b, compensate: undo });
  p.step('ship', act, { after: c, compensate: undo });
});

interface Undone {
  readonly stepId: string | undefined;
  readonly input: unknown;
}

/** A worker that fails at some steps, and tells what it undid. */
async function worker(failing: readonly string[]): Promise<Undone[]> {
  const undone: Undone[] = [];
  await s.work([
    act.handle(({ step }) => {
      if (failing.includes(step?.stepId as string))
        throw new PermanentFailure('no luck', { code: 'no_luck' });
      return { id: 7 };
    }),
    undo.handle(({ step, input: given }) => {
      undone.push({ stepId: step?.stepId, input: given });
      if (failing.includes(step?.stepId as string))
        throw new PermanentFailure('stuck', { code: 'stuck' });
    }),
  ]);
  return undone;
}

test('a failed run undoes what has succeeded, in reverse, and nothing else', async () => {
  const undone = await worker(['ship']);
  const run = await s.writ.start(plan, input);
  const snapshot = await s.ended(run.runId);
  expect(snapshot).toMatchObject({
    status: 'FAILED',
    undone: true,
    rootCause: { stepId: 'ship', errorCode: 'no_luck' },
  });
  expect(undone).toEqual([
    { stepId: 'undo:charge', input },
    { stepId: 'undo:reserve', input: { reservation: 7, order: 'o-1' } },
  ]);
  expect((await s.log(run.runId)).slice(-6)).toEqual([
    'StepFailed ship',
    'StepStarted undo:charge',
    'StepCompleted undo:charge',
    'StepStarted undo:reserve',
    'StepCompleted undo:reserve',
    'RunFailed',
  ]);
});

test('a run in which nothing can be undone does not say that it was', async () => {
  await worker(['reserve']);
  const run = await s.writ.start(plan, input);
  const snapshot = await s.ended(run.runId);
  expect(snapshot.status).toBe('FAILED');
  expect(snapshot.undone).toBeUndefined();
});

test('a run that completes undoes nothing', async () => {
  const undone = await worker([]);
  const run = await s.writ.start(plan, input);
  expect((await s.ended(run.runId)).status).toBe('COMPLETED');
  expect(undone).toEqual([]);
});

describe('an undo that fails for good', () => {
  test('ends undoing: what was done before stays, the run says so, and an alert is raised', async () => {
    const undone = await worker(['ship', 'undo:charge']);
    const run = await s.writ.start(plan, input, { tenant: 'acme' });
    expect(await s.ended(run.runId)).toMatchObject({
      status: 'FAILED',
      undone: false,
      rootCause: { stepId: 'ship' },
    });
    expect(undone.map(({ stepId }) => stepId)).toEqual(['undo:charge']);
    expect((await s.log(run.runId)).slice(-3)).toEqual([
      'StepStarted undo:charge',
      'StepFailed undo:charge',
      'RunFailed',
    ]);
    const last = (await s.writ.runs.events(run.runId)).items.at(-1);
    expect(last?.eventData).toMatchObject({
      undone: false,
      rootCause: { stepId: 'ship', errorCode: 'no_luck', errorMessage: 'no luck' },
    });
    expect(
      await s.db.query(
        'select code, severity, tenant_id, subject, detail, cleared_at from writ.alert',
      ),
    ).toEqual([
      {
        code: 'COMPENSATION_FAILED',
        severity: 'P1',
        tenant_id: 'acme',
        subject: `run/${run.runId}`,
        detail: { steps: ['undo:charge'] },
        cleared_at: null,
      },
    ]);
    expect(
      await s.db.query(`select from writ.event_outbox where event_type = 'system.alert_raised'`),
    ).toHaveLength(1);
  });

  test('is tried as often as the plan says first', async () => {
    let tries = 0;
    const stubborn = definePlan<{ order: string }>('stubborn', { version: '1' }, (p) => {
      const a = p.step('a', act, { compensate: { job: undo, retry: { attempts: 3 } } });
      p.step('b', act, { after: a });
    });
    const patient = defineJob<unknown>('undo', { retry: { attempts: 1, base: '1ms', cap: '1ms' } });
    await s.work([
      act.handle(({ step }) => {
        if (step?.stepId === 'b') throw new PermanentFailure('no luck');
      }),
      patient.handle(() => {
        if (++tries < 3) throw new Error('busy');
      }),
    ]);
    const run = await s.writ.start(stubborn, input);
    // Delays are the kind's own, which the plan registered.
    const done = s.ended(run.runId);
    await s.untilLog(run.runId, 'StepStarted undo:a');
    while ((await s.db.query('select from writ.run where ended_at is null')).length > 0) {
      // Only while it waits: a lease that is over in the middle of a try would be a try more.
      if (
        (await s.db.query(`select from writ.job_queue where status = 'retry_waiting'`)).length > 0
      )
        await s.db.clock.advance('2h');
      await new Promise((resume) => setTimeout(resume, 5));
    }
    expect(await done).toMatchObject({ status: 'FAILED', undone: true });
    expect(tries).toBe(3);
    expect((await s.log(run.runId)).filter((line) => line === 'StepStarted undo:a')).toHaveLength(
      1,
    );
  });
});

test('elements of a list are undone one by one, each with its own input', async () => {
  const undone: unknown[] = [];
  const list = definePlan<{ list: number[] }>('list', { version: '1' }, (p) => {
    const all = p.each('resize', resize, { over: p.input.list, parallel: 2, compensate: undo });
    p.step('ship', act, { after: all, input: { order: 'x' } });
  });
  await s.work([
    resize.handle(({ input: n }) => n),
    act.handle(() => {
      throw new PermanentFailure('no luck');
    }),
    undo.handle(({ step, input: given }) => undone.push([step?.stepId, given])),
  ]);
  const run = await s.writ.start(list, { list: [10, 11, 12] });
  expect(await s.ended(run.runId)).toMatchObject({ status: 'FAILED', undone: true });
  expect(undone).toHaveLength(3);
  expect(new Map(undone as [string, number][])).toEqual(
    new Map([
      ['undo:resize[0]', 10],
      ['undo:resize[1]', 11],
      ['undo:resize[2]', 12],
    ]),
  );
});

test('when an element fails, those that succeeded are undone', async () => {
  const undone: unknown[] = [];
  const list = definePlan<{ list: number[] }>('part', { version: '1' }, (p) => {
    p.each('resize', resize, { over: p.input.list, parallel: 1, compensate: undo });
  });
  await s.work([
    resize.handle(({ input: n }) => {
      if (n === 12) throw new PermanentFailure('too dark');
    }),
    undo.handle(({ step }) => undone.push(step?.stepId)),
  ]);
  const run = await s.writ.start(list, { list: [10, 11, 12, 13] });
  expect(await s.ended(run.runId)).toMatchObject({ status: 'FAILED', undone: true });
  expect(undone).toEqual(['undo:resize[1]', 'undo:resize[0]']);
});
