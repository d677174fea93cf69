/** What signals are said to do, before they do it. */
import { expect, test } from 'vitest';
import { effectsOf } from '../../src/runs/effects.js';
import type { RunSignal } from '../../src/runs/engine.js';
import type { PlanDocument } from '../../src/runs/plans/document.js';
import { emptySnapshot, reduce } from '../../src/runs/snapshot.js';
import { bad, job, type Line, logOf, ok, plan, runId, undoable } from './lines.js';

const shop = plan([
  job('reserve', undoable),
  job('note', { after: ['reserve'] }),
  job('charge', { after: ['note'], ...undoable }),
  { id: 'approval', type: 'wait', event: 'approval', after: ['note'] },
  job('ship', {
    after: ['charge', 'approval'],
    input: { by: { $ref: 'steps.approval.output.by' } },
  }),
]);
const effects = (signal: RunSignal, lines: Line[], of: PlanDocument = shop, input?: unknown) =>
  effectsOf(signal, {
    snapshot: reduce(emptySnapshot(runId), logOf(of, lines)),
    plan: of,
    ...(input !== undefined && { input }),
  });

const halfway: Line[] = [
  ...ok('reserve'),
  ...ok('note'),
  ['StepStarted', 'charge'],
  ['StepStarted', 'approval', { event: 'approval' }],
];

test('a cancel stops what runs, ends what waits, and undoes in order', () => {
  expect(effects({ type: 'CANCEL' }, halfway)).toEqual([
    '1 step running, and told to stop: charge.',
    '1 wait or timer over at once: approval.',
    '1 step will not begin: ship.',
    '1 step will be undone, in this order: reserve.',
    'Done, and nothing undoes it: note.',
    'What still ends well before it stops is undone as well, if it can be.',
  ]);
  const charged: Line[] = [...ok('reserve'), ...ok('note'), ...ok('charge')];
  expect(effects({ type: 'CANCEL' }, charged)).toContain(
    '2 steps will be undone, in this order: charge, reserve.',
  );
});

test('an emergency stop undoes nothing, and says what stays', () => {
  expect(effects({ type: 'EMERGENCY_STOP' }, halfway)).toContain(
    'Nothing will be undone. What stays done: reserve, note.',
  );
});

test('elements of a list are counted', () => {
  const list = plan([
    { id: 'resize', type: 'each', kind: 'k', over: { $ref: 'input' }, parallel: 8, ...undoable },
    job('end', { after: ['resize'] }),
  ]);
  const items = Array.from({ length: 12 }, (_, n) => ok(`resize[${n}]`)).flat();
  const lines: Line[] = [['StepStarted', 'resize', { items: 100, parallel: 8 }], ...items];
  expect(effects({ type: 'CANCEL' }, lines, list)).toContain(
    '1 step will be undone, in this order: resize (12 items).',
  );
});

test('skipping says what begins then, and who goes without the output', () => {
  const approvalOpen: Line[] = [
    ...ok('reserve'),
    ...ok('note'),
    ...ok('charge'),
    ['StepStarted', 'approval', { event: 'approval' }],
  ];
  expect(effects({ type: 'SKIP_STEP', stepId: 'approval' }, approvalOpen)).toEqual([
    'Step approval is RUNNING and will be skipped.',
    'Then begins: ship.',
    'Without its output, which is null for them: ship.',
  ]);
  expect(effects({ type: 'SKIP_STEP', stepId: 'approval' }, halfway)[1]).toBe(
    'What comes after it still waits for other steps.',
  );
  expect(effects({ type: 'SKIP_STEP', stepId: 'ship' }, bad('reserve'))[1]).toBe(
    'Nothing comes after it.',
  );
  expect(effects({ type: 'SKIP_STEP', stepId: 'nope' }, halfway)).toEqual([
    'The plan has no step nope; it has reserve, note, charge, approval, ship.',
  ]);
});

test('new params are shown beside the old ones, and who will see them', () => {
  expect(
    effects({ type: 'UPDATE_PARAMS', params: { amount: 5, rush: true } }, halfway, shop, {
      amount: 4,
    }),
  ).toEqual([
    'input.amount: 4 becomes 5',
    'input.rush: nothing becomes true',
    '1 step to come, which will see it; 4 that have begun keep what they were given.',
  ]);
});
