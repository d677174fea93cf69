/** `writ governor`: state machines that decide about signals, one per tenant and product. */
import type { Command } from 'commander';
import { addEntitlement } from './entitlement.js';
import { addList } from './list.js';
import { addListen } from './listen.js';
import { addPolicy } from './policy.js';
import { addReplay } from './replay.js';
import { addShow } from './show.js';
import { addSignal } from './signal.js';
import { addAck, addAct } from './steer.js';
import { addWatch } from './watch.js';

export function addGovernor(program: Command): void {
  const group = program
    .command('governor')
    .description('Decide about signals, within a policy: act, undo, refuse, and write down why.');
  for (const add of [
    addList,
    addShow,
    addWatch,
    addSignal,
    addPolicy,
    addEntitlement,
    addAct,
    addAck,
    addListen,
    addReplay,
  ])
    add(group);
}
