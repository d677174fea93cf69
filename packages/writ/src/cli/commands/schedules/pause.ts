/** `writ schedules pause` and `resume`. */
import type { Command } from 'commander';
import { contextOf } from '../../command.js';
import { type Options, schedulesOf, tenantOf } from './session.js';

export function addPause(schedules: Command): void {
  add(schedules, 'pause', 'stop a schedule from firing; jobs that it has enqueued go on', [
    'Paused',
    'was paused already',
  ]);
}

export function addResume(schedules: Command): void {
  add(
    schedules,
    'resume',
    'let a paused schedule go on; what it missed is treated by its catch-up rule',
    ['Resumed', 'was not paused'],
  );
}

function add(
  schedules: Command,
  verb: 'pause' | 'resume',
  description: string,
  [done, already]: [string, string],
): void {
  schedules
    .command(verb)
    .description(description)
    .argument('<name>')
    .option('--tenant <tenant>', 'whose schedule it is; otherwise the default tenant')
    .option('--actor <name>', 'who asks, for the record; otherwise the system user')
    .action(async (name: string, options: Options, command: Command) => {
      const { output, session } = contextOf(command);
      await session(async (db) => {
        const { changed } = await schedulesOf(db, options)[verb](name, tenantOf(options));
        if (output.json) output.data({ name, changed });
        else output.line(changed ? `${done} ${name}.` : `${name} ${already}.`);
      });
    });
}
