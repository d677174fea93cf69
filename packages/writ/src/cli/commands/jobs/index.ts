/** `writ jobs`: governance jobs: approved changes while they are done, and after. */
import type { Command } from 'commander';
import { addList } from './list.js';
import { addShow } from './show.js';
import { addCancel, addResolve, addRetryRollback } from './steer.js';
import { addWatch } from './watch.js';

export function addJobs(program: Command): void {
  const jobs = program
    .command('jobs')
    .description(
      'governance jobs, which do approved changes: watch them, and decide where they wait for a person (jobs of the queue: `writ queue`)',
    );
  for (const add of [addList, addShow, addWatch, addCancel, addResolve, addRetryRollback])
    add(jobs);
}
