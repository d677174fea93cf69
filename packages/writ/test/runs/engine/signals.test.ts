/**
 * Signals: each is decided once, recorded before it is applied, and refused with nothing changed
 *          where it does not fit.
 */
import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { uuidv7 } from '../../../src/database/uuid.js';
import {
  defineJob,
  definePlan,
  PermanentFailure,
  type RunSignal,
  type SignalRequest,
  Writ,
} from '../../../src/index.js';
import { latch } from '../../queue/latch.js';
import { codeOf, scene } from './scene.js';

const s = scene();
const act = defineJob<unknown>('act', { retry: { attempts: 1 } });
const row = definePlan<Record<string, unknown>>('row', { version: '1' }, (p) => {
  const a = p.step('a', act);
  p.step('b', act, { after: a, input: { speed: p.input.speed, colour: p.input.colour } });
});
const start = () => s.writ.start(row, { colour: 'red' });
const everything = async () => ({
  runs: await s.db.query('select * from writ_data.run order by run_id'),
  events: await s.db.query('select * from writ_data.run_event order by run_id, run_seq'),
  signals: await s.db.query('select * from writ_data.run_signal'),
  jobs: await s.db.query('select job_id, status from writ.job_queue order by job_id'),
});

describe('a signal', () => {
  test('is in the log with who sent it and why, before what follows from it', async () => {
    const run = await start();
    const { signalId } = await s.writ.runs.signal(
      run.runId,
      { type: 'PAUSE', reason: 'lunch' },
      { as: 'ada' },
    );
    const [, accepted, paused] = (await s.writ.runs.events(run.runId)).items;
    expect(accepted).toMatchObject({
      eventType: 'SignalAccepted',
      stepId: 'RUN',
      logicalAttemptId: signalId,
      causedBySignalId: signalId,
      eventData: { signalId, type: 'PAUSE', principal: 'ada', reason: 'lunch' },
    });
    expect(paused).toMatchObject({ eventType: 'RunPaused', causedBySignalId: signalId });
  });

  test('with the same id again changes nothing, and answers what was decided', async () => {
    const run = await start();
    const signal: RunSignal = { type: 'PAUSE', signalId: randomUUID() };
    await s.writ.runs.signal(run.runId, signal);
    await s.writ.runs.signal(run.runId, { type: 'RESUME' });
    const before = await everything();
    expect(await s.writ.runs.signal(run.runId, signal)).toEqual({
      signalId: signal.signalId,
      duplicate: true,
      status: 'RUNNING',
    });
    expect(await everything()).toEqual(before);
    expect(await codeOf(s.writ.runs.signal(run.runId, { ...signal, type: 'CANCEL' }))).toBe(
      'SIGNAL_DUPLICATE',
    );
    expect(await everything()).toEqual(before);
  });

  test('sent by many at once is applied once', async () => {
    const run = await start();
    const signal: RunSignal = { type: 'PAUSE', signalId: randomUUID() };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => s.writ.runs.signal(run.runId, signal)),
    );
    expect(answers.filter(({ duplicate }) => !duplicate)).toHaveLength(1);
    expect(await s.log(run.runId)).toEqual(['RunStarted', 'SignalAccepted PAUSE', 'RunPaused']);
  });

  test('with the same id to another run is another signal', async () => {
    const [one, two] = [await start(), await start()];
    const signal: RunSignal = { type: 'PAUSE', signalId: randomUUID() };
    for (const { runId } of [one, two])
      expect(await s.writ.runs.signal(runId, signal)).toMatchObject({ duplicate: false });
  });

  test('beyond the sixtieth in a minute is refused, to this run and no other', async () => {
    const [run, other] = [await start(), await start()];
    const params = { type: 'UPDATE_PARAMS', params: { speed: 1 } } as const;
    for (let n = 0; n < 60; n++) await s.writ.runs.signal(run.runId, params);
    const before = await everything();
    expect(await codeOf(s.writ.runs.signal(run.runId, params))).toBe('OUTBOX_RATE_LIMIT_EXCEEDED');
    expect(await everything()).toEqual(before);
    await s.writ.runs.signal(other.runId, params);
    await s.db.clock.advance('61s');
    await s.writ.runs.signal(run.runId, params);
  });

  test.each<[string, object]>([
    ['of a type that does not exist', { type: 'EXPLODE' }],
    ['with an id that is none', { type: 'PAUSE', signalId: 'mine' }],
    ['that names no step', { type: 'RETRY_STEP' }],
    ['that names a step that the plan does not have', { type: 'SKIP_STEP', stepId: 'z' }],
    ['with params that are none', { type: 'UPDATE_PARAMS', params: [1] }],
    ['without params', { type: 'UPDATE_PARAMS' }],
    ['that starts a run by an id that is none', { type: 'RETRY_RUN', runId: 'mine' }],
    [
      'with a body instead of a reference',
      { type: 'UPDATE_PARAMS', params: { report: 'x'.repeat(5_000) } },
    ],
    ['of 65 KB', { type: 'PAUSE', reason: 'x'.repeat(65_536) }],
    [
      'of 65 KB in fewer characters',
      { type: 'UPDATE_PARAMS', params: { text: 'é'.repeat(33_000) } },
    ],
  ])('%s is refused, and nothing changes', async (_, signal) => {
    const run = await start();
    const before = await everything();
    expect(await codeOf(s.writ.runs.signal(run.runId, signal as RunSignal))).toBe(
      'SIGNAL_INVALID_PAYLOAD',
    );
    expect(await everything()).toEqual(before);
  });

  test('of 65 KB is refused by the gate too', async () => {
    const run = await start();
    const big = JSON.stringify({
      type: 'PAUSE',
      signalId: randomUUID(),
      reason: 'x'.repeat(65_536),
    });
    const [row] = await s.db.query(`select writ.fn_run_signal($1, $2, 'ada') as answer`, [
      run.runId,
      big,
    ]);
    expect(row?.answer).toMatchObject({ refused: true, reason: 'SIGNAL_INVALID_PAYLOAD' });
  });

  test('to a run that has ended is refused, and nothing changes', async () => {
    const run = await start();
    await s.writ.runs.signal(run.runId, { type: 'CANCEL' });
    const before = await everything();
    const signals: RunSignal[] = [
      { type: 'PAUSE' },
      { type: 'RESUME' },
      { type: 'CANCEL' },
      { type: 'SKIP_STEP', stepId: 'a' },
      { type: 'RETRY_STEP', stepId: 'a' },
      { type: 'UPDATE_PARAMS', params: {} },
      { type: 'EMERGENCY_STOP', reason: 'fire' },
    ];
    for (const signal of signals)
      expect([signal.type, await codeOf(s.writ.runs.signal(run.runId, signal))]).toEqual([
        signal.type,
        'RUN_TERMINAL',
      ]);
    expect(await everything()).toEqual(before);
  });
});

describe('steps', () => {
  test('that failed and are optional can be retried while the run goes on, and count again', async () => {
    const held = latch();
    const plan = definePlan<unknown>('again', { version: '1' }, (p) => {
      p.step('a', act, { optional: true });
      p.step('b', act);
    });
    const run = await s.writ.start(plan, {});
    await s.work([
      act.handle(({ step }) => {
        if (step?.stepId === 'b') return held.opened;
        if (step?.attempt === 1) throw new PermanentFailure('no luck');
      }),
    ]);
    await s.untilLog(run.runId, 'StepFailed a');
    await s.writ.runs.signal(run.runId, { type: 'RETRY_STEP', stepId: 'a' });
    held.open();
    expect(await s.ended(run.runId)).toMatchObject({
      status: 'COMPLETED',
      counts: { succeeded: 2, failed: 0 },
    });
  });

  test('that have not failed are not retried, and those that run are not skipped', async () => {
    const held = latch();
    const run = await start();
    await s.work([act.handle(({ step }) => (step?.stepId === 'b' ? held.opened : undefined))]);
    await s.untilLog(run.runId, 'StepStarted b');
    const code = (type: 'RETRY_STEP' | 'SKIP_STEP', stepId: string) =>
      codeOf(s.writ.runs.signal(run.runId, { type, stepId }));
    expect([await code('RETRY_STEP', 'a'), await code('RETRY_STEP', 'b')]).toEqual([
      'STEP_TERMINAL',
      'STEP_NOT_TERMINAL',
    ]);
    expect([await code('SKIP_STEP', 'a'), await code('SKIP_STEP', 'b')]).toEqual([
      'STEP_TERMINAL',
      'STEP_NOT_TERMINAL',
    ]);
    held.open();
    await s.ended(run.runId);
  });

  test('that are skipped before their turn let the rest go on, and the run waits for what runs', async () => {
    const held = latch();
    const ran: unknown[] = [];
    const plan = definePlan<unknown>('early', { version: '1' }, (p) => {
      const a = p.step('a', act);
      const b = p.step('b', act, { after: a });
      p.step('c', act, { after: b });
    });
    const run = await s.writ.start(plan, {});
    await s.work([
      act.handle(({ step }) => {
        ran.push(step?.stepId);
        return step?.stepId === 'a' ? held.opened : undefined;
      }),
    ]);
    await s.untilLog(run.runId, 'StepStarted a');
    await s.writ.runs.signal(run.runId, { type: 'SKIP_STEP', stepId: 'b' });
    await s.untilLog(run.runId, 'StepCompleted c');
    expect((await s.writ.runs.snapshot(run.runId)).status).toBe('RUNNING');
    held.open();
    expect(await s.ended(run.runId)).toMatchObject({
      status: 'COMPLETED',
      counts: { succeeded: 2, skipped: 1 },
    });
    expect(ran).toEqual(['a', 'c']);
  });

  test('get the parameters that were updated before they began', async () => {
    const held = latch();
    const given: unknown[] = [];
    const run = await start();
    await s.work([
      act.handle(({ step, input }) => {
        given.push(input);
        return step?.stepId === 'a' ? held.opened : undefined;
      }),
    ]);
    await s.untilLog(run.runId, 'StepStarted a');
    await s.writ.runs.signal(run.runId, { type: 'UPDATE_PARAMS', params: { speed: 3 } });
    held.open();
    expect((await s.ended(run.runId)).params).toEqual({ speed: 3 });
    expect(given).toEqual([{ colour: 'red' }, { speed: 3, colour: 'red' }]);
  });

  test('are never given a secret by way of parameters', async () => {
    const run = await start();
    const before = await everything();
    const sent = s.writ.runs.signal(run.runId, {
      type: 'UPDATE_PARAMS',
      params: { deep: { password: 'x' } },
    });
    expect(await codeOf(sent)).toBe('forbidden_payload_key');
    expect(await everything()).toEqual(before);
  });
});

test('parameters that come again and again do not let the input grow beyond what an input may have', async () => {
  const run = await start();
  const more = (n: number) =>
    s.writ.runs.signal(run.runId, {
      type: 'UPDATE_PARAMS',
      params: Object.fromEntries(
        Array.from({ length: 15 }, (_, i) => [`text${n}.${i}`, 'x'.repeat(4_000)]),
      ),
    });
  const codes: (string | undefined)[] = [];
  for (let n = 0; n < 20; n++) codes.push(await codeOf(more(n)));
  expect(codes[0]).toBeUndefined();
  expect(codes.at(-1)).toBe('payload_too_large');
});

describe('a run that is tried again', () => {
  test('is a new run of the same plan with the same input, which names the old one', async () => {
    const run = await start();
    expect(await codeOf(s.writ.runs.signal(run.runId, { type: 'RETRY_RUN' }))).toBe(
      'RUN_NOT_TERMINAL',
    );
    await s.writ.runs.signal(run.runId, { type: 'CANCEL' });
    const runId = uuidv7();
    const answer = await s.writ.runs.signal(run.runId, { type: 'RETRY_RUN', runId });
    expect(answer).toMatchObject({ runId, status: 'CANCELLED' });
    const given: unknown[] = [];
    await s.work([act.handle(({ input }) => given.push(input))]);
    expect(await s.ended(runId)).toMatchObject({
      status: 'COMPLETED',
      originalRunId: run.runId,
      planId: 'row',
      planVersion: '1',
    });
    expect(given[0]).toEqual({ colour: 'red' });
    expect((await s.writ.runs.snapshot(run.runId)).status).toBe('CANCELLED');
  });

  test('is one run, however often the same signal comes, and every answer names it', async () => {
    const run = await start();
    await s.writ.runs.signal(run.runId, { type: 'CANCEL' });
    const signal: RunSignal = { type: 'RETRY_RUN', signalId: randomUUID() };
    const first = await s.writ.runs.signal(run.runId, signal);
    expect(await s.writ.runs.signal(run.runId, signal)).toMatchObject({
      duplicate: true,
      runId: first.runId,
    });
    expect(await s.db.query('select from writ.run')).toHaveLength(2);
  });

  test('must not have completed', async () => {
    const run = await start();
    await s.work([act.handle(() => undefined)]);
    await s.ended(run.runId);
    expect(await codeOf(s.writ.runs.signal(run.runId, { type: 'RETRY_RUN' }))).toBe('RUN_TERMINAL');
  });
});

describe('with a rule for who may', () => {
  const withRule = (
    authorizeSignal: NonNullable<Parameters<typeof Writ.connect>[0]['authorizeSignal']>,
  ) => Writ.connect({ connectionString: s.db.connectionString, authorizeSignal });

  test('who may not is refused, which the log records, and nothing else happens', async () => {
    const asked: SignalRequest[] = [];
    const guarded = await withRule((request) => {
      asked.push(request);
      return request.principal === 'ada' || { denied: 'AUTHZ_DENIED' };
    });
    try {
      const run = await start();
      const signal: RunSignal = { type: 'PAUSE', signalId: randomUUID(), reason: 'lunch' };
      expect(await codeOf(guarded.runs.signal(run.runId, signal, { as: 'mallory' }))).toBe(
        'AUTHZ_DENIED',
      );
      expect(await s.log(run.runId)).toEqual(['RunStarted', 'SignalRejected PAUSE']);
      const rejected = (await s.writ.runs.events(run.runId)).items.at(-1);
      expect(rejected).toMatchObject({
        logicalAttemptId: signal.signalId,
        eventData: {
          signalId: signal.signalId,
          type: 'PAUSE',
          principal: 'mallory',
          code: 'AUTHZ_DENIED',
          reason: 'lunch',
        },
      });
      // What was decided stays decided, even for who may.
      expect(await codeOf(guarded.runs.signal(run.runId, signal, { as: 'ada' }))).toBe(
        'AUTHZ_DENIED',
      );
      expect((await s.writ.runs.snapshot(run.runId)).status).toBe('RUNNING');
      expect(await guarded.runs.signal(run.runId, { type: 'PAUSE' }, { as: 'ada' })).toMatchObject({
        status: 'PAUSED',
      });
      expect(asked[0]).toMatchObject({
        principal: 'mallory',
        signal: { type: 'PAUSE' },
        run: {
          runId: run.runId,
          tenant: 'default',
          planId: 'row',
          planVersion: '1',
          status: 'RUNNING',
        },
      });
    } finally {
      await guarded.close();
    }
  });

  test('what is wrong with a signal is said before anybody is asked', async () => {
    let asked = 0;
    const guarded = await withRule(() => {
      asked++;
      return { denied: 'AUTHZ_DENIED' };
    });
    try {
      const run = await start();
      const wrong: RunSignal[] = [
        { type: 'EXPLODE' as never },
        { type: 'RETRY_STEP' },
        { type: 'PAUSE', signalId: 'mine' },
        { type: 'PAUSE', reason: 'x'.repeat(66_000) },
      ];
      for (const signal of wrong)
        expect(await codeOf(guarded.runs.signal(run.runId, signal))).toBe('SIGNAL_INVALID_PAYLOAD');
      expect(asked).toBe(0);
      expect(await s.log(run.runId)).toEqual(['RunStarted']);
    } finally {
      await guarded.close();
    }
  });
});
