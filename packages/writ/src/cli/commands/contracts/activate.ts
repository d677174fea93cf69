/** `writ contracts activate`: has an approved change done; one governance job comes of it. */
import type { Command } from 'commander';
import { kindOf } from '../../../governance/steps.js';
import { notBlank } from '../../command.js';
import type { Session } from '../../connection.js';
import { exitCodes } from '../../failure.js';
import { contractId, withKey, withReading } from '../../governance/session.js';
import { watch } from '../jobs/watch.js';
import { afterPreview, hashOf, type SeenOptions } from './seen.js';

interface Options extends SeenOptions {
  readonly wait?: boolean;
  readonly breakGlass?: string;
}

export function addActivate(contracts: Command): void {
  withKey(withReading(contracts.command('activate')))
    .description('have it done: shows what would change, asks, and starts its job')
    .argument('<contract>', 'id of the contract', contractId)
    .option('--yes', 'without asking')
    .option('--hash <hash>', 'what you have seen: refused if it is another by now', hashOf)
    .option('--wait', 'follow the job, as `writ jobs watch` does')
    .option(
      '--break-glass <reason>',
      'without enough approvals, or in a freeze; it is alerted, and stands in the receipts',
      notBlank,
    )
    .action((id: string, options: Options, command: Command) =>
      afterPreview(id, options, command, async ({ db, output, contract, who, preview, agreed }) => {
        const question =
          options.breakGlass === undefined
            ? `Do this as ${who.id}?`
            : `Break the glass, and do this as ${who.id}?`;
        if (!(await agreed(question))) {
          process.exitCode = exitCodes.failed; // what was asked for was not done
          if (output.json) output.data({ contractId: id, activated: false, hash: preview.hash });
          else output.line('Nothing was activated. Where nobody can be asked: --yes');
          return;
        }
        const job = await contract.activate({
          as: who,
          ...(options.breakGlass !== undefined && { breakGlass: options.breakGlass }),
        });
        const unserved = await unservedKinds(
          db,
          preview.steps.map(({ step_type }) => step_type),
        );
        if (output.json && !options.wait)
          output.data({ contractId: id, activated: true, jobId: job.id });
        if (!output.json) {
          output.line(`Activated: job ${output.style('bold', job.id)}.`);
          if (unserved.length > 0)
            output.note(`No worker serves ${unserved.join(', ')}: \`writ worker\` starts one.`);
          if (!options.wait) output.line(`\`writ jobs watch ${job.id}\` follows it.`);
        }
        if (options.wait) await watch(db, output, job.id);
      }),
    );
}

/** Kinds of work of these steps that no worker says it does. */
async function unservedKinds(db: Session, types: readonly string[]): Promise<string[]> {
  const rows = await db.rows<{ kind: string }>(
    `select k.kind from unnest($1::text[]) k(kind)
     where not exists (select from writ.v_queue_heartbeat h where h.freshness = 'fresh' and (h.kinds = '{}' or k.kind = any (h.kinds))) order by 1`,
    [[...new Set([...types, 'audit'].map(kindOf))]],
  );
  return rows.map(({ kind }) => kind);
}
