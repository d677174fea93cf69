/** `writ contracts approve`: shows what would change, asks, and signs exactly that. A script says what it has seen by its hash. */
import type { Command } from 'commander';
import { exitCodes, wrongUsage } from '../../failure.js';
import { ofApprovals } from '../../governance/preview.js';
import { contractId, withKey, withReading } from '../../governance/session.js';
import { afterPreview, hashOf, type SeenOptions } from './seen.js';

export function addApprove(contracts: Command): void {
  withKey(withReading(contracts.command('approve')))
    .description('approve what the preview shows, which is shown again; signed with your key')
    .argument('<contract>', 'id of the contract', contractId)
    .option('--yes', 'without asking; needs --hash')
    .option(
      '--hash <hash>',
      'what you have seen: refused if the preview has another by now',
      hashOf,
    )
    .action(async (id: string, options: SeenOptions, command: Command) => {
      if (options.yes && options.hash === undefined)
        throw wrongUsage(
          '--yes needs --hash: an approval is of what somebody has seen.',
          `\`writ contracts preview ${id}\` shows it.`,
        );
      await afterPreview(
        id,
        options,
        command,
        async ({ output, contract, who, preview: { hash }, agreed }) => {
          if (!(await agreed(`Approve this as ${who.id}?`))) {
            process.exitCode = exitCodes.failed; // what was asked for was not done
            if (output.json) output.data({ contractId: id, approved: false, hash });
            else
              output.line(`Nothing was approved. Where nobody can be asked: --yes --hash ${hash}`);
            return;
          }
          const { status, approvals, approvalsNeeded } = await contract.approve({ as: who, hash });
          if (output.json)
            output.data({
              contractId: id,
              approved: true,
              hash,
              status,
              approvals,
              approvalsNeeded,
            });
          else
            output.line(
              status === 'APPROVED'
                ? `${output.style('green', '✓')} Approved by ${approvals.join(', ')}. \`writ contracts activate ${id}\` has it done.`
                : `${output.style('green', '✓')} You have approved it: ${ofApprovals(approvals.length, approvalsNeeded)}. It is ${status}.`,
            );
        },
      );
    });
}
