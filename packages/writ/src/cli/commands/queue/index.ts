/** `writ queue`: looking at jobs, and the few things that people do to them. */
import type { Command } from 'commander';
import { addCancel } from './cancel.js';
import { addImport } from './import.js';
import { addList } from './list.js';
import { addReplay } from './replay.js';
import { addShow } from './show.js';
import { addStats } from './stats.js';
import { addWatch } from './watch.js';
import { addWeight } from './weight.js';
import { addWorkflow } from './workflow.js';

export function addQueue(program: Command): void {
  const queue = program
    .command('queue')
    .description('look at jobs, cancel and replay them, bring them from another queue');
  for (const add of [
    addStats,
    addList,
    addShow,
    addCancel,
    addReplay,
    addImport,
    addWorkflow,
    addWeight,
    addWatch,
  ])
    add(queue);
}
