/** `writ contracts preview`: what would change, before anybody approves it. */
import type { Command } from 'commander';
import { contextOf } from '../../command.js';
import { previewOf, showPreview } from '../../governance/preview.js';
import {
  actingAs,
  contractId,
  type KeyOptions,
  type ReadingOptions,
  readingGovernance,
  withKey,
  withReading,
} from '../../governance/session.js';

export function addPreview(contracts: Command): void {
  withKey(withReading(contracts.command('preview')))
    .description(
      'what it would change as things stand now, step by step, with the undo of each; and the hash that an approval is of',
    )
    .argument('<contract>', 'id of the contract', contractId)
    .action(async (id: string, options: KeyOptions & ReadingOptions, command: Command) => {
      const governance = await readingGovernance(options);
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const previewed = await previewOf(
          governance(db).contracts.get(id),
          await actingAs(db, options),
        );
        if (output.json) output.data(previewed.preview);
        else showPreview(output, previewed);
      });
    });
}
