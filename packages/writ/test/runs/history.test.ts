/**
 * A log is judged by what is stored of it and by the rules of its plan; the first event that
 * differs is named.
 */
import { expect, test } from 'vitest';
import type { RunEvent } from '../../src/runs/events.js';
import { describeHistory, type RunHistory, verifyHistory } from '../../src/runs/history.js';
import type { PlanDocument } from '../../src/runs/plans/document.js';
import { emptySnapshot, reduce } from '../../src/runs/snapshot.js';
import { job, type Line, logOf, ok, plan, runId, signal, skipped } from './lines.js';

const chain = plan([job('a'), job('b', { after: ['a'] })]);
const whole: Line[] = [...ok('a'), ...ok('b'), ['RunCompleted', 'RUN', {}]];

function historyOf(of: PlanDocument, lines: Line[], more: Partial<RunHistory> = {}): RunHistory {
  const events = logOf(of, lines);
  const snapshot = reduce(emptySnapshot(runId, 'default'), events);
  return {
    history: 1,
    run: { runId, tenant: 'default', status: snapshot.status },
    plan: of,
    snapshot,
    values: {},
    events,
    ...more,
  };
}
const said = (history: RunHistory) =>
  describeHistory(verifyHistory(history), (seq) =>
    history.events.find((event) => event.runSeq === seq),
  );

test('a log that follows its plan, and reduces to what is stored, is fine', () => {
  expect(verifyHistory(historyOf(chain, whole))).toMatchObject({
    ok: true,
    events: 6,
    status: 'COMPLETED',
    differences: [],
    notes: [],
  });
  expect(said(historyOf(chain, whole))).toEqual([
    `✓ Run ${runId} is what its log says: 6 events by the rules of p 1.0.0, to its end as COMPLETED.`,
  ]);
  expect(said(historyOf(chain, ok('a')))[0]).toContain('so far RUNNING');
});

test('a snapshot that is behind its log is compared as far as it goes', () => {
  const events = logOf(chain, whole);
  const behind = reduce(emptySnapshot(runId, 'default'), events.slice(0, 3));
  expect(verifyHistory(historyOf(chain, whole, { snapshot: behind })).ok).toBe(true);
  expect(verifyHistory(historyOf(chain, whole, { snapshot: null }))).toMatchObject({
    ok: true,
    notes: [expect.stringContaining('not stored a snapshot')],
  });
});

test('a stored snapshot that says something else is found, with the step and its event', () => {
  const good = historyOf(chain, whole);
  const changed = JSON.parse(JSON.stringify(good.snapshot));
  changed.steps[0].status = 'FAILED';
  const verdict = verifyHistory({ ...good, snapshot: changed });
  expect(verdict.differences).toEqual([
    {
      runSeq: 3,
      what: 'the stored snapshot',
      detail: 'step a is stored as FAILED, and the log gives SUCCESS.',
    },
  ]);
  expect(said({ ...good, snapshot: changed })[0]).toMatch(
    /first at event 3, StepCompleted of a, \d{4}-/,
  );
});

test('a missing event is named, in the middle and at the end', () => {
  const good = historyOf(chain, whole);
  const gap = verifyHistory({ ...good, events: good.events.filter(({ runSeq }) => runSeq !== 3) });
  expect(gap.differences[0]).toMatchObject({
    runSeq: 4,
    what: 'StepStarted of b',
    detail: expect.stringContaining('3 was expected'),
  });
  const end = verifyHistory({ ...good, events: good.events.slice(0, -1) });
  expect(end.differences.map(({ what }) => what)).toEqual([
    'the status of the run',
    'the end of the log',
  ]);
});

test('an event that the plan did not allow is named, and the first is first', () => {
  const early: Line[] = [
    ['StepStarted', 'a'],
    ['StepStarted', 'b'],
    ['StepStarted', 'c'],
  ];
  const verdict = verifyHistory(historyOf(chain, early));
  expect(verdict.ok).toBe(false);
  expect(verdict.differences.map(({ runSeq, what }) => [runSeq, what])).toEqual([
    [3, 'StepStarted of b'],
    [4, 'StepStarted of c'],
  ]);
  expect(verdict.differences[0]?.detail).toContain('the rules of the plan did not allow it then');
});

test('an event that was changed is found by the plan it names, its key or its run', () => {
  const good = historyOf(chain, whole);
  const change = (seq: number, more: Partial<RunEvent>) =>
    verifyHistory({
      ...good,
      snapshot: null,
      events: good.events.map((event) => (event.runSeq === seq ? { ...event, ...more } : event)),
    }).differences[0];
  expect(
    change(1, { eventData: { planId: 'other', planVersion: '1', planSha256: '0' } }),
  ).toMatchObject({ runSeq: 1 });
  expect(change(2, { idempotencyKey: 'x' })).toMatchObject({
    runSeq: 2,
    detail: expect.stringContaining('key'),
  });
  expect(change(2, { runId: '0198c0de-0000-7000-8000-00000000000f' })).toMatchObject({
    runSeq: 2,
    detail: expect.stringContaining('another run'),
  });
});

test('conditions are judged by their values, and not judged where those are not known', () => {
  const when = plan([job('a'), job('b', { after: ['a'], when: { ref: 'input.flag', is: true } })]);
  const lines: Line[] = [...ok('a'), skipped('b', 'CONDITION_FALSE'), ['RunCompleted', 'RUN', {}]];
  expect(verifyHistory(historyOf(when, lines, { values: { input: { flag: false } } })).ok).toBe(
    true,
  );
  expect(
    verifyHistory(historyOf(when, lines, { values: { input: { flag: true } } })).differences[0],
  ).toMatchObject({ what: 'StepSkipped of b' });
  expect(verifyHistory(historyOf(when, lines, { values: null }))).toMatchObject({
    ok: true,
    notes: [expect.stringContaining('may not read')],
  });
  const updated: Line[] = [
    ...ok('a'),
    skipped('b', 'CONDITION_FALSE'),
    signal('UPDATE_PARAMS', { params: { flag: true } }),
  ];
  expect(
    verifyHistory(historyOf(when, updated, { values: { input: { flag: true } } })),
  ).toMatchObject({
    ok: true,
    notes: [expect.stringContaining('UPDATE_PARAMS')],
  });
});
