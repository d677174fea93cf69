/**
 * What Writ promises in this story, held against the figures: one promise that is not kept makes
 * the demo fail.
 */
import { exitCodes, Failure } from '../cli/failure.js';
import { count, type Output, plural } from '../cli/output.js';
import type { Figures } from './figures.js';
import type { Stage } from './stage.js';

const once = ({ effects, receipts, events }: Figures['killed']) =>
  effects === 1 && receipts === 1 && events === 1;

const byPostgres = (by: string | null) => by === 'PostgreSQL';

export const promises: readonly (readonly [
  promise: string,
  kept: (figures: Figures) => boolean,
])[] = [
  [
    'writes and a claim by the agent are denied',
    ({ directWrites: { tried, denied } }) => tried > 0 && denied === tried,
  ],
  [
    'every forgery by the agent is refused',
    ({ forgeries }) => forgeries.length > 0 && forgeries.every(({ by }) => by !== null),
  ],
  [
    'a gate leaves a receipt of a forgery that it refuses, and PostgreSQL leaves none',
    ({ forgeries }) => forgeries.every(({ by, receipts }) => receipts === (byPostgres(by) ? 0 : 1)),
  ],
  [
    'whoever may not approve or activate is refused',
    ({ overreach: { tried, refused } }) => tried > 0 && refused.length === tried,
  ],
  ['an edited contract has lost its approval', ({ edited }) => edited === 'approval_void'],
  ['what was refused has changed nothing', ({ untouched }) => untouched],
  ['the worker was killed', ({ killed }) => killed.signal === 'SIGKILL' && killed.point !== ''],
  ['the step it was killed over was done once', ({ killed }) => once(killed)],
  [
    'the change was completed, and its audit passed',
    ({ completed }) => completed.status === 'COMPLETED' && completed.audit === 'PASS',
  ],
  [
    'a change that made the shop ill was put back',
    ({ restored: { status, stateBefore, stateBetween, stateAfter } }) =>
      status === 'ROLLED_BACK' && stateAfter === stateBefore && stateBetween !== stateBefore,
  ],
  [
    'a signal over its threshold led to one change, and a storm of them to no other',
    ({ governed: { changes, storms } }) => changes === 1 && storms === 1,
  ],
  [
    'every signal is settled or waits',
    ({ governed: g }) =>
      g.signals > 0 && g.settled === g.decided && g.settled + g.waiting === g.signals,
  ],
  [
    'every write has its receipt and its event',
    ({ changes: c }) => c.effects > 0 && c.receipts === c.effects && c.events === c.effects,
  ],
  ['nothing was done twice', ({ changes }) => changes.twice === 0],
  [
    'nothing was done that no person had signed',
    ({ changes: c }) => c.unapproved === 0 && c.approvals > 0 && c.signed === c.approvals,
  ],
  ['the export verifies', ({ ledger }) => ledger.verified],
  [
    'one edited byte of it is found, by its place',
    ({ ledger: { edited, found } }) => found === edited,
  ],
];

/** The figures, and the verdict: throws when they are not what Writ promises. */
export function conclude(output: Output, stage: Stage, figures: Figures, ms: number): void {
  const broken = promises.filter(([, kept]) => !kept(figures)).map(([promise]) => promise);
  const { directWrites, forgeries, overreach, governed, changes, ledger } = figures;
  const refused = forgeries.filter(({ by }) => by !== null);
  const postgres = refused.filter(({ by }) => byPostgres(by)).length;
  const left = refused.reduce((n, { receipts }) => n + receipts, 0);
  const zero = (n: number) => output.style(n === 0 ? ['bold', 'green'] : ['bold', 'red'], count(n));
  stage.pairs([
    [
      'statements past the rules',
      count(directWrites.tried),
      `${count(directWrites.denied)} denied by PostgreSQL`,
    ],
    [
      'forgeries',
      count(forgeries.length),
      `${count(postgres)} refused by PostgreSQL, ${count(refused.length - postgres)} by gates; ${plural(left, 'receipt')}`,
    ],
    [
      'attempts without the right',
      count(overreach.tried),
      `${count(overreach.refused.length)} refused`,
    ],
    [
      'signals to the governor',
      count(governed.signals),
      `${count(governed.settled)} settled, ${count(governed.waiting)} in the buffer`,
    ],
    ['changes made or undone', count(changes.effects), "as a trigger of the demo's own saw them"],
    ['their receipts, events', `${count(changes.receipts)}, ${count(changes.events)}`],
    ['done twice', zero(changes.twice)],
    [
      'done without a signature',
      zero(changes.unapproved),
      `${count(changes.signed)} of ${count(changes.approvals)} signatures check out`,
    ],
    ['receipts in the ledger', count(ledger.receipts), 'verified without a database'],
  ]);
  if (output.json)
    output.data({ ...figures, good: broken.length === 0, totalSeconds: Math.round(ms) / 1000 });
  if (broken.length > 0)
    throw new Failure(
      exitCodes.failed,
      'demo_failed',
      `Not kept: ${broken.join('; ')}.`,
      'This is a bug in Writ: please report it.',
    );
  if (output.json) return;
  output.line();
  output.line(
    output.style(
      'bold',
      `Nothing unapproved, nothing repeated, nothing hidden, in ${(ms / 1000).toFixed(1)} s.`,
    ),
  );
  output.line('Next: docs/governance.md and docs/governor.md show how it is written.');
}
