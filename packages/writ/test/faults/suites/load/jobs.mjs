// @ts-check
// The jobs of the load run. `quick` ones make a worker claim ahead; the `slow` ones behind them then
// occupy every handler for longer than it takes to claim again.
import { setTimeout as pause } from 'node:timers/promises';
import { defineJob } from '../../../../dist/index.js';

/** @typedef {{ n: number, ms: number }} Work */

/** @type {import('../../../../dist/index.js').JobKind<Work>} */
export const work = defineJob('load.work');

/** @param {import('../../../../dist/index.js').Writ} _writ @param {(line: string) => void} note */
export function handlers(_writ, note) {
  return [
    work.handle(async ({ input, commit, job }) => {
      note(`ran ${input.n} ${Date.now()}`);
      if (input.ms > 0) await pause(input.ms);
      await commit((tx) =>
        tx.query('insert into fault.effect (n, job_id) values ($1, $2)', [input.n, job.id]),
      );
    }),
  ];
}
