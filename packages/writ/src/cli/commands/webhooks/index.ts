/** `writ webhooks`: addresses outside that are told of events, and how they are. */
import type { Command } from 'commander';
import { addAdd } from './add.js';
import { addDeliveries } from './deliveries.js';
import { addList } from './list.js';
import { addSecret } from './secret.js';
import { addPause, addRemove, addResume } from './set.js';
import { addShow } from './show.js';

export function addWebhooks(program: Command): void {
  const webhooks = program
    .command('webhooks')
    .description('addresses that are told of events: add, list, pause and remove them');
  for (const add of [
    addList,
    addAdd,
    addShow,
    addPause,
    addResume,
    addRemove,
    addDeliveries,
    addSecret,
  ])
    add(webhooks);
}
