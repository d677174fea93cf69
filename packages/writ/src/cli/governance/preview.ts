/** What a contract would change, as a person sees it before anybody approves it. Nothing of it is left out, however long it is. */

import type { As } from '../../governance/actor.js';
import type { Contract, Preview, PreviewedStep } from '../../governance/contracts.js';
import { type Output, pad, plural, visible } from '../output.js';
import { moment } from '../runs/words.js';
import {
  contractStyle,
  obstacles,
  plain,
  stepNote,
  stepWords,
  type Verdict,
  valueText,
} from './words.js';

/** A contract as `writ.system_contracts` shows it, as far as it is read here. */
export interface ContractRow {
  readonly contract_id: string;
  readonly tenant_id: string;
  readonly status: Preview['status'];
  readonly status_reason: string | null;
  readonly title: string;
  readonly description: string;
  readonly source: string;
  readonly issue_id: string | null;
  readonly steps: readonly PreviewedStep[];
  readonly affected_capabilities: readonly string[];
  readonly risk_level: string;
  readonly confidence_score: number;
  readonly eligibility_verdict: Verdict | null;
  readonly created_by: string;
  readonly on_behalf_of: string | null;
  readonly approved_by: readonly string[];
  readonly escalated_by: string | null;
  readonly glass_broken: string | null;
  readonly activation_window_end: string | null;
  readonly execution_constraints: {
    readonly max_duration_ms?: number;
    readonly step_timeout_ms?: number;
  };
  readonly audit_verdict: string | null;
  readonly audit_reason: string | null;
  readonly parent_contract_id: string | null;
  readonly job_id: string | null;
  readonly created_at: string;
  readonly expires_at: string;
  readonly transition_history: readonly {
    readonly from_status: string;
    readonly to_status: string;
    readonly reason: string;
    readonly transitioned_by: string;
    readonly transitioned_at: string;
  }[];
}

export const rowOf = async (contract: Contract): Promise<ContractRow> =>
  (await contract.get()) as unknown as ContractRow;

export interface Previewed {
  readonly preview: Preview;
  readonly row: ContractRow;
}

export async function previewOf(contract: Contract, as: As): Promise<Previewed> {
  const preview = await contract.preview(as);
  return { preview, row: await rowOf(contract) };
}

/** Who wants it, what it may touch, and how dangerous they say it is. */
export function showHead(output: Output, row: ContractRow): void {
  output.line(
    `${output.style('bold', plain(row.title))}  ${output.style(contractStyle[row.status], row.status)}`,
  );
  const about = row.description.trim();
  // Marked, so that no line of the proposer's looks like one of ours.
  if (about) for (const line of about.split(/\r?\n/)) output.line(`│ ${plain(line)}`);
  output.line();
  output.pairs([
    ['contract', row.contract_id],
    ['tenant', row.tenant_id === 'default' ? undefined : plain(row.tenant_id)],
    [
      'asked by',
      plain(`${row.created_by}${row.on_behalf_of ? `, on behalf of ${row.on_behalf_of}` : ''}`),
    ],
    [
      'because of',
      row.issue_id === null && row.source === 'manual'
        ? undefined
        : plain([row.source, row.issue_id].filter(Boolean).join(' ')),
    ],
    ['scope', plain(row.affected_capabilities.join(', '))],
    [
      'risk',
      `${row.risk_level}${Number(row.confidence_score) < 1 ? `, confidence ${row.confidence_score}` : ''}`,
    ],
  ]);
}

export function showPreview(output: Output, { preview, row }: Previewed): void {
  showHead(output, row);
  output.line();
  showSteps(output, preview.steps);
  output.line();
  const { approvals, approvalsNeeded, hash } = preview;
  output.pairs([
    [
      'approvals',
      `${approvals.length} of ${approvalsNeeded}${approvals.length > 0 ? plain(`: ${approvals.join(', ')}`) : ''}`,
    ],
    [
      'escalated',
      row.risk_level === 'critical'
        ? plain(row.escalated_by ? `by ${row.escalated_by}` : 'not yet')
        : undefined,
    ],
    [
      'window',
      row.activation_window_end === null ? undefined : `until ${moment(row.activation_window_end)}`,
    ],
    ['hash', hash],
  ]);
  showObstacles(output, row);
}

export function showObstacles(
  output: Output,
  { status, eligibility_verdict, status_reason }: ContractRow,
): void {
  if (status === 'VALIDATED') {
    output.line();
    for (const obstacle of obstacles(eligibility_verdict))
      output.line(`${output.style('yellow', '!')} Not eligible: ${obstacle}`);
  } else if (['REJECTED', 'FAILED', 'EXPIRED'].includes(status)) {
    output.line();
    output.line(
      `${output.style('red', '✗')} ${status}${status_reason ? `: ${plain(status_reason)}` : ''}`,
    );
  }
}

/** One line per step where there is room for it; otherwise what was, what will be and what an undo restores stand below each other. */
export function showSteps(output: Output, steps: readonly PreviewedStep[]): void {
  const rows = steps.map((step) => ({
    number: String(step.step_no),
    words: stepWords(step),
    change:
      step.slot === undefined
        ? stepNote(step)
        : `${valueText(step.before)} → ${output.style('bold', valueText(step.after))}`,
    undo: step.undo === undefined ? '' : `undo: ${valueText(step.undo.restore)}`,
    step,
  }));
  const most = (texts: readonly string[], limit: number) =>
    Math.max(...texts.map((text) => visible(text).length).filter((length) => length <= limit), 0);
  const [numbers, words, changes] = [
    most(
      rows.map(({ number }) => number),
      9,
    ),
    most(
      rows.map((row) => row.words),
      50,
    ),
    most(
      rows.map(({ step, change }) => (step.slot === undefined ? '' : change)),
      50,
    ),
  ] as const;
  for (const { number, words: what, change, undo, step } of rows) {
    const start = `  ${pad(number, numbers, 'right')}  `;
    const line = `${start}${pad(what, words)}  ${undo ? `${pad(change, changes)}  ${output.style('dim', undo)}` : output.style('dim', change)}`;
    if (visible(line).length <= Math.max(100, output.width)) output.line(line.trimEnd());
    else {
      output.line(`${start}${what}`);
      const indent = ' '.repeat(start.length + 2);
      if (step.slot === undefined) output.line(`${indent}${change}`);
      else {
        output.line(`${indent}was     ${valueText(step.before)}`);
        output.line(`${indent}will be ${output.style('bold', valueText(step.after))}`);
        output.line(`${indent}undo    ${valueText(step.undo?.restore)}`);
      }
    }
    if (step.step_type === 'capability_disable')
      output.line(`${' '.repeat(start.length + 2)}because ${stepNote(step)}`);
  }
  if (rows.length === 0) output.line('  Nothing.');
}

export const ofApprovals = (done: number, needed: number): string =>
  done >= needed ? plural(done, 'approval') : `${done} of ${plural(needed, 'approval')}`;
