// @ts-check
// Jobs that make a record to be sealed, and nothing else.
import { defineJob } from '../../../../dist/index.js';

/** @type {import('../../../../dist/index.js').JobKind<{ n: number }>} */
export const chore = defineJob('ledger.chore', {
  retry: { attempts: 60, base: '50ms', cap: '200ms' },
});

export const handlers = () => [chore.handle(({ input }) => ({ n: input.n }))];
