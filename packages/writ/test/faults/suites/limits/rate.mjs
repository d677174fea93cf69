// @ts-check
// No faster than the rate: four worker processes, 30 starts per second with a burst of ten, kills at
// random. First a burst meets a limit that had time to fill up; then comes more work than the rate
// lets through. Of every two starts, no more may lie between than the burst and the time allow; the
// burst has to be had, and at least half of the rate. The rate is one that a slow machine reaches: a
// claim takes ten starts at most, so three claims a second are enough.
import { setTimeout as wait } from 'node:timers/promises';
import { burstUsed, startedOf } from '../../limit-checker.mjs';
import { generator } from '../../plan.mjs';
import { inThousands, kindOf, pause, stage } from './stage.mjs';

const BURST = 10;
const rate = { starts: 30, perMs: 1_000 };
const retry = { attempts: 60, base: '50ms', cap: '200ms' };
const paced = kindOf('paced', {
  retry,
  limit: { rate: { per: '1s', starts: rate.starts, burst: BURST } },
});

export const handlers = () => [paced.handle(({ input }) => wait(input.ms))];

/** @param {import('./stage.mjs').Run} run @returns {Promise<import('./stage.mjs').Outcome>} */
export async function pace(run) {
  const { quick } = run;
  const random = generator(run.seed + 12);
  const on = await stage(run, 'limits_rate');
  await on.admin.query(`select writ.fn_setting_set('queue.poison.crashes', '10000', 'faults')`);
  const items = (/** @type {string} */ key, /** @type {number} */ count) =>
    Array.from({ length: count }, (_, n) => ({
      input: { ms: random.between(0, 5) },
      key: `${key}/${n}`,
      limitKey: 'a',
    }));
  const burst = items('burst', quick ? 30 : 60);
  // Long beside the seconds in which leases of killed workers expire: those count as well.
  const sustained = items('sustained', quick ? 300 : 900);
  const slots = await on.workers({
    module: import.meta.url,
    count: 4,
    options: { concurrency: 20, lease: '1500ms', poll: '200ms', grace: '5s' },
    kills: [
      ['claimed', quick ? 1 : 4, quick ? 6 : 30],
      ['started', quick ? 2 : 12, quick ? 25 : 60],
    ],
  });
  await on.writ.enqueueMany(paced, burst);
  await on.rest();
  await pause((BURST / rate.starts) * rate.perMs + 100);
  await inThousands(sustained, (some) => on.writ.enqueueMany(paced, some));
  await on.rest();
  await slots.stop();

  const rows = await startedOf(on.admin, paced.kind);
  const starts = rows.map(({ start }) => start);
  const { used, from, to } = burstUsed(starts, rate);
  const shown = {
    used,
    burst: BURST,
    from_us: String(starts[from]),
    to_us: String(starts[to]),
    starts: to - from + 1,
  };
  on.found('wrong', 'more started than the rate allows', used > BURST ? [shown] : []);
  on.found('wrong', 'the burst was never had', used <= BURST - 2 ? [shown] : []);
  const under = rows.filter(({ key }) => key === 'sustained').map(({ start }) => start);
  const seconds = Number((under.at(-1) ?? 0n) - (under[0] ?? 0n)) / 1e6;
  const share = Math.round((under.length / seconds / rate.starts) * 1_000) / 1_000;
  on.found(
    'wrong',
    'less than half of the rate was used under load',
    share < 0.5 ? [{ share, starts: under.length, seconds }] : [],
  );
  const { rows: unfinished } = await on.admin.query(
    `select job_id, status, attempts from writ.job_queue where job_kind = $1 and status is distinct from 'succeeded'`,
    [paced.kind],
  );
  on.found('lost', 'a job did not succeed', unfinished);
  on.found('wrong', 'no worker was killed', on.killed > 0 ? [] : [{ killed: 0 }]);
  return on.over(burst.length + sustained.length, {
    starts: starts.length,
    killed: on.killed,
    burst_used: Math.round(used * 100) / 100,
    share_of_rate_under_load: share,
  });
}
