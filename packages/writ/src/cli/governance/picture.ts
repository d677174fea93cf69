/** How a governance job looks: step by step what was found and written, its audit, and its rollback below; drawn over the last picture on a terminal. */
import type { Governance } from '../../governance/governance.js';
import type { GovernanceJobState } from '../../machines/governance-job.js';
import { databaseNow } from '../commands/runs/session.js';
import type { Session } from '../connection.js';
import { fit, pad, type Style, span } from '../output.js';
import { jobStyle, plain, stepNote, stepWords, valueText } from './words.js';

export interface JobRow {
  readonly job_id: string;
  readonly contract_id: string;
  readonly kind: 'forward' | 'rollback';
  readonly of_job_id: string | null;
  readonly status: GovernanceJobState;
  readonly status_reason: string | null;
  readonly run_id: string;
  readonly started_at: string | null;
  readonly completed_at: string | null;
  readonly state_before: string;
  readonly state_after: string | null;
  readonly rollback_job_id: string | null;
  readonly rollback_reason: string | null;
  readonly resolved_by_job_id: string | null;
  readonly updated_at: string;
  readonly history: readonly {
    readonly from_status: string;
    readonly to_status: string;
    readonly event: string;
    readonly reason: string | null;
    readonly by: string;
    readonly at: string;
  }[];
}

export interface StepRow {
  readonly step_no: number;
  readonly step_type: string;
  readonly target: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** The step that a rollback's step undoes. */
  readonly undo_of: number | null;
  readonly status: 'PENDING' | 'RUNNING' | 'COMPLETED' | 'FAILED' | 'SKIPPED';
  readonly started_at: string | null;
  readonly completed_at: string | null;
  readonly result: {
    readonly before: Readonly<Record<string, unknown>>;
    readonly after: Readonly<Record<string, unknown>>;
  } | null;
  readonly error: string | null;
}

export interface AuditRow {
  readonly verdict: string;
  readonly verdict_reason: string;
  readonly checks_passed: number;
  readonly checks_performed: readonly {
    readonly check: string;
    readonly result: string;
    readonly detail?: string;
  }[];
  /** How many there were: after the second that is inconclusive a person decides. */
  readonly count: number;
}

interface Part {
  readonly job: JobRow;
  readonly steps: readonly StepRow[];
}

export interface Look extends Part {
  readonly title: string;
  readonly audit: AuditRow | undefined;
  readonly rollback: Part | undefined;
  /** By the clock of the database, in milliseconds. */
  readonly now: number;
}

type Paint = (style: Style, text: string) => string;

export async function lookAt(db: Session, governance: Governance, id: string): Promise<Look> {
  const part = async (of: string): Promise<Part> => {
    const job = governance.job(of);
    return {
      job: (await job.get()) as unknown as JobRow,
      steps: (await job.steps()) as unknown as StepRow[],
    };
  };
  const main = await part(id);
  const [{ title, audits, rollback } = {}] = await db.rows<{
    title: string;
    audits: number;
    rollback: string | null;
  }>(
    `select c.title, (select count(*)::integer from writ.governance_audits a where a.job_id = $1) as audits, (select g.job_id from writ.governance_jobs g where g.of_job_id = $1 order by g.job_id desc limit 1) as rollback
     from writ.system_contracts c where c.contract_id = $2`,
    [id, main.job.contract_id],
  );
  const audit = await governance.job(id).audit();
  return {
    ...main,
    title: title ?? '',
    audit: audit && ({ ...audit, count: audits ?? 0 } as unknown as AuditRow),
    rollback: rollback ? await part(rollback) : undefined,
    now: await databaseNow(db),
  };
}

/** Nobody but a person can tell: two audits were inconclusive. */
export const waitsForPerson = ({ job, audit }: Pick<Look, 'job' | 'audit'>): boolean =>
  job.status === 'AUDIT_PENDING' && audit?.verdict === 'INCONCLUSIVE' && audit.count >= 2;

/** It goes on no more by itself. */
export const rests = (look: Look): boolean =>
  ['COMPLETED', 'CANCELLED', 'ROLLED_BACK', 'ROLLBACK_FAILED'].includes(look.job.status) ||
  waitsForPerson(look);

export interface Happened {
  /** What makes it one thing, however often it is seen. */
  readonly key: string;
  readonly at: string;
  readonly jobId: string;
  readonly rollback: boolean;
  readonly event: 'moved' | 'step';
  readonly status: string;
  readonly step?: number;
  readonly says: string;
}

/** Everything that has happened so far, in its order. */
export function eventsOf({ rollback, ...main }: Look): Happened[] {
  const parts = [
    { ...main, undoing: false },
    ...(rollback ? [{ ...rollback, undoing: true }] : []),
  ];
  const all = parts.flatMap(({ job, steps, undoing }) => [
    ...job.history.flatMap(({ to_status, event, at, reason }, n) =>
      // On the way to its audit it passes through COMPLETED: whoever waits for that would believe too much.
      to_status === 'COMPLETED' && event === 'run_completed'
        ? []
        : [
            {
              ...common(job, undoing, at, 'moved', to_status),
              key: `${job.job_id} ${n}`,
              says: `${to_status}${reason ? `  ${reason}` : ''}`,
            },
          ],
    ),
    ...steps.flatMap((step) => {
      const name = `${String(step.step_no).padStart(String(steps.length).length)}  ${stepWords(step)}`;
      const of = (at: string, status: string, says: string) => ({
        ...common(job, undoing, at, 'step', status),
        key: `${job.job_id} step ${step.step_no} ${status}`,
        step: step.step_no,
        says,
      });
      const ended =
        step.completed_at !== null && (step.status === 'COMPLETED' || step.status === 'FAILED');
      const result =
        step.status === 'FAILED'
          ? `✗ ${name}  ${step.error ?? ''}`
          : `✓ ${name}  ${changeOf(step)}`;
      return [
        ...(step.started_at === null
          ? []
          : [of(step.started_at, 'RUNNING', `… ${name}  ${stepNote(step)}`.trimEnd())]),
        ...(ended ? [of(String(step.completed_at), step.status, result.trimEnd())] : []),
      ];
    }),
  ]);
  // What happened in one transaction happened at one time: a job begins before its steps, and ends after them.
  const rank = ({ event, status }: Happened) =>
    event === 'step' ? 1 : status === 'PENDING' || status === 'RUNNING' ? 0 : 2;
  return all.sort((a, b) => Date.parse(a.at) - Date.parse(b.at) || rank(a) - rank(b));
}

const common = (
  { job_id }: JobRow,
  rollback: boolean,
  at: string,
  event: Happened['event'],
  status: string,
) => ({
  at: new Date(at).toISOString(),
  jobId: job_id,
  rollback,
  event,
  status,
});

/** What a step found and what it wrote. */
function changeOf({ result }: StepRow): string {
  const slots = Object.keys(result?.after ?? {});
  return slots
    .map((slot) => `${valueText(result?.before[slot])} → ${valueText(result?.after[slot])}`)
    .join(', ');
}

const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];

/** The lines of a job; at most so many, where there is no room for more. */
export function linesOf(
  look: Look,
  paint: Paint,
  options: { readonly frame?: number; readonly rows?: number } = {},
): string[] {
  const spinner = paint('cyan', frames[(options.frame ?? 0) % frames.length] as string);
  const { rollback } = look;
  const lines = [
    heading(look, paint, plain(look.title), look.now),
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

function heading({ job }: Part, paint: Paint, name: string, now: number): string {
  const took =
    job.started_at === null
      ? ''
      : `  ${span(Math.max(0, (job.completed_at ? Date.parse(job.completed_at) : now) - Date.parse(job.started_at)))}`;
  return `${paint('bold', name)}  ${job.job_id}  ${paint(jobStyle[job.status], job.status)}${paint('dim', took)}`;
}

function stepLines({ steps }: Part, paint: Paint, spinner: string, now: number): string[] {
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
function left({ step_type, parameters, started_at }: StepRow, now: number): string {
  if (step_type !== 'soak' || started_at === null) return '';
  const ms = Date.parse(started_at) + Number(parameters.duration_ms) - now;
  return ms > 0 ? `${span(ms)} left` : '';
}

/** How it ended, and what there is to do; nothing while it goes on by itself. */
export function endOf(look: Look, paint: Paint = (_, text) => text): string[] {
  const { job, audit } = look;
  const why = job.rollback_reason ?? job.status_reason;
  const because = why ? `: ${plain(why)}` : '';
  if (waitsForPerson(look))
    return [
      `${paint('yellow', '!')} AUDIT_PENDING: ${plain(audit?.verdict_reason ?? 'the audit was inconclusive')}`,
      `→ A person decides who neither proposed nor approved it: writ jobs resolve ${job.job_id} PASS --reason TEXT, or FAIL`,
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
        `  writ jobs retry-rollback ${job.of_job_id ?? job.job_id}`,
        '  writ incidents resolve INCIDENT --resolution TEXT',
      ];
    default:
      return [];
  }
}
