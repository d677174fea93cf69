/** `writ deployment`: which deployment a database is, and how a copy gets an id of its own. */
import type { Command } from 'commander';
import { WritRefusal } from '../../errors/index.js';
import type { DeploymentId, Renewed } from '../../governance/deployment.js';
import { notBlank } from '../command.js';
import { ago, plural } from '../output.js';
import { act, show } from '../shapes.js';

export function addDeployment(program: Command): void {
  const deployment = program
    .command('deployment')
    .description('which deployment this database is, and an id of its own for a copy');
  show<DeploymentId>(
    deployment
      .command('show')
      .description('the id that approvals are signed for, and since when it is that'),
    {
      read: (writ) => writ.deployment.get(),
      print: ({ deployment_id, since }, { output, now }) =>
        output.pairs([
          ['deployment', output.style('bold', deployment_id)],
          ['since', ago(new Date(since), now)],
        ]),
    },
  );
  act<Renewed, { reason: string; yes?: boolean }>(
    deployment
      .command('renew')
      .description(
        'give a copy of a deployment its own id; voids approvals and ends governance jobs, without undoing anything',
      )
      .requiredOption(
        '--reason <text>',
        'why this database is a copy, for those who read it in a year',
        notBlank,
      )
      .option('--actor <name>', 'who does it, for the record; otherwise the system user'),
    {
      asks: async (writ, { options, output }) => {
        if (options.reason.trim().length < 10) throw new WritRefusal('reason_required');
        const { deployment_id } = await writ.deployment.get();
        const { contracts, jobs } = await writ.deployment.open();
        if (!output.json) {
          output.line(`This database is deployment ${deployment_id}.`);
          output.line(
            `Renewing it fails ${plural(contracts, 'approved or active contract')} and ends ${plural(jobs, 'governance job')}. Nothing is undone.`,
          );
        }
        return 'Renew it? Do it only if the database is a copy, and the original goes on elsewhere.';
      },
      do: async (writ, { options: { reason } }) => {
        const { deployment_id: replaces } = await writ.deployment.get();
        return writ.deployment.renew({ reason, replaces });
      },
      says: ({ deployment_id, contracts, in_review, jobs }, { output }) =>
        `Renewed: this database is deployment ${output.style('bold', deployment_id)} now. ${plural(contracts, 'approved contract')} failed and has a new draft, ${plural(in_review, 'contract')} in review lost signatures, and ${plural(jobs, 'governance job')} ended. \`writ trust renew\` takes the new id into the trust file.`,
    },
  );
}
