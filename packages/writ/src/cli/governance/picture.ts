/**
 * How a governance job looks: step by step what was found and written, its audit, and its rollback
 * below.
 */
import {
  type ChangeEvent,
  type ChangeLook,
  type ChangePart,
  type GovernedStep,
  waitsForPerson,
} from '../../governance/changes.js';
import { fit, pad, type Style, span } from '../output.js';
import { jobStyle, plain, stepNote, stepWords, valueText } from './words.js';

type Paint = (style: Style, text: string) => string;

/** One event, without its time. */
export function saysOf({ status, reason, step, rollback }: ChangeEvent, look?: ChangeLook): string {
  if (!step) return `${status}${reason ? `  ${reason}` : ''}`;
  const { length } = String(((rollback ? look?.rollback : look)?.steps ?? []).length);
  const name = `${String(step.step_no).padStart(length)}  ${stepWords(step)}`;
  if (status === 'FAILED') return `✗ ${name}  ${reason ?? ''}`.trimEnd();
  return (
    status === 'RUNNING' ? `… ${name}  ${stepNote(step)}` : `✓ ${name}  ${changeOf(step)}`
  ).trimEnd();
}

/** What a step found and what it wrote. */
function changeOf({ result }: GovernedStep): string {
  const slots = Object.keys(result?.after ?? {});
  return slots
    .map((slot) => `${valueText(result?.before[slot])} → ${valueText(result?.after[slot])}`)
    .join(', ');
}

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/** The lines of a job; at most so many, where there is no room for more. */
export function linesOf(
  look: ChangeLook,
  paint: Paint,
  options: { readonly frame?: number; readonly rows?: number } = {},
): string[] {
  const spinner = paint('cyan', frames[(options.frame ?? 0) % frames.length] as string);
  const { rollback } = look;
  const lines = [
    heading(look, paint, plain(look.job.title), look.now),
    ...stepLines(look, paint, spinner, look.now),
    ...(rollback
      ? [
          '',
          heading(rollback, paint, 'rollback', look.now),
          ...stepLines(rollback, paint, spinner, look.now),
        ]
      : []),
  ];
  const end = endOf(look, paint);
  const foot = end.length > 0 ? ['', ...end] : [];
  const room = (options.rows ?? Number.POSITIVE_INFINITY) - foot.length;
  if (lines.length <= room) return [...lines, ...foot];
  // What has been done longest is missed least.
  const hidden = lines.length - room + 1;
  return [
    lines[0] as string,
    paint('dim', `  … ${hidden} lines before`),
    ...lines.slice(hidden + 1),
    ...foot,
  ].slice(-Math.max(room + foot.length, 1));
}

function heading({ job }: ChangePart, paint: Paint, name: string, now: number): string {
  const took =
    job.started_at === null
      ? ''
      : `  ${span(Math.max(0, (job.completed_at ? Date.parse(job.completed_at) : now) - Date.parse(job.started_at)))}`;
  return `${paint('bold', name)}  ${job.job_id}  ${paint(jobStyle[job.status], job.status)}${paint('dim', took)}`;
}

function stepLines({ steps }: ChangePart, paint: Paint, spinner: string, now: number): string[] {
  const marks = {
    PENDING: paint('dim', '·'),
    RUNNING: spinner,
    COMPLETED: paint('green', '✓'),
    FAILED: paint('red', '✗'),
    SKIPPED: paint('dim', '–'),
  };
  const width = Math.min(44, Math.max(0, ...steps.map((step) => stepWords(step).length)));
  const numbers = String(steps.length).length;
  return steps.map((step) => {
    const ran = step.started_at !== null && step.status !== 'SKIPPED';
    const took = ran
      ? span(
          Math.max(
            0,
            (step.completed_at && step.status !== 'RUNNING' ? Date.parse(step.completed_at) : now) -
              Date.parse(step.started_at as string),
          ),
        )
      : '';
    const detail =
      step.status === 'FAILED'
        ? plain(step.error ?? 'failed')
        : changeOf(step) || (step.status === 'RUNNING' ? left(step, now) : '');
    const note = typeof step.undo_of === 'number' ? paint('dim', stepNote(step)) : '';
    return `${marks[step.status]} ${String(step.step_no).padStart(numbers)} ${pad(fit(stepWords(step), width), width)}  ${pad(took, 8, 'right')}  ${[detail, note].filter(Boolean).join('  ')}`.trimEnd();
  });
}

/** How long a soak still lasts. */
function left({ step_type, parameters, started_at }: GovernedStep, now: number): string {
  if (step_type !== 'soak' || started_at === null) return '';
  const ms = Date.parse(started_at) + Number(parameters.duration_ms) - now;
  return ms > 0 ? `${span(ms)} left` : '';
}

/** How it ended, and what there is to do; nothing while it goes on by itself. */
export function endOf(look: ChangeLook, paint: Paint = (_, text) => text): string[] {
  const { job, audit } = look;
  const why = job.rollback_reason ?? job.status_reason;
  const because = why ? `: ${plain(why)}` : '';
  if (waitsForPerson(look))
    return [
      `${paint('yellow', '!')} AUDIT_PENDING: ${plain(audit?.verdict_reason ?? 'the audit was inconclusive')}`,
      `→ A person decides who neither proposed nor approved it: writ changes resolve ${job.job_id} PASS --reason TEXT, or FAIL`,
    ];
  switch (job.status) {
    case 'COMPLETED':
      return [
        `${paint('green', '✓')} COMPLETED, and audited: ${audit?.verdict === 'PASS' && audit.checks_passed > 0 ? `${audit.checks_passed} checks passed` : plain(audit?.verdict_reason ?? '')}`,
      ];
    case 'CANCELLED':
      return [`${paint('yellow', '✗')} CANCELLED${because}`];
    case 'ROLLED_BACK':
      return [
        `${paint('yellow', '✗')} ROLLED_BACK${because}${job.state_after === job.state_before ? paint('dim', ' (everything is what it was before)') : ''}`,
      ];
    case 'ROLLBACK_FAILED':
      if (job.resolved_by_job_id !== null)
        return [
          `${paint('red', '✗')} ROLLBACK_FAILED${because}`,
          `Undone later, by job ${job.resolved_by_job_id}.`,
        ];
      return [
        `${paint('red', '✗')} ROLLBACK_FAILED${plain(job.status_reason ? `: ${job.status_reason}` : '')}`,
        '→ What it changed is still held. See `writ incidents list`, put it right, then one of',
        `  writ changes retry-rollback ${job.of_job_id ?? job.job_id}`,
        '  writ incidents resolve INCIDENT --resolution TEXT',
      ];
    default:
      return [];
  }
}
