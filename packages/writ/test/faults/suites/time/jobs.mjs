// @ts-check
// What the workers of the time's run do besides the jobs, runs and changes of the other suites: the
// job of its schedules, and governors with their actions.
import { defineJob } from '../../../../dist/index.js';

export { governor } from '../governor/actions.mjs';

/** @type {import('../../../../dist/index.js').JobKind<{ schedule: string }>} */
export const tick = defineJob('time.tick', { retry: { attempts: 60, base: '50ms', cap: '500ms' } });

export const handlers = () => [
  tick.handle(async ({ input, job, commit }) => {
    await commit((tx) =>
      tx.query('insert into fault.tick (schedule, job_id) values ($1, $2)', [
        input.schedule,
        job.id,
      ]),
    );
  }),
];
