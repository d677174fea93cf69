/** `writ contracts show` and `history`: a contract as it stands, and how it came to that. */
import type { Command } from 'commander';
import { contextOf } from '../../command.js';
import type { Session } from '../../connection.js';
import { type ContractRow, rowOf, showHead, showObstacles } from '../../governance/preview.js';
import { contractId, governanceOf } from '../../governance/session.js';
import { plain, stepNote, stepWords, valueText } from '../../governance/words.js';
import { type Output, span } from '../../output.js';
import { moment } from '../../runs/words.js';

interface Review {
  readonly action: string;
  readonly by: string;
  readonly reason: string | null;
  readonly hash: string | null;
  readonly signature: string | null;
  readonly public_key: string | null;
  readonly at: Date;
}

const readReviews = (db: Session, id: string) =>
  db.rows<Review>(
    'select action, by, reason, hash, signature, public_key, at from writ.contract_review where contract_id = $1 order by review_no',
    [id],
  );

export function addShow(contracts: Command): void {
  contracts
    .command('show')
    .description('a contract as it stands, and what comes next')
    .argument('<contract>', 'id of the contract', contractId)
    .action(async (id: string, _options: unknown, command: Command) => {
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const row = await rowOf(governanceOf(db).contracts.get(id));
        if (output.json) output.data({ ...row, reviews: await readReviews(db, id) });
        else show(output, row);
      });
    });
}

function show(output: Output, row: ContractRow): void {
  showHead(output, row);
  output.line();
  for (const [n, step] of row.steps.entries()) {
    const to =
      step.parameters.target_lifecycle ?? step.parameters.new_value ?? step.parameters.value;
    output.line(
      `  ${String(n + 1).padStart(String(row.steps.length).length)}  ${stepWords(step)}${to === undefined ? '' : ` → ${valueText(to)}`}  ${output.style('dim', stepNote(step))}`.trimEnd(),
    );
  }
  output.line();
  const { max_duration_ms, step_timeout_ms } = row.execution_constraints;
  output.pairs([
    ['proposed', moment(row.created_at)],
    ['approved by', row.approved_by.length === 0 ? undefined : plain(row.approved_by.join(', '))],
    ['escalated by', row.escalated_by === null ? undefined : plain(row.escalated_by)],
    ['glass broken', row.glass_broken === null ? undefined : plain(row.glass_broken)],
    [
      'window',
      row.activation_window_end === null ? undefined : `until ${moment(row.activation_window_end)}`,
    ],
    ['may take', max_duration_ms === undefined ? undefined : span(max_duration_ms)],
    ['each step', step_timeout_ms === undefined ? undefined : `at most ${span(step_timeout_ms)}`],
    ['job', row.job_id],
    [
      'audit',
      row.audit_verdict === null
        ? undefined
        : plain(`${row.audit_verdict}${row.audit_reason ? `: ${row.audit_reason}` : ''}`),
    ],
    ['in place of', row.parent_contract_id],
  ]);
  showObstacles(output, row);
  const next = nextOf(row);
  if (!next) return;
  output.line();
  output.line(`→ ${next}`);
}

function nextOf({
  contract_id: id,
  status,
  job_id,
  risk_level,
  escalated_by,
}: ContractRow): string | undefined {
  if (status === 'DRAFT') return `writ contracts submit ${id}`;
  if (status === 'VALIDATED')
    return risk_level === 'critical' && escalated_by === null
      ? `writ contracts escalate ${id} --reason TEXT`
      : `writ contracts submit ${id}`;
  if (status === 'ELIGIBLE') return `writ contracts approve ${id}, or reject`;
  if (status === 'APPROVED') return `writ contracts activate ${id}`;
  return status === 'ACTIVE' ? `writ jobs watch ${job_id}` : undefined;
}

export function addHistory(contracts: Command): void {
  contracts
    .command('history')
    .description('how a contract came to where it is: every move, and what was said about it')
    .argument('<contract>', 'id of the contract', contractId)
    .action(async (id: string, _options: unknown, command: Command) => {
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const { transition_history: moves } = await rowOf(governanceOf(db).contracts.get(id));
        const reviews = await readReviews(db, id);
        if (output.json) {
          output.data({ moves, reviews });
          return;
        }
        const lines = [
          // Of what happened at the same moment, what was said comes before what came of it.
          ...reviews.map(({ action, by, reason, hash, at }) => ({
            at: at.toISOString(),
            what: action,
            by,
            why: [reason, hash && `hash ${hash}`].filter(Boolean).join('; '),
          })),
          ...moves.map((move) => ({
            at: new Date(move.transitioned_at).toISOString(),
            what: `${move.from_status ? `${move.from_status} → ` : ''}${move.to_status}`,
            by: move.transitioned_by,
            why: move.reason,
          })),
        ].sort((a, b) => a.at.localeCompare(b.at));
        output.table(
          ['AT', 'WHAT', 'BY', 'WHY'].map((title) => ({ title })),
          lines.map(({ at, what, by, why }) => [moment(at), what, plain(by), plain(why)]),
        );
      });
    });
}
