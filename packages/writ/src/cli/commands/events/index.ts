/** `writ events`: what happens, as it happens, and what destinations are told of it. */
import type { Command } from 'commander';
import { addDeadLetters } from './dead-letters.js';
import { addReplay } from './replay.js';
import { addTail } from './tail.js';

export function addEvents(program: Command): void {
  const events = program
    .command('events')
    .description('follow events, look at dead letters of destinations, tell them again');
  for (const add of [addTail, addReplay, addDeadLetters]) add(events);
}
