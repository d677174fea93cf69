/** A run as lines of text: its plan step by step, with what has become of each. Pure. */
import type { PlanDocument, PlanStep } from '../../runs/plans/document.js';
import type { StepTries } from '../../runs/runs.js';
import type { RunSnapshot } from '../../runs/snapshot.js';
import type { StepSnapshot } from '../../runs/step.js';
import type { Paint } from '../live.js';
import { fit, oneLine, pad, plural, type Style, span } from '../output.js';
import { endOf, moment, ofItems, reasons } from './words.js';

export interface Look {
  readonly snapshot: RunSnapshot;
  readonly plan: PlanDocument;
  readonly tries: Readonly<Record<string, StepTries>>;
  /** By the clock of the database, in milliseconds. */
  readonly now: number;
}

interface Line {
  readonly text: string;
  /** Nothing happens there: it may be left out when there is no room. */
  readonly quiet?: 'ended' | 'open';
}

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const nameWidth = 44;
const timeWidth = 8;

/** The lines of a run; at most so many, where there is no room for more. */
export function linesOf(
  look: Look,
  paint: Paint,
  options: { readonly frame?: number; readonly rows?: number } = {},
): string[] {
  const { plan } = look;
  const rows = rowsOf(plan.steps);
  const width = Math.min(
    nameWidth,
    Math.max(...rows.map(({ prefix, step }) => prefix.length + step.id.length)) + 2,
  );
  const steps = rows.map((row) =>
    stepLine(row, look, paint, width, frames[(options.frame ?? 0) % frames.length] as string),
  );
  const head = [heading(look, paint)];
  const foot = footing(look, paint);
  const room = (options.rows ?? Number.POSITIVE_INFINITY) - head.length - foot.length;
  return [
    ...head,
    ...(steps.length <= room ? steps.map(({ text }) => text) : folded(steps, room, paint)),
    ...foot,
  ];
}

function heading({ snapshot, plan, now }: Look, paint: Paint): string {
  const { runId, status, substatus, requested, startedAt, completedAt } = snapshot;
  const since =
    startedAt === undefined
      ? ''
      : `  ${span(Math.max(0, (completedAt ? Date.parse(completedAt) : now) - Date.parse(startedAt)))}`;
  const asked = requested ? `, ${requested} was asked for` : '';
  return `${paint('bold', `${plan.planId} ${plan.planVersion}`)}  ${runId}  ${paint(statusStyle[status], status)}${substatus ? ` ${substatus}` : ''}${asked}${paint('dim', since)}`;
}

export const statusStyle: Record<RunSnapshot['status'], Style> = {
  PENDING: 'dim',
  APPROVED: 'dim',
  RUNNING: 'cyan',
  PAUSED: 'yellow',
  COMPLETED: 'green',
  FAILED: 'red',
  CANCELLED: 'yellow',
};

function stepLine(
  { prefix, step }: Row,
  look: Look,
  paint: Paint,
  width: number,
  spinner: string,
): Line {
  const { snapshot, tries, now } = look;
  const was = snapshot.steps.find(({ stepId }) => stepId === step.id);
  const undoing = snapshot.steps.find(({ stepId }) => stepId === `undo:${step.id}`);
  const status = was?.status ?? 'PENDING';
  const running =
    step.type === 'wait' || step.type === 'timer' ? paint('yellow', '…') : paint('cyan', spinner);
  const marks = {
    PENDING: paint('dim', '·'),
    RUNNING: running,
    SUCCESS: paint('green', '✓'),
    FAILED: paint('red', '✗'),
    SKIPPED: paint('dim', '–'),
  };
  const name = `${paint('dim', prefix)}${marks[status]} ${fit(step.id, Math.max(8, width - 2 - prefix.length))}`;
  const details = [
    detailOf(step, was, tries[step.id], now),
    undone(undoing, paint, spinner),
    joined(step),
  ].filter((text) => text !== '');
  const text =
    `${pad(name, width)}  ${pad(timeOf(was, now), timeWidth, 'right')}  ${details.join('  ')}`.trimEnd();
  const active =
    status === 'RUNNING' ||
    status === 'FAILED' ||
    undoing?.status === 'RUNNING' ||
    undoing?.status === 'FAILED';
  return active ? { text } : { text, quiet: status === 'PENDING' ? 'open' : 'ended' };
}

function timeOf(was: StepSnapshot | undefined, now: number): string {
  if (was?.startedAt === undefined || was.status === 'SKIPPED') return '';
  return span(
    Math.max(
      0,
      (was.completedAt && was.status !== 'RUNNING' ? Date.parse(was.completedAt) : now) -
        Date.parse(was.startedAt),
    ),
  );
}

function detailOf(
  step: PlanStep,
  was: StepSnapshot | undefined,
  tried: StepTries | undefined,
  now: number,
): string {
  if (!was || was.status === 'PENDING') return '';
  const again =
    Number(was.logicalAttemptId) > 1 ? `attempt ${was.logicalAttemptId} by request` : '';
  const items = was.items && step.type === 'each' ? ofItems(was.items) : '';
  const say = (...texts: (string | undefined)[]) => oneLine(texts.filter(Boolean).join(', '));
  switch (was.status) {
    case 'SUCCESS':
      return say(
        items,
        again,
        Number(was.engineAttemptId ?? 1) > 1 ? `in try ${was.engineAttemptId}` : '',
      );
    case 'FAILED':
      return say(items, again, was.error ? `${was.error.code}: ${was.error.message}` : 'failed');
    case 'SKIPPED':
      return step.type === 'wait' && was.startedAt && was.reasonCode === 'CONDITION_FALSE'
        ? `nothing came in time`
        : was.reasonCode
          ? reasons[was.reasonCode]
          : '';
    default:
      if (step.type === 'wait')
        return say(`waits for ${step.event}`, again, until(was, step.timeoutMs, now));
      if (step.type === 'timer') return say(until(was, step.ms, now));
      return say(
        items && `${items}, ${step.type === 'each' ? step.parallel : 1} at a time`,
        again,
        tried && triedWords(tried, now),
      );
  }
}

function triedWords({ attempts, max, waiting, error, dueAt }: StepTries, now: number): string {
  const due = Date.parse(dueAt);
  if (attempts === 0 || (attempts === 1 && !waiting)) return '';
  const next = waiting ? `, the next ${due > now ? `in ${span(due - now)}` : 'now'}` : '';
  return `try ${attempts} of ${max}${next}${error ? `: ${error}` : ''}`;
}

function until({ startedAt }: StepSnapshot, ms: number | undefined, now: number): string {
  if (ms === undefined || startedAt === undefined) return '';
  const due = Date.parse(startedAt) + ms;
  return `until ${moment(new Date(due).toISOString())}${due > now ? ` (${span(due - now)})` : ''}`;
}

function undone(undoing: StepSnapshot | undefined, paint: Paint, spinner: string): string {
  if (!undoing) return '';
  const items =
    undoing.items && undoing.items.succeeded + undoing.items.failed > 0
      ? ` ${plural(undoing.items.succeeded, 'item')}`
      : '';
  if (undoing.status === 'SUCCESS') return `${paint('yellow', '↩')} undone${items}`;
  if (undoing.status === 'FAILED')
    return paint(
      'red',
      oneLine(
        `✗ could not be undone${undoing.error ? `: ${undoing.error.code}: ${undoing.error.message}` : ''}`,
      ),
    );
  return `${paint('cyan', spinner)} is being undone${items}`;
}

/** A tree shows one way to a step; where there are several, they are named. */
function joined({ after = [] }: PlanStep): string {
  return after.length < 2
    ? ''
    : `after ${after.slice(0, 3).join(', ')}${after.length > 3 ? ` and ${after.length - 3} more` : ''}`;
}

function footing({ snapshot, plan }: Look, paint: Paint): string[] {
  const { runId, status, reason, inconsistent } = snapshot;
  const end = endOf(snapshot);
  const lines: string[] = [];
  if (end) lines.push(`${status === 'COMPLETED' ? paint('green', '✓') : paint('red', '✗')} ${end}`);
  if (status === 'PAUSED') {
    lines.push(oneLine(`Paused: ${reason ?? 'no reason was given'}`));
    const failed = plan.steps.find(({ id }) =>
      snapshot.steps.some((step) => step.stepId === id && step.status === 'FAILED'),
    );
    lines.push(
      failed
        ? `→ writ runs signal ${runId} RETRY_STEP --step ${failed.id}, or SKIP_STEP, or CANCEL`
        : `→ writ runs signal ${runId} RESUME, or CANCEL`,
    );
  }
  if (status === 'RUNNING' && snapshot.substatus === 'WAITING_APPROVAL') {
    const waits = plan.steps.filter(
      (step) =>
        step.type === 'wait' &&
        snapshot.steps.some((was) => was.stepId === step.id && was.status === 'RUNNING'),
    );
    for (const wait of waits.slice(0, 3))
      lines.push(
        `→ writ runs deliver ${runId} ${'event' in wait ? wait.event : ''} --payload JSON`,
      );
  }
  if (inconsistent)
    lines.push(
      paint(
        'red',
        `${plural(inconsistent, 'event')} of the log no rule allows: writ runs verify ${runId}`,
      ),
    );
  return lines.length > 0 ? ['', ...lines] : [];
}

/** What is quiet in a row becomes one line; what is still too much is cut. */
function folded(lines: readonly Line[], room: number, paint: Paint): string[] {
  const shown: string[] = [];
  let quiet: Line[] = [];
  const flush = () => {
    if (quiet.length <= 2) shown.push(...quiet.map(({ text }) => text));
    else
      shown.push(
        paint(
          'dim',
          quiet[0]?.quiet === 'ended'
            ? `  … ${plural(quiet.length, 'step')} ended`
            : `  … ${plural(quiet.length, 'step')} to come`,
        ),
      );
    quiet = [];
  };
  for (const line of lines) {
    if (quiet.length > 0 && line.quiet !== quiet[0]?.quiet) flush();
    if (line.quiet) quiet.push(line);
    else shown.push(line.text);
  }
  flush();
  return shown.length <= room
    ? shown
    : [
        ...shown.slice(0, Math.max(0, room - 1)),
        paint('dim', `  … and ${shown.length - room + 1} lines more`),
      ];
}

/**
 * A plan as rows. What comes after one step stands below it. Where a plan forks, its branches are
 * drawn as such; a step that waits for several stands behind the branches that lead to it, on the
 * level where they parted. A chain stays on one level, however long it is.
 */
export interface Row {
  /** What is drawn before the step: the branches that it stands in. */
  readonly prefix: string;
  readonly step: PlanStep;
}

interface Node {
  readonly step: PlanStep | undefined;
  readonly parent: Node | undefined;
  readonly depth: number;
  readonly branches: Node[];
  /** Steps at which branches of this one come together again. */
  readonly joins: Node[];
}

export function rowsOf(steps: readonly PlanStep[]): Row[] {
  const root: Node = { step: undefined, parent: undefined, depth: 0, branches: [], joins: [] };
  const nodes = new Map<string, Node>();
  // Every step comes behind those that it waits for.
  for (const step of steps) {
    const after = (step.after ?? []).flatMap((id) => nodes.get(id) ?? []);
    const parent = after.length === 0 ? root : after.reduce(fork);
    const node = { step, parent, depth: parent.depth + 1, branches: [], joins: [] };
    (after.length > 1 ? parent.joins : parent.branches).push(node);
    nodes.set(step.id, node);
  }
  const rows: Row[] = [];
  // What is still to be drawn, the next last: a plan may be a chain of a thousand.
  const open: { node: Node; prefix: string; below: string }[] = [
    { node: root, prefix: '', below: '' },
  ];
  for (let next = open.pop(); next; next = open.pop()) {
    const { node, prefix, below } = next;
    if (node.step) rows.push({ prefix, step: node.step });
    for (const join of node.joins.toReversed()) open.push({ node: join, prefix: below, below });
    const last = node.branches.length - 1;
    for (const [at, branch] of [...node.branches.entries()].reverse()) {
      const alone = last === 0;
      const line = {
        prefix: `${below}${at === last ? '└ ' : '├ '}`,
        below: `${below}${at === last ? '  ' : '│ '}`,
      };
      open.push({ node: branch, ...(alone ? { prefix: below, below } : line) });
    }
  }
  return rows;
}

/** Where the ways to two steps part. */
function fork(one: Node, other: Node): Node {
  let [a, b] = [one, other];
  while (a !== b) {
    if (a.depth >= b.depth) a = a.parent as Node;
    else b = b.parent as Node;
  }
  return a;
}
