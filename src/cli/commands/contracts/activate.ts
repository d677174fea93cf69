/** `writ contracts activate`: has an approved change done; one governance job comes of it. */
import type { Command } from 'commander';
import { WritRefusal } from '../../../errors/index.js';
import { contextOf, notBlank } from '../../command.js';
import type { Session } from '../../connection.js';
import { exitCodes } from '../../failure.js';
import { previewOf, showPreview } from '../../governance/preview.js';
import { contractId, governanceOf, type KeyOptions, type StepOptions, whoActs, withKey, withSteps } from '../../governance/session.js';
import { stepTypesIn } from '../../modules.js';
import { watch } from '../jobs/watch.js';
import { agreed, hashOf } from './approve.js';

interface Options extends KeyOptions, StepOptions {
  readonly yes?: boolean;
  readonly hash?: string;
  readonly wait?: boolean;
  readonly breakGlass?: string;
}

export function addActivate(contracts: Command): void {
  withKey(withSteps(contracts.command('activate')))
    .description('have it done: shows what would change, asks, and starts its job')
    .argument('<contract>', 'id of the contract', contractId)
    .option('--yes', 'without asking')
    .option('--hash <hash>', 'what you have seen: refused if it is another by now', hashOf)
    .option('--wait', 'follow the job, as `writ jobs watch` does')
    .option('--break-glass <reason>', 'without enough approvals, or in a freeze; it is alerted, and stands in the receipts', notBlank)
    .action(async (id: string, options: Options, command: Command) => {
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
        const question = options.breakGlass === undefined ? `Do this as ${who.id}?` : `Break the glass, and do this as ${who.id}?`;
        if (!options.yes && !(await agreed(output, question))) {
          process.exitCode = exitCodes.failed; // what was asked for was not done
          if (output.json) output.data({ contractId: id, activated: false, hash });
          else output.line('Nothing was activated. Where nobody can be asked: --yes');
          return;
        }
        const job = await contract.activate({ as: who, ...(options.breakGlass !== undefined && { breakGlass: options.breakGlass }) });
        const unserved = await unservedKinds(
          db,
          previewed.preview.steps.map(({ step_type }) => step_type),
        );
        if (output.json && !options.wait) output.data({ contractId: id, activated: true, jobId: job.id });
        if (!output.json) {
          output.line(`Activated: job ${output.style('bold', job.id)}.`);
          if (unserved.length > 0) output.note(`No worker serves ${unserved.join(', ')}: \`writ worker\` starts one.`);
          if (!options.wait) output.line(`\`writ jobs watch ${job.id}\` follows it.`);
        }
        if (options.wait) await watch(db, output, job.id);
      });
    });
}

/** Kinds of work of these steps that no worker says it does. */
async function unservedKinds(db: Session, types: readonly string[]): Promise<string[]> {
  const rows = await db.rows<{ kind: string }>(
    `select k.kind from unnest($1::text[]) k(kind)
     where not exists (select from writ.v_queue_heartbeat h where h.freshness = 'fresh' and (h.kinds = '{}' or k.kind = any (h.kinds))) order by 1`,
    [[...new Set([...types, 'audit'])].map((type) => `governance.${type}`)],
  );
  return rows.map(({ kind }) => kind);
}
