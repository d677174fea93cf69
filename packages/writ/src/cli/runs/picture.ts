/** How a run looks: its plan step by step, with what has become of each; drawn over the last picture on a terminal. Pure but for the drawing. */
import type { PlanDocument, PlanStep } from '../../runs/plans/document.js';
import type { RunSnapshot } from '../../runs/snapshot.js';
import type { StepSnapshot } from '../../runs/step.js';
import { fit, oneLine, pad, plural, type Style, span } from '../output.js';
import { type Row, rowsOf } from './tree.js';
import { endOf, moment, ofItems, reasons } from './words.js';

/** The job of a step that has started and not ended: how often it was tried, and what went wrong the last time. */
export interface Tries {
  readonly attempts: number;
  readonly max: number;
  readonly waiting: boolean;
  readonly error: string | null;
  readonly due_ms: number;
}

export interface Look {
  readonly snapshot: RunSnapshot;
  readonly plan: PlanDocument;
  readonly tries: ReadonlyMap<string, Tries>;
  /** By the clock of the database, in milliseconds. */
  readonly now: number;
}

interface Line {
  readonly text: string;
  /** Nothing happens there: it may be left out when there is no room. */
  readonly quiet?: 'ended' | 'open';
}

type Paint = (style: Style, text: string) => string;

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
    detailOf(step, was, tries.get(step.id), now),
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
  tried: Tries | undefined,
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

function triedWords({ attempts, max, waiting, error, due_ms }: Tries, now: number): string {
  if (attempts === 0 || (attempts === 1 && !waiting)) return '';
  const next = waiting ? `, the next ${due_ms > now ? `in ${span(due_ms - now)}` : 'now'}` : '';
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
        `${plural(inconsistent, 'event')} of the log no rule allows: writ runs replay ${runId}`,
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
