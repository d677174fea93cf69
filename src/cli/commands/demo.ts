/** `writ demo`: the promise, told in the terminal and measured. */
import type { Command } from 'commander';
import { contextOf } from '../command.js';
import { tellStory } from '../demo/story.js';

export function addDemo(program: Command): void {
  program
    .command('demo')
    .description('see jobs run, a worker killed, and nothing lost or repeated; needs nothing but Node')
    .action(async (_options: unknown, command: Command) => {
      const { output } = contextOf(command);
      await tellStory(output);
    });
}
