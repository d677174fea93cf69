import { describe, expect, test } from 'vitest';
import { checkLog } from '../../src/runs/check-log.js';
import { type Decision, decide } from '../../src/runs/decide.js';
import type { RunEvent } from '../../src/runs/events.js';
import type { PlanDocument } from '../../src/runs/plans/document.js';
import { emptySnapshot, isTerminal, reduce } from '../../src/runs/snapshot.js';
import { failure, type History, LogWriter, randomHistory } from './histories.js';
import { bad, job, type Line, logOf, ok, plan, runId, signal, skipped, undoable } from './lines.js';

const histories = Array.from({ length: 300 }, (_, seed) => randomHistory(seed + 1000));

/** A decision in the words of the histories. */
function words({ start, skip, finish, undo, change, end }: Decision): string[] {
  const all = [
    ...start.map((id) => `start ${id}`),
    ...undo.map((id) => `start ${id}`),
    ...skip.map(({ stepId, reasonCode }) => `skip ${stepId} ${reasonCode}`),
    ...finish.map(({ stepId, eventType }) => `${eventType} ${stepId}`),
  ];
  return [...all, ...(change ? [change] : []), ...(end ? [end] : [])].sort();
}

/** The same log with other events, numbered and signed anew. */
function rewritten(history: History, events: readonly RunEvent[]): RunEvent[] {
  const writer = new LogWriter(events[0]?.runId as string, history.plan.planVersion);
  for (const { eventType, stepId, eventData, logicalAttemptId } of events)
    writer.write(eventType, stepId, eventData, logicalAttemptId);
  return writer.events;
}

describe('random histories', () => {
  test('are of all kinds', () => {
    const types = new Set(
      histories.flatMap(({ events }) => events.map((event) => event.eventType)),
    );
    expect(types.size).toBe(14);
    for (const status of ['COMPLETED', 'FAILED', 'CANCELLED'])
      expect(histories.filter((one) => one.status === status).length).toBeGreaterThan(15);
    const ids = histories.flatMap(({ states }) => [...states.keys()]);
    for (const form of [/^undo:[^[]+$/, /^undo:.+\]$/, /^[^:]+\]$/])
      expect(ids.filter((id) => form.test(id)).length).toBeGreaterThan(10);
    expect(
      histories.some(({ events }) =>
        events.some((event) => event.eventType === 'StepStarted' && event.logicalAttemptId === '2'),
      ),
    ).toBe(true);
  });

  test('have no faults', () => {
    for (const { plan, events, input, outputs } of histories)
      expect(checkLog(plan, events, { input, outputs, atRest: true })).toEqual([]);
  });

  test('go on at every point as the oracle says', () => {
    for (const { plan, events, input, outputs, obligations } of histories) {
      let snapshot = emptySnapshot(events[0]?.runId as string);
      for (const [at, wanted] of obligations.entries()) {
        expect([at, words(decide(plan, snapshot, outputs, input))]).toEqual([at, wanted]);
        const event = events[at];
        if (event) snapshot = reduce(snapshot, [event]);
      }
    }
  });

  test('go on the same from JSON', () => {
    for (const { plan, events, input, outputs } of histories.slice(0, 60)) {
      for (let cut = 1; cut < events.length; cut++) {
        const snapshot = reduce(emptySnapshot(events[0]?.runId as string), events.slice(0, cut));
        expect(decide(plan, JSON.parse(JSON.stringify(snapshot)), outputs, input)).toEqual(
          decide(plan, snapshot, outputs, input),
        );
      }
    }
  });

  test('of runs that completed miss any end of a step that is taken out', () => {
    const completed = histories.filter(
      ({ status, events }) => status === 'COMPLETED' && events.length < 80,
    );
    let tried = 0;
    for (const history of completed) {
      const { plan, events, input, outputs } = history;
      for (const [at, { eventType }] of events.entries()) {
        if (!/^Step(?:Completed|Failed|Skipped)$/.test(eventType)) continue;
        tried++;
        const without = rewritten(history, events.toSpliced(at, 1));
        expect(checkLog(plan, without, { input, outputs })).not.toEqual([]);
      }
    }
    expect(tried).toBeGreaterThan(300);
  });

  test('cannot end before their end', () => {
    for (const history of histories) {
      const { plan, events, input, outputs } = history;
      const last = events.at(-1) as RunEvent;
      const snapshot = reduce(emptySnapshot(last.runId), events);
      if (!isTerminal(snapshot)) continue;
      const before = events.slice(0, -1);
      const facts = before.findLastIndex((event) =>
        /^(?:Step|RunResumed|RunPaused)/.test(event.eventType),
      );
      if (
        facts < 0 ||
        before[facts]?.eventType === 'RunPaused' ||
        before[facts]?.eventType === 'StepStarted'
      )
        continue;
      const early = rewritten(history, [...before.slice(0, facts), last, ...before.slice(facts)]);
      expect(checkLog(plan, early, { input, outputs })).not.toEqual([]);
    }
  });

  test('that stop in the middle are told what is missing, if they are at rest', () => {
    for (const { plan, events, input, outputs, obligations } of histories.slice(0, 100)) {
      for (let cut = 2; cut < events.length; cut++) {
        const faults = checkLog(plan, events.slice(0, cut), { input, outputs, atRest: true });
        expect(faults).toHaveLength(obligations[cut]?.length ?? 0);
        expect(faults.every(({ fault }) => fault === 'not_done')).toBe(true);
      }
    }
  });
});

const next = (
  of: PlanDocument,
  lines: Line[],
  input: unknown = {},
  outputs: (id: string) => unknown = () => ({}),
) => words(decide(of, reduce(emptySnapshot(runId), logOf(of, lines)), outputs, input));

describe('the rules', () => {
  const diamond = plan([
    job('a'),
    job('b', { after: ['a'] }),
    job('c', { after: ['a'] }),
    job('d', { after: ['b', 'c'] }),
  ]);

  test('a step starts when all that it comes after has ended', () => {
    expect(next(diamond, [])).toEqual(['start a']);
    expect(next(diamond, ok('a'))).toEqual(['start b', 'start c']);
    expect(next(diamond, [...ok('a'), ...ok('b')])).toEqual(['start c']);
    expect(next(diamond, [...ok('a'), ...ok('b'), ...ok('c')])).toEqual(['start d']);
    expect(next(diamond, [...ok('a'), ...ok('b'), ...ok('c'), ...ok('d')])).toEqual([
      'RunCompleted',
    ]);
  });

  test('a dependency that a condition or an operator skipped is satisfied', () => {
    const conditional = plan([
      job('a', { when: { ref: 'input.go', is: true } }),
      job('b', { after: ['a'] }),
    ]);
    expect(next(conditional, [], { go: false })).toEqual(['skip a CONDITION_FALSE']);
    expect(next(conditional, [skipped('a', 'CONDITION_FALSE')], { go: false })).toEqual([
      'start b',
    ]);
    expect(next(conditional, [skipped('a', 'OPERATOR_SKIP')], { go: true })).toEqual(['start b']);
  });

  test('an optional failure skips its dependents, and theirs, and not more', () => {
    const optional = plan([
      job('a', { optional: true }),
      job('b', { after: ['a'] }),
      job('c', { after: ['b'] }),
      job('d'),
    ]);
    expect(next(optional, [...ok('d'), ...bad('a')])).toEqual(['skip b DEPENDENCY_FAILED']);
    const lines: Line[] = [...ok('d'), ...bad('a'), skipped('b', 'DEPENDENCY_FAILED')];
    expect(next(optional, lines)).toEqual(['skip c DEPENDENCY_FAILED']);
    expect(next(optional, [...lines, skipped('c', 'DEPENDENCY_FAILED')])).toEqual(['RunCompleted']);
  });

  test('after a failure nothing starts, what runs ends, and then what was done is undone in reverse order, one by one', () => {
    const saga = plan([
      job('a', undoable),
      job('b', undoable),
      job('c', undoable),
      job('d'),
      job('e', { after: ['d'] }),
    ]);
    const lines: Line[] = [...ok('b'), ['StepStarted', 'a'], ['StepStarted', 'c'], ...bad('d')];
    expect(next(saga, lines)).toEqual([]);
    lines.push(['StepCompleted', 'a', { artifacts: [] }], ['StepFailed', 'c', failure]);
    expect(next(saga, lines)).toEqual(['start undo:a']);
    lines.push(['StepStarted', 'undo:a']);
    expect(next(saga, lines)).toEqual([]);
    lines.push(['StepCompleted', 'undo:a', { artifacts: [] }]);
    expect(next(saga, lines)).toEqual(['start undo:b']);
    expect(next(saga, [...lines, ...ok('undo:b')])).toEqual(['RunFailed']);
    expect(next(saga, [...lines, ...bad('undo:b')])).toEqual(['RunFailed']);
  });

  test('an undoing that fails is the last', () => {
    const saga = plan([job('a', undoable), job('b', undoable), job('c')]);
    expect(next(saga, [...ok('a'), ...ok('b'), ...bad('c'), ...bad('undo:b')])).toEqual([
      'RunFailed',
    ]);
  });

  test('a cancel undoes too; open waits and timers hold nothing up', () => {
    const waits = plan([
      job('a', undoable),
      { id: 'w', type: 'wait', event: 'w' },
      { id: 't', type: 'timer', ms: 1 },
    ]);
    const lines: Line[] = [
      ...ok('a'),
      ['StepStarted', 'w', { event: 'w' }],
      ['StepStarted', 't', { dueAt: 'd' }],
      signal('CANCEL'),
    ];
    expect(next(waits, lines)).toEqual(['start undo:a']);
    expect(next(waits, [...lines, ...ok('undo:a')])).toEqual(['RunCancelled']);
  });

  test('a run that was never started is cancelled at once', () => {
    const writer = new LogWriter(runId, '1.0.0');
    writer.write('RunQueued', 'RUN');
    writer.write(...signal('CANCEL'));
    expect(
      words(decide(diamond, reduce(emptySnapshot(runId), writer.events), () => undefined, {})),
    ).toEqual(['RunCancelled']);
  });

  test('an emergency stop undoes nothing', () => {
    expect(
      next(plan([job('a', undoable), job('b')]), [...ok('a'), signal('EMERGENCY_STOP')]),
    ).toEqual(['RunCancelled']);
  });

  test('a pause stops starts, and a failure in a plan that pauses is one', () => {
    const paused: Line = ['RunPaused', 'RUN', { reason: 'asked', draining: 0 }];
    expect(next(diamond, [...ok('a'), signal('PAUSE')])).toEqual(['RunPaused']);
    expect(next(diamond, [...ok('a'), signal('PAUSE'), paused])).toEqual([]);
    expect(next(diamond, [...ok('a'), signal('PAUSE'), paused, signal('RESUME')])).toEqual([
      'RunResumed',
    ]);
    const careful = plan([job('a'), job('b', { after: ['a'] })], { onFailure: 'pause' });
    expect(next(careful, bad('a'))).toEqual(['RunPaused']);
    const lines: Line[] = [...bad('a'), paused, signal('RETRY_STEP', { stepId: 'a' })];
    expect(next(careful, [...lines, ['RunResumed', 'RUN']])).toEqual(['start a']);
    expect(
      next(careful, [
        ...bad('a'),
        paused,
        signal('SKIP_STEP', { stepId: 'a' }),
        ['RunResumed', 'RUN'],
      ]),
    ).toEqual(['skip a OPERATOR_SKIP']);
  });

  test('an operator skips a step that waits, and one that has not begun', () => {
    const waits = plan([{ id: 'w', type: 'wait', event: 'w' }, job('b', { after: ['w'] })]);
    expect(
      next(waits, [['StepStarted', 'w', { event: 'w' }], signal('SKIP_STEP', { stepId: 'w' })]),
    ).toEqual(['skip w OPERATOR_SKIP']);
    expect(next(waits, [signal('SKIP_STEP', { stepId: 'b' })])).toEqual([
      'skip b OPERATOR_SKIP',
      'start w',
    ]);
  });

  const fan = plan([
    { id: 'each', type: 'each', kind: 'k', over: { $ref: 'input.list' }, parallel: 2, ...undoable },
    job('z', { after: ['each'] }),
  ]);
  const begun: Line = ['StepStarted', 'each', { items: 4, parallel: 2 }];

  test('an each keeps as many items running as it may, and ends as they do', () => {
    expect(next(fan, [begun])).toEqual(['start each[0]', 'start each[1]']);
    expect(next(fan, [begun, ...ok('each[0]'), ['StepStarted', 'each[1]']])).toEqual([
      'start each[2]',
    ]);
    expect(next(fan, [begun, ...[0, 1, 2, 3].flatMap((at) => ok(`each[${at}]`))])).toEqual([
      'StepCompleted each',
    ]);
    expect(next(fan, [['StepStarted', 'each', { items: 0, parallel: 2 }]])).toEqual([
      'StepCompleted each',
    ]);
  });

  test('after an item has failed no other starts; a retry begins those that did not succeed', () => {
    const lines: Line[] = [begun, ...ok('each[0]'), ['StepStarted', 'each[2]'], ...bad('each[1]')];
    expect(next(fan, lines)).toEqual([]);
    lines.push(['StepCompleted', 'each[2]', { artifacts: [] }]);
    expect(next(fan, lines)).toEqual(['StepFailed each']);
    lines.push(['StepFailed', 'each', failure]);
    expect(next(fan, lines)).toEqual(['start undo:each[2]']);
    const again: Line[] = [
      ...lines,
      signal('RETRY_STEP', { stepId: 'each' }),
      ['StepStarted', 'each', { items: 4, parallel: 2 }, '2'],
    ];
    expect(next(fan, again)).toEqual(['start each[1]', 'start each[3]']);
  });
});
