/** `writ schedules run`, which enqueues the job of a schedule at once, and `remove`, which ends it. */
import type { Command } from 'commander';
import { contextOf } from '../../command.js';
import { type Options, schedulesOf, tenantOf } from './session.js';

export function addRun(schedules: Command): void {
  add(
    schedules,
    'run',
    'enqueue its job at once, paused or not; the next tick comes as it would have come',
  ).action(async (name: string, options: Options, command: Command) => {
    const { output, session } = contextOf(command);
    await session(async (db) => {
      const { jobId } = await schedulesOf(db, options).runNow(name, tenantOf(options));
      if (output.json) output.data({ name, jobId });
      else output.line(`Enqueued ${jobId}. \`writ queue show ${jobId}\` tells how it goes.`);
    });
  });
}

export function addRemove(schedules: Command): void {
  add(schedules, 'remove', 'end a schedule; jobs that it has enqueued stay').action(
    async (name: string, options: Options, command: Command) => {
      const { output, session } = contextOf(command);
      await session(async (db) => {
        await schedulesOf(db, options).remove(name, tenantOf(options));
        if (output.json) output.data({ name, removed: true });
        else output.line(`Removed ${name}.`);
      });
    },
  );
}

function add(schedules: Command, verb: string, description: string): Command {
  return schedules
    .command(verb)
    .description(description)
    .argument('<name>')
    .option('--tenant <tenant>', 'whose schedule it is; otherwise the default tenant')
    .option('--actor <name>', 'who asks, for the record; otherwise the system user');
}
