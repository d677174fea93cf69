/** `writ contracts`: changes that are proposed, previewed, approved and activated. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { WritRefusal } from '../../errors/index.js';
import {
  type ContractFilter,
  type ContractReview,
  type ListedContract,
  notRead,
  type Preview,
  type Reviewed,
  type SystemContract,
  unreadOf,
} from '../../governance/contracts.js';
import { kindOf } from '../../governance/steps.js';
import { contractStates } from '../../machines/contract.js';
import type { Writ } from '../../writ.js';
import { notBlank } from '../command.js';
import { exitCodes, type Failure, wrongUsage } from '../failure.js';
import {
  ofApprovals,
  previewOf,
  showHead,
  showObstacles,
  showPreview,
} from '../governance/preview.js';
import { readProposal } from '../governance/proposal.js';
import { contractId, whoActs, withKey, withSteps, withTenant } from '../governance/session.js';
import {
  contractStyle,
  obstacles,
  plain,
  stepNote,
  stepWords,
  valueText,
} from '../governance/words.js';
import { ago, type Output, span } from '../output.js';
import { moment } from '../runs/words.js';
import { act, action, type Call, confirmed, list, show } from '../shapes.js';
import { watchChange } from './changes.js';

interface Seen extends Record<string, unknown> {
  readonly keyFile?: string;
  readonly yes?: boolean;
  readonly hash?: string;
  readonly breakGlass?: string;
  readonly trust?: string;
}

export function addContracts(program: Command): void {
  const contracts = program
    .command('contracts')
    .description('changes: propose, preview, approve and activate them');
  const one = (name: string, description: string) =>
    contracts
      .command(name)
      .description(description)
      .argument('<contract>', 'id of the contract', contractId);

  act<SystemContract, { draft?: boolean; id?: string; steps?: readonly string[]; tenant?: string }>(
    withKey(withSteps(withTenant(contracts.command('propose'))))
      .description(
        'propose the change that a file describes; it is validated and qualified at once',
      )
      .argument(
        '<file>',
        'YAML or JSON with title, scope and steps, or a module whose default export is such a proposal',
      )
      .option('--draft', 'keep it as a draft: `writ contracts submit` validates it')
      .option(
        '--id <id>',
        'the id it is to have, so that a call that was not answered can be made again',
        contractId,
      ),
    {
      do: async (writ, { args: [file = ''], options: { draft, id, steps, tenant } }) => {
        const { proposal, types } = await readProposal(file, steps);
        writ.contracts.use(...types);
        const { id: made } = await writ.contracts.propose(proposal, {
          tenant,
          draft,
          id,
        });
        return writ.contracts.get(made);
      },
      data: ({ contract_id, status, status_reason, eligibility_verdict }) => {
        if (status === 'REJECTED') process.exitCode = exitCodes.failed;
        return { contract_id, status, status_reason, obstacles: obstacles(eligibility_verdict) };
      },
      says: (row, { output }) => {
        const { contract_id: id, status, title } = row;
        if (status === 'REJECTED') process.exitCode = exitCodes.failed;
        output.line(
          `Proposed ${output.style('bold', id)}: ${plain(title)}, ${output.style(contractStyle[status], status)}.`,
        );
        showObstacles(output, row);
        if (status === 'ELIGIBLE')
          return `\`writ contracts preview ${id}\` shows what it would change; somebody else approves it.`;
        return status === 'REJECTED'
          ? []
          : `\`writ contracts submit ${id}\` tries again${status === 'VALIDATED' ? ', when that is over' : ''}.`;
      },
    },
  );

  withKey(
    one(
      'preview',
      'what it would change as things stand now, step by step, with the undo of each; and the hash that an approval is of',
    ),
  )
    .option('--read', 'ask an applier to read the values outside the database again, and wait')
    .action(
      action<Seen & { read?: boolean }>(async (writ, { args: [id = ''], options, output }) => {
        const contract = writ.contracts.handle(id);
        if (options.read) await contract.read();
        const previewed = await previewOf(contract, {});
        if (output.json) output.data(previewed.preview);
        else showPreview(output, previewed);
      }),
    );

  act<Reviewed, Seen>(
    withSeen(
      one('approve', 'approve what the preview shows, which is shown again; signed with your key'),
      'do not ask; needs --hash',
    ),
    {
      do: async (writ, call) => {
        const {
          args: [id = ''],
          options,
        } = call;
        if (options.yes && options.hash === undefined) throw unseen(id);
        const { hash } = await seen(writ, call, (who) => `Approve this as ${who}?`);
        return writ.contracts.approve(id, { hash, ...trustIn(options) });
      },
      says: (
        { contract_id: id, status, approved_by, approvals_needed, unverified },
        { output },
      ) => {
        if (unverified !== undefined)
          return `${output.style('yellow', '!')} Signed, and not verified yet: ${
            unverified === 'no_applier'
              ? 'no applier runs. `WRIT_TRUST=FILE writ worker` starts one.'
              : 'no applier has looked at it in ten seconds.'
          } \`writ contracts preview ${id}\` says whether it counts.`;
        return `${output.style('green', '✓')} ${
          status === 'APPROVED'
            ? `Approved by ${approved_by.join(', ')}. \`writ contracts activate ${id}\` has it done.`
            : `You have approved it: ${ofApprovals(approved_by.length, approvals_needed)}. It is ${status}.`
        }`;
      },
    },
  );

  for (const { name, description, reason, say } of reviews) {
    const command = withKey(one(name, description));
    if (reason !== undefined) command.requiredOption('--reason <text>', reason, notBlank);
    act<{ reviewed: Reviewed; row: SystemContract }, { reason: string }>(command, {
      do: async (writ, { args: [id = ''], options: { reason } }) => ({
        reviewed: await say(writ, id, reason),
        row: await writ.contracts.get(id),
      }),
      data: ({ reviewed }) => reviewed,
      says: ({ reviewed: { status }, row }, { output }) => {
        output.line(`${plain(row.title)} is ${output.style(contractStyle[status], status)}.`);
        if (status === 'VALIDATED') showObstacles(output, row);
        return [];
      },
    });
  }

  withSeen(
    one('activate', 'have it done: shows what would change, asks, and starts its job'),
    'do not ask; with --break-glass it needs --hash',
  )
    .option('--wait', 'follow the job, as `writ changes watch` does')
    .option(
      '--break-glass <reason>',
      'without enough approvals, or in a freeze; it is alerted, and stands in the receipts',
      notBlank,
    )
    .action(
      action<Seen & { wait?: boolean }>(async (writ, call) => {
        const {
          args: [id = ''],
          options,
          output,
        } = call;
        const { wait, breakGlass, yes } = options;
        if (breakGlass !== undefined && yes && options.hash === undefined) throw unseen(id);
        const { hash, steps } = await seen(writ, call, (who) =>
          breakGlass === undefined
            ? `Do this as ${who}?`
            : `Break the glass, and do this as ${who}?`,
        );
        const activated = await writ.contracts.activate(
          id,
          breakGlass === undefined ? {} : { breakGlass, hash, ...trustIn(options) },
        );
        const { job_id } = activated;
        if (output.json && !wait) output.data(activated);
        if (!output.json) {
          output.line(`Activated: job ${output.style('bold', job_id)}.`);
          const kinds = [...steps.map(({ step_type }) => step_type), 'audit'].map(kindOf);
          const unserved = await writ.changes.unserved(kinds);
          if (unserved.length > 0)
            output.note(`No worker serves ${unserved.join(', ')}: \`writ worker\` starts one.`);
          if (!wait) output.line(`\`writ changes watch ${job_id}\` follows it.`);
        }
        if (wait) await watchChange(writ, output, job_id);
      }),
    );

  list<ListedContract, ContractFilter & Record<string, unknown>>(
    withTenant(contracts.command('list'), 'only those of this tenant')
      .description('contracts, the newest first')
      .addOption(
        new Option('--status <status>', 'only those in this status').choices(contractStates),
      )
      .option('--open', 'only those that have not ended')
      .option('--proposer <name>', 'only those that this principal proposed')
      .option('--template <contract>', 'only instances of this template', contractId),
    {
      read: (writ, page, { options: { status, tenant, open, proposer, template } }) =>
        writ.contracts.list({
          ...page,
          status,
          tenant,
          open,
          proposer,
          template,
        }),
      none: ({ options: { status, tenant, open, proposer, template } }) =>
        (status ?? tenant ?? open ?? proposer ?? template)
          ? 'No such contract.'
          : 'No contracts yet. `writ contracts propose FILE` proposes one.',
      columns: ({ output }) => [
        { title: 'CONTRACT', of: (row) => row.contract_id },
        { title: 'TENANT', of: (row) => row.tenant_id, when: notOnlyDefault },
        { title: 'STATUS', of: ({ status }) => output.style(contractStyle[status], status) },
        { title: 'RISK', of: (row) => row.risk_level },
        { title: 'ASKED BY', of: (row) => row.created_by },
        { title: 'APPROVED BY', of: (row) => row.approved_by.join(', ') || null },
        { title: 'PROPOSED', of: (row, now) => ago(new Date(row.created_at), now) },
        { title: 'TITLE', of: (row) => row.title },
      ],
    },
  );

  show<SystemContract & { reviews: readonly ContractReview[] }>(
    one('show', 'a contract as it stands, and what comes next'),
    {
      read: async (writ, { args: [id = ''] }) => ({
        ...(await writ.contracts.get(id)),
        reviews: (await writ.contracts.history(id)).reviews,
      }),
      print: (row, { output }) => print(output, row),
    },
  );

  show(
    one('history', 'how a contract came to where it is: every move, and what was said about it'),
    {
      read: (writ, { args: [id = ''] }) => writ.contracts.history(id),
      print: ({ moves, reviews }, { output }) => {
        const lines = [
          // Of what happened at the same moment, what was said comes before what came of it.
          ...reviews.map(({ action, by, reason, hash, at }) => ({
            at,
            what: action,
            by,
            why: [reason, hash && `hash ${hash}`].filter(Boolean).join('; '),
          })),
          ...moves.map((move) => ({
            at: move.transitioned_at,
            what: `${move.from_status ? `${move.from_status} → ` : ''}${move.to_status}`,
            by: move.transitioned_by,
            why: move.reason,
          })),
        ].sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
        output.table(
          ['AT', 'WHAT', 'BY', 'WHY'].map((title) => ({ title })),
          lines.map(({ at, what, by, why }) => [moment(new Date(at).toISOString()), what, by, why]),
        );
      },
    },
  );
}

export const notOnlyDefault = (rows: readonly { readonly tenant_id: string }[]): boolean =>
  rows.some(({ tenant_id }) => tenant_id !== 'default');

function withSeen(command: Command, yes: string): Command {
  return withKey(command)
    .option('--yes', yes)
    .option(
      '--trust <file>',
      'your trust file, for whose deployment you sign (default: WRIT_TRUST)',
    )
    .option('--hash <hash>', 'what you have seen: refused if it is another by now', hashOf);
}

/** A signature is of what a person has seen. */
const unseen = (id: string): Failure =>
  wrongUsage(
    '--yes needs --hash: you sign what you have seen.',
    `\`writ contracts preview ${id}\` shows it.`,
  );

const trustIn = ({ trust }: Seen) => (trust === undefined ? {} : { trust });

function hashOf(text: string): string {
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError(
    'The hash of a preview has 64 hexadecimal digits; `writ contracts preview` shows it.',
  );
}

/** Shows the preview, compares it with what somebody says to have seen, and asks. */
async function seen(
  writ: Writ,
  { args: [id = ''], options, output }: Call<Seen>,
  question: (who: string) => string,
): Promise<Preview> {
  const who = whoActs(options);
  const contract = writ.contracts.handle(id);
  const { preview: now, row } = await previewOf(contract, {});
  const unread = unreadOf(now);
  if (now.hash === '' && unread.length > 0) {
    if (!output.json) showPreview(output, { preview: now, row });
    throw notRead(unread);
  }
  if (options.hash !== undefined && options.hash !== now.hash) {
    if (!output.json) showPreview(output, { preview: now, row });
    throw new WritRefusal(
      'approval_void',
      `the preview’s hash is ${now.hash}, and not ${options.hash}`,
    );
  }
  const preview =
    options.breakGlass === undefined ? now : await contract.breakingGlass(now, options.breakGlass);
  if (!output.json) {
    showPreview(output, { preview, row });
    output.line();
  }
  if (!options.yes)
    await confirmed(question(who.id), `Where nobody can be asked: --yes --hash ${now.hash}`);
  return preview;
}

interface Review {
  readonly name: string;
  readonly description: string;
  /** What --reason is; without it there is none. */
  readonly reason?: string;
  readonly say: (writ: Writ, id: string, reason: string) => Promise<Reviewed>;
}

const reviews: readonly Review[] = [
  {
    name: 'reject',
    description: 'it will not be done; that is its end',
    reason: 'why, for whoever proposed it, in more than ten characters',
    say: (writ, id, reason) => writ.contracts.reject(id, { reason }),
  },
  {
    name: 'revoke',
    description:
      'take your approval back, before the activation; all approvals so far are void then',
    reason: 'why',
    say: (writ, id, reason) => writ.contracts.revoke(id, { reason }),
  },
  {
    name: 'submit',
    description: 'validate and qualify a draft, or one that was not eligible when it was tried',
    say: (writ, id) => writ.contracts.submit(id),
  },
  {
    name: 'escalate',
    description: 'tell others of it: critical risk needs that besides its approvals',
    reason: 'why it cannot wait',
    say: (writ, id, reason) => writ.contracts.escalate(id, { reason }),
  },
  {
    name: 'request-clarification',
    description: 'ask whoever proposed it; the clock of the review stops',
    reason: 'what you want to know',
    say: (writ, id, reason) => writ.contracts.requestClarification(id, { reason }),
  },
  {
    name: 'clarify',
    description: 'answer; the clock goes on',
    reason: 'the answer',
    say: (writ, id, reason) => writ.contracts.clarify(id, { reason }),
  },
];

function print(output: Output, row: SystemContract): void {
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
  const { activation_window_end: end, audit_verdict, audit_reason } = row;
  const at = (time: string) => moment(new Date(time).toISOString());
  output.pairs([
    ['proposed', at(row.created_at)],
    ['approved by', row.approved_by.length === 0 ? null : plain(row.approved_by.join(', '))],
    ['escalated by', row.escalated_by && plain(row.escalated_by)],
    ['glass broken', row.glass_broken && plain(row.glass_broken)],
    ['window', end && `until ${at(end)}`],
    ['may take', max_duration_ms === undefined ? null : span(max_duration_ms)],
    ['each step', step_timeout_ms === undefined ? null : `at most ${span(step_timeout_ms)}`],
    ['job', row.job_id],
    ['audit', audit_verdict && plain(`${audit_verdict}${audit_reason ? `: ${audit_reason}` : ''}`)],
    ['in place of', row.parent_contract_id],
  ]);
  showObstacles(output, row);
  const next = nextOf(row);
  if (!next) return;
  output.line();
  output.line(`→ ${next}`);
}

function nextOf(row: SystemContract): string | undefined {
  const { contract_id: id, status, job_id, risk_level, escalated_by } = row;
  if (status === 'VALIDATED' && risk_level === 'critical' && escalated_by === null)
    return `writ contracts escalate ${id} --reason TEXT`;
  if (status === 'DRAFT' || status === 'VALIDATED') return `writ contracts submit ${id}`;
  if (status === 'ELIGIBLE') return `writ contracts approve ${id}, or reject`;
  if (status === 'APPROVED') return `writ contracts activate ${id}`;
  return status === 'ACTIVE' ? `writ changes watch ${job_id}` : undefined;
}
