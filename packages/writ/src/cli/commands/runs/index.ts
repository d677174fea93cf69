/** `writ runs`: starting plans, looking at what has become of them, and telling them what to do. */
import type { Command } from 'commander';
import { addAdmission } from './admission.js';
import { addClearAlert } from './clear-alert.js';
import { addDeliver } from './deliver.js';
import { addEvents } from './events.js';
import { addList } from './list.js';
import { addReplay } from './replay.js';
import { addShow } from './show.js';
import { addSignal } from './signal.js';
import { addStart } from './start.js';
import { addWatch } from './watch.js';

export function addRuns(program: Command): void {
  const runs = program
    .command('runs')
    .description('start plans, look at their runs, signal and replay them');
  for (const add of [
    addStart,
    addList,
    addShow,
    addWatch,
    addSignal,
    addDeliver,
    addEvents,
    addReplay,
    addAdmission,
    addClearAlert,
  ])
    add(runs);
}
