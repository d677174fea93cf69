/**
 * What a contract would change, as a person sees it before anybody approves it. Nothing of it is
 * left out, however long it is.
 */

import type { As } from '../../governance/actor.js';
import {
  type Contract,
  type Preview,
  type PreviewedStep,
  type SystemContract,
  unreadOf,
} from '../../governance/contracts.js';
import { glassDomain, type SignedBounds, type SignedTemplate } from '../../governance/document.js';
import { ago, type Output, pad, plural, visible } from '../output.js';
import { moment } from '../runs/words.js';
import {
  contractStyle,
  moreOf,
  obstacles,
  plain,
  stepNote,
  stepWords,
  valueText,
} from './words.js';

export interface Previewed {
  readonly preview: Preview;
  readonly row: SystemContract;
}

export async function previewOf(contract: Contract, as: As): Promise<Previewed> {
  const preview = await contract.preview(as);
  return { preview, row: await contract.get() };
}

/** Who wants it, what it may touch, and how dangerous they say it is. */
export function showHead(output: Output, row: SystemContract): void {
  showTitle(output, row);
  output.pairs([
    ['contract', row.contract_id],
    ['tenant', row.tenant_id === 'default' ? undefined : plain(row.tenant_id)],
    [
      'asked by',
      plain(`${row.created_by}${row.on_behalf_of ? `, on behalf of ${row.on_behalf_of}` : ''}`),
    ],
    ['because of', becauseOf(row)],
    ['scope', plain(row.affected_capabilities.join(', '))],
    [
      'risk',
      `${row.risk_level}${Number(row.confidence_score) < 1 ? `, confidence ${row.confidence_score}` : ''}`,
    ],
  ]);
}

function showTitle(
  output: Output,
  { title, description, status }: Pick<SystemContract, 'title' | 'description' | 'status'>,
): void {
  output.line(
    `${output.style('bold', plain(title))}  ${output.style(contractStyle[status], status)}`,
  );
  const about = description.trim();
  // Marked, so that no line of the proposer's looks like one of ours.
  if (about) for (const line of about.split(/\r?\n/)) output.line(`│ ${plain(line)}`);
  output.line();
}

const becauseOf = ({ issue_id, source }: SystemContract): string | undefined =>
  issue_id === null && source === 'manual'
    ? undefined
    : plain([source, issue_id].filter(Boolean).join(' '));

/**
 * Everything that an approval signs comes from the signed document; only what nobody signs comes
 * from elsewhere.
 */
export function showPreview(output: Output, { preview, row }: Previewed): void {
  const { document, status, approved_by, approvals_needed, unverified, hash } = preview;
  const { template } = document;
  showTitle(output, { ...document, status });
  output.pairs([
    ['contract', document.contract],
    ['deployment', document.deployment],
    ['tenant', plain(document.tenant)],
    ['asked by', plain(document.proposed_by.join(', on behalf of '))],
    ['because of', becauseOf(row)],
    ['scope', plain(document.scope.join(', '))],
    ['risk', document.risk],
    [
      'policy',
      `version ${document.policy.version}, ${plural(document.policy.quorum, 'approval')}, sha256 ${document.policy.sha256}`,
    ],
    ...Object.entries(document.constraints).map(([name, value]): [string, string] => [
      'at most',
      `${plain(name)} ${valueText(value)}`,
    ]),
  ]);
  if (template) showTemplate(output, template);
  output.line();
  showSteps(output, preview.steps);
  showReads(output, preview);
  output.line();
  const changed = new Set(preview.steps.map(({ slot }) => slot));
  output.pairs([
    ...Object.entries(document.pre_state)
      .filter(([slot]) => !changed.has(slot))
      .map(([slot, value]): [string, string] => [
        'unchanged',
        `${plain(slot)} ${valueText(value)}`,
      ]),
    ['round', String(document.round)],
    ['not after', (document.not_after as string | null) ?? undefined],
    ['glass broken', document.writ === glassDomain ? plain(document.reason) : undefined],
    [
      'window',
      row.activation_window_end === null
        ? undefined
        : `until ${moment(new Date(row.activation_window_end).toISOString())}`,
    ],
    ['unverified', unverified.length > 0 ? plain(unverified.join(', ')) : undefined],
    [
      'escalated',
      document.risk === 'critical'
        ? plain(row.escalated_by ? `by ${row.escalated_by}` : 'not yet')
        : undefined,
    ],
    [
      'approvals',
      `${approved_by.length} of ${approvals_needed}${approved_by.length > 0 ? plain(`: ${approved_by.join(', ')}`) : ''}`,
    ],
    ['hash', hash === '' ? undefined : hash],
  ]);
  showObstacles(output, row);
}

/** When an applier has read each value outside the database; or why none has, and what to do. */
function showReads(output: Output, preview: Preview): void {
  const { outside, status } = preview;
  if (outside.length === 0 || !['DRAFT', 'VALIDATED', 'ELIGIBLE', 'APPROVED'].includes(status))
    return;
  output.line();
  const now = new Date();
  const warn = (words: string) => output.line(`${output.style('yellow', '!')} ${plain(words)}`);
  for (const { slot, read_at, code, detail } of outside) {
    const at = read_at === null ? undefined : new Date(read_at);
    const when = at && `${moment(at.toISOString())}, ${ago(at, now)}`;
    if (when === undefined) warn(`${slot} was not read yet`);
    else if (code === null) output.line(`  ${plain(`${slot} was read ${when}`)}`);
    else warn(`${slot} could not be read: ${code}${detail ? `, ${detail}` : ''} (${when})`);
  }
  const missing = new Set(
    outside.flatMap(({ read_at, step_type, applier }) =>
      applier || read_at !== null ? [] : [step_type],
    ),
  );
  if (missing.size > 0)
    output.line(
      `No running worker has the step type ${plain([...missing].join(', '))}: ` +
        '`writ worker FILE` starts one, with the module that defines it.',
    );
  if (unreadOf(preview).length > 0)
    output.line(
      'It cannot be approved until all are read; `writ contracts preview --read` asks again.',
    );
}

/** What an instance may do, and how often. */
function showTemplate(
  output: Output,
  { params = {}, pre = {}, activations, cooldown_sec = 0, expires_in_sec }: SignedTemplate,
): void {
  const within = (bounds: SignedBounds) =>
    'in' in bounds
      ? `one of ${bounds.in.map(valueText).join(', ')}`
      : `${bounds.min} to ${bounds.max}`;
  output.line();
  output.line(
    'A template: approved once, and done again within these bounds, without anybody being asked.',
  );
  output.pairs([
    ...Object.entries(params).map(([name, bounds]): [string, string] => [
      plain(`parameter ${name}`),
      within(bounds),
    ]),
    ...Object.entries(pre).map(([slot, bounds]): [string, string] => [
      plain(`where ${slot} is`),
      within(bounds),
    ]),
    ['activations', `${activations} at most`],
    ['cooldown', `${cooldown_sec} s`],
    ['expires', `${expires_in_sec} s after its approval`],
  ]);
}

export function showObstacles(
  output: Output,
  { status, eligibility_verdict, status_reason }: SystemContract,
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

/**
 * One line per step where there is room for it; otherwise what was, what will be and what an undo
 * restores stand below each other.
 */
export function showSteps(output: Output, steps: readonly PreviewedStep[]): void {
  const rows = steps.map((step) => ({
    number: String(step.step_no),
    words: stepWords(step),
    change:
      step.slot === undefined
        ? stepNote(step)
        : `${step.undo ? `${valueText(step.before)} ` : ''}→ ${output.style('bold', valueText(step.after))}`,
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
    const shown =
      undo !== ''
        ? `${pad(change, changes)}  ${output.style('dim', undo)}`
        : step.slot === undefined
          ? output.style('dim', change)
          : change;
    const line = `${start}${pad(what, words)}  ${shown}`;
    if (visible(line).length <= Math.max(100, output.width)) output.line(line.trimEnd());
    else {
      output.line(`${start}${what}`);
      const indent = ' '.repeat(start.length + 2);
      if (step.slot === undefined) output.line(`${indent}${change}`);
      else {
        if (step.undo) output.line(`${indent}was     ${valueText(step.before)}`);
        output.line(`${indent}will be ${output.style('bold', valueText(step.after))}`);
        if (step.undo) output.line(`${indent}undo    ${valueText(step.undo.restore)}`);
      }
    }
    if (step.step_type === 'capability_disable' && stepNote(step) !== '')
      output.line(`${' '.repeat(start.length + 2)}because ${stepNote(step)}`);
    for (const [name, value] of moreOf(step))
      output.line(`${' '.repeat(start.length + 2)}${plain(name)} ${valueText(value)}`);
  }
  if (rows.length === 0) output.line('  Nothing.');
}

export const ofApprovals = (done: number, needed: number): string =>
  done >= needed ? plural(done, 'approval') : `${done} of ${plural(needed, 'approval')}`;
