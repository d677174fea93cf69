/** `writ contracts propose`: what a file says is to be changed, for somebody to approve. */
import type { Command } from 'commander';
import { contextOf } from '../../command.js';
import { exitCodes } from '../../failure.js';
import { rowOf, showObstacles } from '../../governance/preview.js';
import { readProposal } from '../../governance/proposal.js';
import {
  actingAs,
  contractId,
  governanceOf,
  type KeyOptions,
  type StepOptions,
  type TenantOptions,
  tenantOf,
  withKey,
  withSteps,
  withTenant,
} from '../../governance/session.js';
import { contractStyle, obstacles, plain } from '../../governance/words.js';

interface Options extends KeyOptions, StepOptions, TenantOptions {
  readonly draft?: boolean;
  readonly id?: string;
}

export function addPropose(contracts: Command): void {
  withKey(withSteps(withTenant(contracts.command('propose'))))
    .description('propose the change that a file describes; it is validated and qualified at once')
    .argument(
      '<file>',
      'YAML or JSON with title, scope and steps, or a module whose default export is such a proposal',
    )
    .option('--draft', 'keep it as a draft: `writ contracts submit` validates it')
    .option(
      '--id <id>',
      'the id it is to have, so that a call that was not answered can be made again',
      contractId,
    )
    .action(async (file: string, options: Options, command: Command) => {
      const { proposal, types } = await readProposal(file, options.steps);
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const contract = await governanceOf(db, types).contracts.propose(proposal, {
          ...(await actingAs(db, options)),
          tenant: tenantOf(options),
          ...(options.draft && { draft: true }),
          ...(options.id !== undefined && { id: options.id }),
        });
        const row = await rowOf(contract);
        const { status, title } = row;
        if (status === 'REJECTED') process.exitCode = exitCodes.failed;
        if (output.json) {
          output.data({
            contractId: contract.id,
            status,
            statusReason: row.status_reason,
            obstacles: obstacles(row.eligibility_verdict),
          });
          return;
        }
        output.line(
          `Proposed ${output.style('bold', contract.id)}: ${plain(title)}, ${output.style(contractStyle[status], status)}.`,
        );
        showObstacles(output, row);
        if (status === 'ELIGIBLE')
          output.line(
            `\`writ contracts preview ${contract.id}\` shows what it would change; somebody else approves it.`,
          );
        else if (status !== 'REJECTED')
          output.line(
            `\`writ contracts submit ${contract.id}\` tries again${status === 'VALIDATED' ? ', when that is over' : ''}.`,
          );
      });
    });
}
