/** `writ schedules`: jobs that recur by the clock. */
import type { Command } from 'commander';
import { addList } from './list.js';
import { addPause, addResume } from './pause.js';
import { addPut } from './put.js';
import { addRemove, addRun } from './run.js';

export function addSchedules(program: Command): void {
  const schedules = program
    .command('schedules')
    .description('jobs that recur by the clock: list, define, pause and run them');
  for (const add of [addList, addPut, addPause, addResume, addRun, addRemove]) add(schedules);
}
