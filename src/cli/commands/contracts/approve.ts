/** `writ contracts approve`: shows what would change, asks, and signs exactly that. A script says what it has seen by its hash. */
import { type Command, InvalidArgumentError } from 'commander';
import { WritRefusal } from '../../../errors/index.js';
import { contextOf } from '../../command.js';
import { answersYes } from '../../confirm.js';
import { exitCodes, wrongUsage } from '../../failure.js';
import { ofApprovals, previewOf, showPreview } from '../../governance/preview.js';
import { contractId, governanceOf, type KeyOptions, type StepOptions, whoActs, withKey, withSteps } from '../../governance/session.js';
import { stepTypesIn } from '../../modules.js';
import type { Output } from '../../output.js';

interface Options extends KeyOptions, StepOptions {
  readonly yes?: boolean;
  readonly hash?: string;
}

export function hashOf(text: string): string {
  if (/^[0-9a-f]{64}$/i.test(text)) return text.toLowerCase();
  throw new InvalidArgumentError('The hash of a preview has 64 hexadecimal digits; `writ contracts preview` shows it.');
}

/** Whether somebody says yes who has seen the preview; where nobody can be asked, it is a no. */
export const agreed = async (output: Output, question: string): Promise<boolean> =>
  output.live && process.stdin.isTTY && answersYes(question, process.stdin, process.stdout);

export function addApprove(contracts: Command): void {
  withKey(withSteps(contracts.command('approve')))
    .description('approve what the preview shows, which is shown again; signed with your key')
    .argument('<contract>', 'id of the contract', contractId)
    .option('--yes', 'without asking; needs --hash')
    .option('--hash <hash>', 'what you have seen: refused if the preview has another by now', hashOf)
    .action(async (id: string, options: Options, command: Command) => {
      if (options.yes && options.hash === undefined)
        throw wrongUsage('--yes needs --hash: an approval is of what somebody has seen.', `\`writ contracts preview ${id}\` shows it.`);
      const types = await stepTypesIn(options.steps ?? []);
      const who = whoActs(options);
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const contract = governanceOf(db, types).contracts.get(id);
        const previewed = await previewOf(contract, who);
        const { hash } = previewed.preview;
        if (!output.json) showPreview(output, previewed);
        if (options.hash !== undefined && options.hash !== hash)
          throw new WritRefusal('approval_void', `the preview’s hash is ${hash}, and not ${options.hash}`);
        if (!output.json) output.line();
        if (!options.yes && !(await agreed(output, `Approve this as ${who.id}?`))) {
          process.exitCode = exitCodes.failed; // what was asked for was not done
          if (output.json) output.data({ contractId: id, approved: false, hash });
          else output.line(`Nothing was approved. Where nobody can be asked: --yes --hash ${hash}`);
          return;
        }
        const { status, approvals, approvalsNeeded } = await contract.approve({ as: who, hash });
        if (output.json) output.data({ contractId: id, approved: true, hash, status, approvals, approvalsNeeded });
        else
          output.line(
            status === 'APPROVED'
              ? `${output.style('green', '✓')} Approved by ${approvals.join(', ')}. \`writ contracts activate ${id}\` has it done.`
              : `${output.style('green', '✓')} You have approved it: ${ofApprovals(approvals.length, approvalsNeeded)}. It is ${status}.`,
          );
      });
    });
}
