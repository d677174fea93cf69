/** `writ demo`: the promise, told in the terminal and measured. */
import type { Command } from 'commander';
import { tellStory } from '../../demo/story.js';
import { outputOf } from '../shapes.js';

export function addDemo(program: Command): void {
  program
    .command('demo')
    .description(
      'see an agent change production under guard: refused, approved, done once, undone, proved; needs nothing but Node',
    )
    .action(async (_options: unknown, command: Command) => {
      const output = outputOf(command);
      await tellStory(output);
    });
}
