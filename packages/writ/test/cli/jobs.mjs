// Handlers as a user of `writ worker` would export them: one by name, others in an array.
import { setTimeout as sleep } from 'node:timers/promises';
import { defineJob } from '../../dist/index.js';

export const greet = defineJob('greet', { retry: { attempts: 1 } }).handle(({ input }) => {
  if (input.fail) throw new Error('nobody there');
  return { greeting: `Hello ${input.name}` };
});

export default [
  defineJob('slow').handle(({ input }) => sleep(input.ms)),
  // Runs until it is told to stop.
  defineJob('endless').handle(({ signal }) => sleep(600_000, undefined, { signal })),
];
