import { describe, expect, test } from 'vitest';
import { nextStates } from '../../src/machines/machine.js';
import { run, runMoves } from '../../src/machines/run.js';
import { runStep, runStepMoves } from '../../src/machines/run-step.js';
import type { RunEvent } from '../../src/runs/events.js';
import { type ItemsSnapshot, itemState } from '../../src/runs/items.js';
import {
  emptySnapshot,
  GapDetected,
  isTerminal,
  reduce,
  reduceMany,
} from '../../src/runs/snapshot.js';
import { Dice, failure, LogWriter, output, randomHistory } from './histories.js';
import { type Line, log, runId, running, started, stepOf } from './lines.js';

const seeds = Array.from({ length: 150 }, (_, seed) => seed + 1);
const json = <T>(value: T): T => JSON.parse(JSON.stringify(value));

function expectFrozen(value: unknown, path = 'snapshot'): void {
  if (typeof value !== 'object' || value === null) return;
  expect([path, Object.isFrozen(value)]).toEqual([path, true]);
  for (const [key, member] of Object.entries(value)) expectFrozen(member, `${path}.${key}`);
}

/** A log that makes no sense: events of the right form, in any order. */
function noise(seed: number): RunEvent[] {
  const dice = new Dice(seed);
  const writer = new LogWriter(runId, '1.0.0');
  const steps = [
    'a',
    'b',
    'each',
    'each[0]',
    'each[1]',
    'each[70]',
    'undo:a',
    'undo:each[1]',
    'ghost[0]',
    ...Array.from({ length: 12 }, (_, at) => `s${at}`),
  ];
  const data = [
    { artifacts: [output('a')] },
    failure,
    { reasonCode: 'CONDITION_FALSE' },
    { items: 80, parallel: 3 },
    { event: 'e' },
    { dueAt: 'd' },
    {},
  ];
  const signals = [
    'PAUSE',
    'RESUME',
    'CANCEL',
    'RETRY_STEP',
    'SKIP_STEP',
    'UPDATE_PARAMS',
    'EMERGENCY_STOP',
    'ESCALATE_ALERT',
  ];
  writer.write('RunStarted', 'RUN', started);
  for (let at = 0; at < 120; at++) {
    const roll = dice.roll();
    if (roll < 0.75)
      writer.write(
        dice.pick(runStepMoves),
        dice.pick(steps),
        dice.pick(data),
        dice.pick(['1', '1', '1', '2', '3', 'x']),
      );
    else if (roll < 0.85)
      writer.write('SignalAccepted', 'RUN', {
        type: dice.pick(signals),
        stepId: dice.pick(steps),
        params: { [dice.pick(['p', 'q'])]: at },
      });
    else if (roll < 0.97)
      writer.write(dice.pick(['RunPaused', 'RunResumed', 'RunStarted', 'RunQueued']), 'RUN', {
        reason: 'r',
        draining: 0,
      });
    else writer.write(dice.pick(runMoves), 'RUN', {});
  }
  return writer.events;
}

describe('a random log', () => {
  const logs = seeds.flatMap((seed) => [randomHistory(seed).events, noise(seed)]);

  test('reduces to the same in one go and in two, wherever it is cut', () => {
    for (const events of logs) {
      const whole = reduce(
        emptySnapshot(runId, 'acme'),
        events.map((event) => ({ ...event, runId })),
      );
      const own = events.map((event) => ({ ...event, runId }));
      for (let cut = 0; cut <= own.length; cut++) {
        const half = reduce(emptySnapshot(runId, 'acme'), own.slice(0, cut));
        expect(reduce(half, own.slice(cut))).toStrictEqual(whole);
      }
    }
  });

  test('reduces to the same event by event, from JSON each time', () => {
    for (const events of logs) {
      const id = events[0]?.runId as string;
      let snapshot = emptySnapshot(id);
      for (const event of events) snapshot = json(reduce(snapshot, [json(event)]));
      expect(snapshot).toStrictEqual(reduce(emptySnapshot(id), events));
    }
  });

  test('gives frozen snapshots, and leaves events and the snapshot before as they were', () => {
    for (const events of logs.slice(0, 60)) {
      const id = events[0]?.runId as string;
      const copy = json(events);
      const half = reduce(emptySnapshot(id), copy.slice(0, 20));
      const before = json(half);
      const parsed = json(half);
      for (const base of [half, parsed]) expectFrozen(reduce(base, copy.slice(20)));
      expectFrozen(reduce(parsed, []));
      expect(half).toStrictEqual(before);
      expect(parsed).toStrictEqual(before);
      expect(Object.isFrozen(parsed)).toBe(false);
      expect(copy).toStrictEqual(events);
      expect(copy.some((event) => Object.isFrozen(event.eventData))).toBe(false);
    }
  });

  test('shares with the snapshot before all that its events do not touch', () => {
    const steps = Array.from({ length: 500 }, (_, at): Line => ['StepStarted', `s${at}`]);
    const items = Array.from({ length: 5000 }, (_, at): Line => ['StepStarted', `each[${at}]`]);
    const base = running(
      ...steps,
      ['StepStarted', 'each', { items: 5000, parallel: 1000 }],
      ...items,
    );
    const [ending] = log(['StepCompleted', 'each[100]', { artifacts: [] }]) as [RunEvent];
    const after = reduce(base, [{ ...ending, runSeq: base.lastEventSeq + 1 }]);
    const changed = after.steps.filter((step, at) => step !== base.steps[at]);
    expect(changed.map((step) => step.stepId)).toEqual(['each']);
    const before = stepOf(base, 'each')?.items?.states ?? [];
    expect(changed[0]?.items?.states.filter((block, at) => block !== before[at])).toHaveLength(1);
  });

  test('has several futures that do not disturb each other', () => {
    const base = running(...Array.from({ length: 20 }, (_, at): Line => ['StepStarted', `s${at}`]));
    const future = (...ids: string[]) =>
      ids.map((id, at) => ({
        ...(log(['StepStarted', id])[0] as RunEvent),
        runSeq: base.lastEventSeq + 1 + at,
      }));
    const one = reduce(base, future('x', 'y'));
    const two = reduce(base, future('y', 'z', 'x'));
    const three = reduce(one, [
      {
        ...(log(['StepCompleted', 'x', { artifacts: [] }])[0] as RunEvent),
        runSeq: one.lastEventSeq + 1,
      },
    ]);
    expect(one.steps.slice(20).map((step) => step.stepId)).toEqual(['x', 'y']);
    expect(two.steps.slice(20).map((step) => step.stepId)).toEqual(['y', 'z', 'x']);
    expect(three.steps.slice(20).map((step) => [step.stepId, step.status])).toEqual([
      ['x', 'SUCCESS'],
      ['y', 'RUNNING'],
    ]);
    expect([one, two, three].map((snapshot) => snapshot.inconsistent)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});

test('a history that follows the rules reduces to what its engine knew', () => {
  for (const seed of seeds) {
    const { events, states, status } = randomHistory(seed);
    const snapshot = reduce(emptySnapshot(events[0]?.runId as string), events);
    expect(snapshot.inconsistent).toBeUndefined();
    expect(snapshot.status).toBe(status);
    for (const [id, state] of states) {
      const [, stepId = id, index] = /^(.+)\[(\d+)\]$/.exec(id) ?? [];
      const step = stepOf(snapshot, stepId);
      expect([
        id,
        index === undefined
          ? step?.status
          : step?.items && itemState(step.items, Number(index)).status,
      ]).toEqual([id, state]);
    }
    const counted = (wanted: string) =>
      [...states].filter(
        ([id, state]) => state === wanted && !id.includes('[') && !id.startsWith('undo:'),
      ).length;
    const plain = snapshot.steps.filter(({ stepId }) => !stepId.startsWith('undo:'));
    for (const wanted of ['SUCCESS', 'FAILED', 'SKIPPED'])
      expect(plain.filter((step) => step.status === wanted)).toHaveLength(counted(wanted));
  }
});

describe('every move of a run', () => {
  const into: Record<string, Line[]> = {
    PENDING: [],
    APPROVED: [['RunApproved', 'RUN']],
    RUNNING: [['RunStarted', 'RUN', started]],
    PAUSED: [
      ['RunStarted', 'RUN', started],
      ['RunPaused', 'RUN', { reason: 'r', draining: 0 }],
    ],
    COMPLETED: [
      ['RunStarted', 'RUN', started],
      ['RunCompleted', 'RUN'],
    ],
    FAILED: [
      ['RunStarted', 'RUN', started],
      ['RunFailed', 'RUN', { undone: true }],
    ],
    CANCELLED: [['RunCancelled', 'RUN', { reason: 'r' }]],
  };
  test.each(run.states.flatMap((from) => runMoves.map((move) => [from, move] as const)))(
    '%s, %s',
    (from, move) => {
      const [to] = nextStates(run, from, move);
      const lines = into[from] as Line[];
      const snapshot = reduce(
        emptySnapshot(runId),
        log(...lines, [move, 'RUN', { ...started, reason: 'r', draining: 0 }]),
      );
      expect(snapshot).toMatchObject({ status: to ?? from, lastEventSeq: lines.length + 1 });
      expect(snapshot.inconsistent).toBe(to === undefined ? 1 : undefined);
    },
  );
});

describe('every move of a step and of an item', () => {
  const into: Record<string, Line[]> = {
    PENDING: [],
    RUNNING: [['StepStarted', 'a']],
    SUCCESS: [
      ['StepStarted', 'a'],
      ['StepCompleted', 'a', { artifacts: [] }],
    ],
    FAILED: [
      ['StepStarted', 'a'],
      ['StepFailed', 'a', failure],
    ],
    SKIPPED: [['StepSkipped', 'a', { reasonCode: 'CONDITION_FALSE' }]],
  };
  const moves = runStep.states.flatMap((from) =>
    runStepMoves.flatMap((move) => ['1', '2'].map((attempt) => [from, move, attempt] as const)),
  );
  const asItem = (lines: Line[]) =>
    lines.map(([type, , ...rest]): Line => [type, 'each[3]', ...rest]);

  /** What the machine says, with its `when` about attempts read by hand. */
  function expected(
    from: (typeof runStep.states)[number],
    move: (typeof runStepMoves)[number],
    attempt: string,
  ): string | undefined {
    const [to] = nextStates(runStep, from, move);
    if (from === 'RUNNING' && attempt === '2') return undefined;
    if (from === 'FAILED' && attempt === '1' && move !== 'StepSkipped') return undefined;
    return to;
  }

  test.each(moves)('%s, %s of attempt %s', (from, move, attempt) => {
    const to = expected(from, move, attempt);
    const data = { artifacts: [], ...failure, reasonCode: 'OPERATOR_SKIP' };
    const step = running(...(into[from] as Line[]), [move, 'a', data, attempt]);
    expect(stepOf(step, 'a')?.status ?? 'PENDING').toBe(to ?? from);
    const item = running(
      ['StepStarted', 'each', { items: 5, parallel: 2 }],
      ...asItem(into[from] as Line[]),
      [move, 'each[3]', data, attempt],
    );
    expect(itemState(stepOf(item, 'each')?.items as ItemsSnapshot, 3).status).toBe(to ?? from);
    // A start that the end of its attempt was faster than is no contradiction; a second start of a
    // step is.
    const late = move === 'StepStarted' && attempt === '1';
    if (to === undefined)
      expect(step.inconsistent).toBe(late && from === 'SKIPPED' ? undefined : 1);
    if (to === undefined)
      expect(item.inconsistent).toBe(late && from !== 'RUNNING' ? undefined : 1);
  });
});

describe('a log', () => {
  test('of a type from a later version advances the watermark and changes nothing', () => {
    const before = running(['StepStarted', 'a']);
    const after = reduce(
      before,
      log(['x', ''], ['x', ''], ['StepTeleported', 'a', { status: 'SUCCESS' }]).slice(2),
    );
    expect(after).toStrictEqual({ ...before, lastEventSeq: 3 });
  });

  test('with a gap halts there, and says what is missing', () => {
    const events = log(
      ['RunStarted', 'RUN', started],
      ['StepStarted', 'a'],
      ['StepCompleted', 'a', { artifacts: [] }],
    );
    const gap = () => reduce(emptySnapshot(runId), [events[0], events[2]] as RunEvent[]);
    expect(gap).toThrow(GapDetected);
    expect(gap).toThrow(
      expect.objectContaining({
        code: 'PROJECTOR_GAP_DETECTED',
        expected: 2,
        found: 3,
        retryable: true,
      }),
    );
    expect(reduce(emptySnapshot(runId), events).lastEventSeq).toBe(3);
  });

  test('that was seen already is passed over', () => {
    const events = log(
      ['RunStarted', 'RUN', started],
      ['StepStarted', 'a'],
      ['StepCompleted', 'a', { artifacts: [] }],
    );
    const snapshot = reduce(emptySnapshot(runId), events);
    expect(reduce(snapshot, events)).toStrictEqual(snapshot);
    expect(reduce(snapshot, events)).not.toBe(snapshot);
  });

  test('of another run is a mistake of the caller', () => {
    expect(() => reduce(emptySnapshot('other'), log(['RunStarted', 'RUN', started]))).toThrow(
      /is not one of run other/,
    );
  });

  test('of many runs reduces to one snapshot each', () => {
    const histories = seeds.slice(0, 20).map((seed) => randomHistory(seed).events);
    const mixed = histories.flat().sort((a, b) => a.runSeq - b.runSeq);
    for (const events of [histories.flat(), mixed]) {
      const snapshots = reduceMany(events);
      expect(snapshots.size).toBe(histories.length);
      for (const own of histories)
        expect(snapshots.get(own[0]?.runId as string)).toStrictEqual(
          reduce(emptySnapshot(own[0]?.runId as string), own),
        );
    }
    const halves = reduceMany(mixed.filter((event) => event.runSeq <= 3));
    expect(reduceMany(mixed, (id) => halves.get(id))).toStrictEqual(reduceMany(mixed));
  });
});

describe('a snapshot', () => {
  test('is what the specification lists', () => {
    const snapshot = running(
      ['StepStarted', 'a'],
      ['StepCompleted', 'a', { artifacts: [output('a')] }],
      ['RunCompleted', 'RUN'],
    );
    expect(snapshot).toStrictEqual({
      runId,
      planId: 'p',
      planVersion: '1.0.0',
      engine: 'native',
      status: 'COMPLETED',
      lastEventSeq: 4,
      steps: [
        {
          stepId: 'a',
          status: 'SUCCESS',
          logicalAttemptId: '1',
          engineAttemptId: '1',
          startedAt: '2026-01-01T00:00:00.500Z',
          completedAt: '2026-01-01T00:00:00.750Z',
          endSeq: 3,
          artifacts: [output('a')],
        },
      ],
      counts: {
        running: 0,
        waiting: 0,
        sleeping: 0,
        undoing: 0,
        succeeded: 1,
        failed: 0,
        skipped: 0,
      },
      artifacts: [output('a')],
      startedAt: '2026-01-01T00:00:00.250Z',
      completedAt: '2026-01-01T00:00:01.000Z',
      totalDurationMs: 750,
    });
    expect(isTerminal(snapshot)).toBe(true);
  });

  test('keeps the error of a step, the root cause of a run, and whether it was undone', () => {
    const rootCause = { stepId: 'a', errorCode: 'handler_error', errorMessage: 'no luck' };
    const snapshot = running(
      ['StepStarted', 'a'],
      ['StepFailed', 'a', failure],
      ['RunFailed', 'RUN', { rootCause, undone: false }],
    );
    expect(snapshot).toMatchObject({ status: 'FAILED', rootCause, undone: false, artifacts: [] });
    expect(stepOf(snapshot, 'a')?.error).toEqual({
      code: 'handler_error',
      message: 'no luck',
      retryable: false,
    });
  });

  test('begins a retried step anew', () => {
    const retried: Line[] = [
      ['StepStarted', 'a'],
      ['StepFailed', 'a', failure],
      ['SignalAccepted', 'RUN', { type: 'RETRY_STEP', stepId: 'a' }],
    ];
    expect(stepOf(running(...retried), 'a')).toMatchObject({
      status: 'FAILED',
      requested: 'RETRY_STEP',
    });
    const step = stepOf(running(...retried, ['StepStarted', 'a', {}, '2']), 'a');
    expect(step).toMatchObject({ status: 'RUNNING', logicalAttemptId: '2', artifacts: [] });
    for (const field of ['error', 'completedAt', 'endSeq', 'requested'])
      expect(step).not.toHaveProperty(field);
  });

  test('keeps a start that comes behind its end as late', () => {
    const snapshot = running(
      ['StepCompleted', 'a', { artifacts: [output('a')] }],
      ['RunCompleted', 'RUN'],
      ['StepStarted', 'a', { late: true }],
    );
    expect(snapshot.inconsistent).toBeUndefined();
    expect(stepOf(snapshot, 'a')).toMatchObject({
      status: 'SUCCESS',
      late: true,
      startedAt: '2026-01-01T00:00:01.000Z',
    });
  });

  test('ignores and counts what happens to steps of a run that does not run', () => {
    expect(reduce(emptySnapshot(runId), log(['StepStarted', 'a']))).toMatchObject({
      inconsistent: 1,
      steps: [],
    });
    expect(
      running(
        ['StepStarted', 'a'],
        ['RunCancelled', 'RUN', {}],
        ['StepCompleted', 'a', { artifacts: [] }],
      ),
    ).toMatchObject({
      inconsistent: 1,
      steps: [{ status: 'RUNNING' }],
    });
  });

  test('remembers what was asked for until it happens', () => {
    const asked = (type: string): Line => ['SignalAccepted', 'RUN', { type }];
    expect(running(asked('PAUSE'))).toMatchObject({ status: 'RUNNING', requested: 'PAUSE' });
    expect(
      running(asked('PAUSE'), ['RunPaused', 'RUN', { reason: 'asked', draining: 0 }]),
    ).not.toHaveProperty('requested');
    expect(running(asked('CANCEL'), asked('PAUSE'))).toMatchObject({ requested: 'CANCEL' });
    expect(running(asked('EMERGENCY_STOP'), asked('CANCEL'))).toMatchObject({
      requested: 'EMERGENCY_STOP',
    });
    expect(
      running(asked('CANCEL'), ['RunCancelled', 'RUN', { reason: 'asked' }]),
    ).not.toHaveProperty('requested');
    expect(
      running(['SignalRejected', 'RUN', { type: 'CANCEL', code: 'AUTHZ_DENIED' }]),
    ).not.toHaveProperty('requested');
  });

  test('keeps parameters, the later over the earlier', () => {
    const update = (params: object): Line => [
      'SignalAccepted',
      'RUN',
      { type: 'UPDATE_PARAMS', params },
    ];
    expect(running(update({ a: 1, b: { c: 2 } }), update({ a: 3 })).params).toEqual({
      a: 3,
      b: { c: 2 },
    });
  });

  test('says that a run drains, or waits for somebody', () => {
    const wait: Line = ['StepStarted', 'ok', { event: 'approval' }];
    const pause: Line = ['RunPaused', 'RUN', { reason: 'asked', draining: 1 }];
    expect(running(['StepStarted', 'a'], pause)).toMatchObject({
      substatus: 'DRAINING',
      reason: 'asked',
    });
    expect(
      running(['StepStarted', 'a'], pause, ['StepCompleted', 'a', { artifacts: [] }]),
    ).not.toHaveProperty('substatus');
    expect(
      running(['StepStarted', 'a'], ['SignalAccepted', 'RUN', { type: 'CANCEL' }]),
    ).toMatchObject({ substatus: 'DRAINING' });
    expect(running(wait)).toMatchObject({
      substatus: 'WAITING_APPROVAL',
      counts: { waiting: 1, running: 0 },
    });
    expect(running(wait, ['StepStarted', 'a'])).not.toHaveProperty('substatus');
    expect(running(['StepStarted', 'nap', { dueAt: '2026-01-02T00:00:00Z' }])).not.toHaveProperty(
      'substatus',
    );
  });
});

describe('the artifacts of the elements of a list', () => {
  const each = (items: number, attempt = '1'): Line => [
    'StepStarted',
    'each',
    { items, parallel: 10 },
    attempt,
  ];
  const element = (at: number, attempt = '1'): Line[] => [
    ['StepStarted', `each[${at}]`, {}, attempt],
    ['StepCompleted', `each[${at}]`, { artifacts: [output(`o${at}`)] }, attempt],
  ];

  test('are those of the step, and of the run when it has completed', () => {
    const snapshot = running(
      each(3),
      ...element(2),
      ...element(0),
      ...element(1),
      ['StepCompleted', 'each', { items: 3, artifacts: [] }],
      ['RunCompleted', 'RUN'],
    );
    const kept = [output('o2'), output('o0'), output('o1')];
    expect(stepOf(snapshot, 'each')?.artifacts).toEqual(kept);
    expect(snapshot.artifacts).toEqual(kept);
  });

  test('stay over a retry of the list, which does not do them again', () => {
    const snapshot = running(
      each(2),
      ...element(0),
      ['StepStarted', 'each[1]'],
      ['StepFailed', 'each[1]', failure],
      ['StepFailed', 'each', failure],
      each(2, '2'),
      ...element(1, '2'),
      ['StepCompleted', 'each', { items: 2, artifacts: [] }, '2'],
    );
    expect(stepOf(snapshot, 'each')?.artifacts).toEqual([output('o0'), output('o1')]);
  });

  test('are all there of a hundred elements; of more, five are, and how many more there are is said', () => {
    const elements = (items: number) =>
      Array.from({ length: items }, (_, at) => element(at)).flat();
    const short = stepOf(running(each(100), ...elements(100)), 'each');
    expect(short?.artifacts).toHaveLength(100);
    expect(short?.moreArtifacts).toBeUndefined();
    const long = stepOf(running(each(101), ...elements(101)), 'each');
    expect(long?.artifacts).toHaveLength(5);
    expect(long?.moreArtifacts).toBe(96);
  });
});
