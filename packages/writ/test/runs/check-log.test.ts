import { describe, expect, test } from 'vitest';
import { checkLog, type Fault, type LogCheck } from '../../src/runs/check-log.js';
import type { RunEvent } from '../../src/runs/events.js';
import type { PlanDocument } from '../../src/runs/plans/document.js';
import { failure, output } from './histories.js';
import { bad, job, type Line, logOf, ok, plan, signal, skipped, undoable } from './lines.js';

const faults = (of: PlanDocument, lines: Line[], check: LogCheck = {}) =>
  checkLog(of, logOf(of, lines), check);

describe('a log is at fault', () => {
  const two = plan([
    job('a', undoable),
    job('b', { after: ['a'], when: { ref: 'steps.a.output.go', is: true } }),
    job('c', undoable),
  ]);
  const go = { outputs: () => ({ go: true }) };
  const fan = plan([{ id: 'each', type: 'each', kind: 'k', over: { $ref: 'input' }, parallel: 1 }]);
  const begun: Line = ['StepStarted', 'each', { items: 2, parallel: 1 }];
  const fault = (found: Fault[]) =>
    found.map((one) => `${one.runSeq} ${one.fault} ${one.detail}`).join('\n');

  test.each<[string, PlanDocument, Line[], LogCheck, RegExp]>([
    [
      'if a step starts before its time',
      two,
      [['StepStarted', 'b']],
      go,
      /2 not_allowed .* has not ended/,
    ],
    [
      'if a step runs against its condition',
      two,
      [...ok('a'), ['StepStarted', 'b']],
      {},
      /to be skipped: CONDITION_FALSE/,
    ],
    [
      'if a step is skipped against its condition',
      two,
      [...ok('a'), skipped('b', 'CONDITION_FALSE')],
      go,
      /4 not_allowed/,
    ],
    [
      'if a step is skipped for nothing',
      two,
      [skipped('a', 'DEPENDENCY_FAILED')],
      go,
      /not for DEPENDENCY_FAILED, but start/,
    ],
    [
      'if nobody asked to skip it',
      two,
      [skipped('a', 'OPERATOR_SKIP')],
      go,
      /not for OPERATOR_SKIP/,
    ],
    [
      'if a step starts in a pause',
      two,
      [signal('PAUSE'), ['RunPaused', 'RUN', { reason: 'r', draining: 0 }], ['StepStarted', 'a']],
      go,
      /the run is paused/,
    ],
    [
      'if a step starts after a cancel',
      two,
      [signal('CANCEL'), ['StepStarted', 'a']],
      go,
      /being cancelled/,
    ],
    [
      'if a step starts after a failure',
      two,
      [...bad('a'), ['StepStarted', 'c']],
      go,
      /a step has failed/,
    ],
    [
      'if nobody asked for the pause',
      two,
      [['RunPaused', 'RUN', { reason: 'r', draining: 0 }]],
      go,
      /nobody asked/,
    ],
    [
      'if nobody asked to resume',
      two,
      [signal('PAUSE'), ['RunPaused', 'RUN', { reason: 'r', draining: 0 }], ['RunResumed', 'RUN']],
      go,
      /nobody asked/,
    ],
    [
      'if nobody asked to retry',
      two,
      [...bad('a'), ['StepStarted', 'a', {}, '2']],
      go,
      /a step has failed/,
    ],
    ['if nobody asked to cancel', two, [['RunCancelled', 'RUN', {}]], go, /nobody asked/],
    [
      'if it completes too early',
      two,
      [...ok('a'), ['RunCompleted', 'RUN']],
      go,
      /not every step has ended well/,
    ],
    ['if it fails without a failure', two, [['RunFailed', 'RUN', {}]], go, /no step has failed/],
    [
      'if it blames another step',
      two,
      [
        ...bad('c'),
        ['RunFailed', 'RUN', { rootCause: { stepId: 'a', errorCode: 'e', errorMessage: 'm' } }],
      ],
      go,
      /a has not failed/,
    ],
    [
      'if it completes after a failure',
      two,
      [...bad('c'), ['RunCompleted', 'RUN']],
      go,
      /not every step has ended well/,
    ],
    [
      'if it fails without undoing',
      two,
      [...ok('a'), ...bad('c'), ['RunFailed', 'RUN', {}]],
      go,
      /undo:a is to be done first/,
    ],
    [
      'if it says that it was undone, and it was not',
      two,
      [...ok('a'), ...bad('c'), ...bad('undo:a'), ['RunFailed', 'RUN', { undone: true }]],
      go,
      /undone is true/,
    ],
    [
      'if it fails while steps run',
      two,
      [['StepStarted', 'a'], ...bad('c'), ['RunFailed', 'RUN', {}]],
      go,
      /steps run still/,
    ],
    [
      'if it undoes while steps run',
      two,
      [...ok('c'), ['StepStarted', 'a'], signal('CANCEL'), ['StepStarted', 'undo:c']],
      go,
      /steps run still/,
    ],
    [
      'if it undoes for nothing',
      two,
      [...ok('a'), ['StepStarted', 'undo:a']],
      go,
      /the run goes on/,
    ],
    [
      'if it undoes in the wrong order',
      two,
      [...ok('a'), ...ok('c'), signal('CANCEL'), ['StepStarted', 'undo:a']],
      go,
      /c is to be undone first/,
    ],
    [
      'if it undoes two at once',
      two,
      [
        ...ok('a'),
        ...ok('c'),
        signal('CANCEL'),
        ['StepStarted', 'undo:c'],
        ['StepStarted', 'undo:a'],
      ],
      go,
      /another is being undone/,
    ],
    [
      'if it undoes what was not done',
      two,
      [signal('CANCEL'), ['StepStarted', 'undo:c']],
      go,
      /not done/,
    ],
    [
      'if it undoes what nothing undoes',
      two,
      [...ok('a'), ...ok('b'), signal('CANCEL'), ['StepStarted', 'undo:b']],
      go,
      /nothing undoes it/,
    ],
    ['if the plan has no such step', two, [['StepStarted', 'x']], go, /2 unknown_step/],
    [
      'if a move is illegal',
      two,
      [
        ['StepStarted', 'a'],
        ['StepStarted', 'a', {}, '2'],
      ],
      go,
      /3 illegal_move/,
    ],
    ['if an item starts without its step', fan, [['StepStarted', 'each[0]']], {}, /2 illegal_move/],
    [
      'if too many items run',
      fan,
      [begun, ['StepStarted', 'each[0]'], ['StepStarted', 'each[1]']],
      {},
      /1 run already/,
    ],
    [
      'if an each ends before its items',
      fan,
      [begun, ...ok('each[0]'), ['StepCompleted', 'each', { artifacts: [] }]],
      {},
      /not all of its items/,
    ],
    [
      'if an each fails and none of its items did',
      fan,
      [begun, ...ok('each[0]'), ['StepFailed', 'each', failure]],
      {},
      /none of its items failed/,
    ],
    [
      'if a body is in it',
      two,
      [
        ['StepStarted', 'a'],
        ['StepCompleted', 'a', { artifacts: [{ ...output('a'), body: 'x' }] }],
      ],
      go,
      /3 not_a_reference/,
    ],
    [
      'if something should have started',
      two,
      ok('a'),
      { ...go, atRest: true },
      /b should have started\n.*c should have started/,
    ],
    [
      'if it should have ended',
      plan([job('a')]),
      ok('a'),
      { atRest: true },
      /not_done RunCompleted/,
    ],
  ])('%s', (_, of, lines, check, words) => {
    expect(fault(faults(of, lines, check))).toMatch(words);
  });

  const good = logOf(plan([job('a')]), [...ok('a'), ['RunCompleted', 'RUN']]);
  test.each<[string, (events: RunEvent[]) => RunEvent[], RegExp]>([
    ['an event is missing', (events) => events.toSpliced(1, 1), /3 not_dense 2 was expected/],
    ['it does not begin at 1', (events) => events.slice(1), /2 not_dense 1 was expected/],
    ['an event is there twice', (events) => [...events, events.at(-1) as RunEvent], /4 not_dense/],
    [
      'an event is of another run',
      (events) => events.with(1, { ...(events[1] as RunEvent), runId: 'x' }),
      /2 other_run/,
    ],
    [
      'a key is wrong',
      (events) => events.with(1, { ...(events[1] as RunEvent), idempotencyKey: 'x' }),
      /2 wrong_key/,
    ],
    [
      'a key is there twice',
      (events) =>
        events.with(2, {
          ...(events[2] as RunEvent),
          idempotencyKey: events[1]?.idempotencyKey as string,
        }),
      /3 repeated_key/,
    ],
    [
      'an id is not that of its place',
      (events) =>
        events.with(1, { ...(events[1] as RunEvent), eventId: events[2]?.eventId as string }),
      /2 wrong_event_id/,
    ],
    [
      'it is of another plan',
      (events) =>
        events.with(0, {
          ...(events[0] as RunEvent),
          eventData: { ...events[0]?.eventData, planSha256: 'x' },
        }),
      /1 other_plan/,
    ],
  ])('if %s', (_, change, words) => {
    expect(checkLog(plan([job('a')]), good, { atRest: true })).toEqual([]);
    expect(fault(checkLog(plan([job('a')]), change([...good])))).toMatch(words);
  });

  test('and not where the rules leave the order open', () => {
    const items = plan([
      { id: 'each', type: 'each', kind: 'k', over: { $ref: 'input' }, parallel: 2, ...undoable },
      job('c', undoable),
    ]);
    const lines: Line[] = [
      ['StepStarted', 'each', { items: 2, parallel: 2 }],
      ...ok('each[0]'),
      ...ok('c'),
      ...ok('each[1]'),
      signal('CANCEL'),
    ];
    const orders = [
      ['c', 'each[0]', 'each[1]'],
      ['each[1]', 'c', 'each[0]'],
      ['each[0]', 'each[1]', 'c'],
    ];
    for (const order of orders) {
      const undone = order.flatMap((id) => ok(`undo:${id}`));
      expect(
        faults(items, [...lines, ...undone, ['RunCancelled', 'RUN', { undone: true }]], {
          atRest: true,
        }),
      ).toEqual([]);
    }
  });

  test('and not where a start is late', () => {
    const late: Line[] = [
      ['StepCompleted', 'a', { artifacts: [] }],
      ['StepStarted', 'a', { late: true }],
      ['RunCompleted', 'RUN'],
    ];
    expect(faults(plan([job('a')]), late, { atRest: true })).toEqual([]);
  });
});
