/** How runs look, as text. */
import { describe, expect, test } from 'vitest';
import { linesOf, rowsOf } from '../../../src/cli/runs/picture.js';
import type { PlanDocument, PlanStep } from '../../../src/runs/plans/document.js';
import type { StepTries } from '../../../src/runs/runs.js';
import { emptySnapshot, reduce } from '../../../src/runs/snapshot.js';
import {
  bad,
  job,
  type Line,
  logOf,
  ok,
  plan,
  runId,
  signal,
  skipped,
  undoable,
} from '../../runs/lines.js';

const plain = (_: unknown, text: string) => text;
const tree = (steps: PlanStep[]) => rowsOf(steps).map(({ prefix, step }) => prefix + step.id);

/**
 * A picture without its heading, a second after its last event, with times left out unless they
 * matter.
 */
function picture(
  of: PlanDocument,
  lines: Line[],
  options: { tries?: Record<string, StepTries>; rows?: number; frame?: number } = {},
): string[] {
  const events = logOf(of, lines);
  const now = Date.parse(events.at(-1)?.emittedAt as string) + 1_000;
  const snapshot = reduce(emptySnapshot(runId), events);
  const look = { snapshot, plan: of, tries: options.tries ?? {}, now };
  return linesOf(look, plain, options);
}
const steps = (...args: Parameters<typeof picture>) =>
  picture(...args)
    .slice(1)
    .map((line) => line.replace(/ +(?:\d[\d.]*) (?:ms|s|min)(?= |$)/, ''))
    .map((line) => line.replace(/ {2,}/g, '  ').trimEnd());

describe('the tree of a plan', () => {
  test('a chain stays on one level, however long', () => {
    expect(tree([job('a'), job('b', { after: ['a'] }), job('c', { after: ['b'] })])).toEqual([
      'a',
      'b',
      'c',
    ]);
    const thousand = Array.from({ length: 1_000 }, (_, n) =>
      job(`s${n}`, n > 0 ? { after: [`s${n - 1}`] } : {}),
    );
    expect(new Set(rowsOf(thousand).map(({ prefix }) => prefix))).toEqual(new Set(['']));
  });

  test('branches are drawn with what comes after them, and where they come together is behind them', () => {
    const forked = [
      job('a'),
      job('left', { after: ['a'] }),
      job('right', { after: ['a'] }),
      job('more', { after: ['left'] }),
      job('join', { after: ['more', 'right'] }),
      job('end', { after: ['join'] }),
    ];
    expect(tree(forked)).toEqual(['a', '├ left', '│ more', '└ right', 'join', 'end']);
  });

  test('branches within branches, and several beginnings', () => {
    const nested = [
      job('x'),
      job('y'),
      job('y1', { after: ['y'] }),
      job('y2', { after: ['y'] }),
      job('z', { after: ['x', 'y2'] }),
    ];
    expect(tree(nested)).toEqual(['├ x', '└ y', '  ├ y1', '  └ y2', 'z']);
  });

  test('a step that waits for one and for what comes after it stands behind that', () => {
    expect(tree([job('a'), job('b', { after: ['a'] }), job('c', { after: ['a', 'b'] })])).toEqual([
      'a',
      'b',
      'c',
    ]);
  });
});

describe('steps', () => {
  const chain = plan([
    job('reserve', undoable),
    job('charge', { after: ['reserve'] }),
    job('ship', { after: ['charge'] }),
  ]);

  test('done, running and to come have their marks, and the spinner turns', () => {
    const lines: Line[] = [...ok('reserve'), ['StepStarted', 'charge']];
    expect(steps(chain, lines)).toEqual(['✓ reserve', '⠋ charge', '· ship']);
    expect(steps(chain, lines, { frame: 1 })[1]).toBe('⠙ charge');
  });

  test('the heading says plan, run, status and how long it has taken', () => {
    expect(picture(chain, ok('reserve'))[0]).toMatch(
      new RegExp(`^p 1\\.0\\.0  ${runId}  RUNNING  \\d`),
    );
  });

  test('a failure is told with its code, what was undone where it was done, and the end below', () => {
    const undone: Line[] = [
      ['StepStarted', 'undo:reserve'],
      ['StepCompleted', 'undo:reserve', { artifacts: [] }],
      [
        'RunFailed',
        'RUN',
        {
          rootCause: { stepId: 'charge', errorCode: 'declined', errorMessage: 'No money.' },
          undone: true,
        },
      ],
    ];
    const failed = {
      error: { errorCode: 'declined', errorMessage: 'No money.', retryable: false },
    };
    const [first, second, third, , end] = steps(chain, [
      ...ok('reserve'),
      ['StepStarted', 'charge'],
      ['StepFailed', 'charge', failed],
      ...undone,
    ]);
    expect([first, second, third]).toEqual([
      '✓ reserve  ↩ undone',
      '✗ charge  declined: No money.',
      '· ship',
    ]);
    expect(end).toMatch(
      /^✗ FAILED after.*charge: declined: No money; what was done has been undone$/,
    );
  });

  test('an undoing that failed is not passed over', () => {
    const lines: Line[] = [...ok('reserve'), ...bad('charge'), ...bad('undo:reserve')];
    expect(steps(chain, lines)[0]).toMatch(/^✓ reserve {2}✗ could not be undone: /);
  });

  test('a step that is tried again says how often, when, and why', () => {
    const now = {
      attempts: 2,
      max: 5,
      waiting: false,
      error: 'no answer',
      dueAt: new Date(0).toISOString(),
    };
    expect(steps(chain, [['StepStarted', 'reserve']], { tries: { reserve: now } })[0]).toBe(
      '⠋ reserve  try 2 of 5: no answer',
    );
    const first = {
      attempts: 1,
      max: 5,
      waiting: false,
      error: null,
      dueAt: new Date(0).toISOString(),
    };
    expect(steps(chain, [['StepStarted', 'reserve']], { tries: { reserve: first } })[0]).toBe(
      '⠋ reserve',
    );
  });

  test('why a step was skipped is said', () => {
    expect(
      steps(chain, [
        ...ok('reserve'),
        skipped('charge', 'CONDITION_FALSE'),
        skipped('ship', 'OPERATOR_SKIP'),
      ]).slice(1),
    ).toEqual(['– charge  its condition does not hold', '– ship  skipped by a person']);
  });

  test('a list says how many of it are done, and how many run at a time', () => {
    const list = plan([
      { id: 'resize', type: 'each', kind: 'k', over: { $ref: 'input' }, parallel: 8 },
    ]);
    const items = Array.from({ length: 37 }, (_, n) => ok(`resize[${n}]`)).flat();
    expect(steps(list, [['StepStarted', 'resize', { items: 100, parallel: 8 }], ...items])).toEqual(
      ['⠋ resize  37/100, 8 at a time'],
    );
  });

  test('a wait says for what and until when, and how to end it', () => {
    const waits = plan([{ id: 'ok', type: 'wait', event: 'approval', timeoutMs: 172_800_000 }]);
    const [line, , hint] = steps(waits, [
      ['StepStarted', 'ok', { event: 'approval', dueAt: '2027-01-01T00:00:00.000Z' }],
    ]);
    expect(line).toMatch(
      /^… ok {2}waits for approval, until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC \(48 h\)$/,
    );
    expect(hint).toBe(`→ writ runs deliver ${runId} approval --payload JSON`);
  });

  test('a step that waits for several names them', () => {
    const joined = plan([job('a'), job('b'), job('c', { after: ['a', 'b'] })]);
    expect(steps(joined, [...ok('a'), ['StepStarted', 'b']])).toEqual([
      '├ ✓ a',
      '└ ⠋ b',
      '· c  after a, b',
    ]);
  });

  test('a paused run says why, and what a person can do', () => {
    const pausing = plan([job('a'), job('b')], { onFailure: 'pause' });
    const lines: Line[] = [...bad('a'), ['RunPaused', 'RUN', { reason: 'a failed', draining: 0 }]];
    expect(steps(pausing, lines).slice(-2)).toEqual([
      'Paused: a failed',
      `→ writ runs signal ${runId} RETRY_STEP --step a, or SKIP_STEP, or CANCEL`,
    ]);
    const asked: Line[] = [signal('PAUSE'), ['RunPaused', 'RUN', { reason: 'lunch', draining: 0 }]];
    expect(steps(pausing, asked).at(-1)).toBe(`→ writ runs signal ${runId} RESUME, or CANCEL`);
  });

  test('where there is no room, what is quiet is counted, and what happens is shown', () => {
    const long = plan(
      Array.from({ length: 60 }, (_, n) => job(`s${n}`, n > 0 ? { after: [`s${n - 1}`] } : {})),
    );
    const lines: Line[] = [
      ...Array.from({ length: 30 }, (_, n) => ok(`s${n}`)).flat(),
      ['StepStarted', 's30'],
    ];
    expect(steps(long, lines, { rows: 10 })).toEqual([
      '  … 30 steps ended',
      '⠋ s30',
      '  … 29 steps to come',
    ]);
    expect(steps(long, lines)).toHaveLength(60);
    const wide = plan(Array.from({ length: 60 }, (_, n) => job(`s${n}`)));
    const all: Line[] = Array.from({ length: 60 }, (_, n): Line => ['StepStarted', `s${n}`]);
    const cut = picture(wide, all, { rows: 10 });
    expect([cut.length, cut.at(-1)]).toEqual([10, '  … and 52 lines more']);
  });

  test('text of a handler has no power over the terminal', () => {
    const evil = { error: { errorCode: 'e', errorMessage: 'a\n\u001b[2Jb', retryable: false } };
    expect(
      steps(chain, [
        ['StepStarted', 'reserve'],
        ['StepFailed', 'reserve', evil],
      ])[0],
    ).toBe('✗ reserve  e: a �[2Jb');
  });
});
