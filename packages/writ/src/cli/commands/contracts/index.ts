/** `writ contracts`: changes that are proposed, previewed, approved and activated. */
import type { Command } from 'commander';
import { addActivate } from './activate.js';
import { addApprove } from './approve.js';
import { addList } from './list.js';
import { addPreview } from './preview.js';
import { addPropose } from './propose.js';
import { addReviews } from './reviews.js';
import { addHistory, addShow } from './show.js';

export function addContracts(program: Command): void {
  const contracts = program
    .command('contracts')
    .description('changes: propose, preview, approve and activate them');
  for (const add of [
    addPropose,
    addPreview,
    addApprove,
    addReviews,
    addActivate,
    addList,
    addShow,
    addHistory,
  ])
    add(contracts);
}
