// @ts-check
// No more than L at once: eight worker processes, a kind with a limit of five per key, and kills at random. Whatever the workers did, the
// times of the executions may show five at once of each key and never six; and five have to be reached, for a limit that holds too much back
// is wrong as well. Jobs without a key share one limit.
import { setTimeout as wait } from 'node:timers/promises';
import { grouped, mostAtOnce, startedOf } from '../../limit-checker.mjs';
import { generator } from '../../plan.mjs';
import { inThousands, kindOf, stage } from './stage.mjs';

const LIMIT = 5;
const WITHOUT_KEY = 'shared';
const retry = { attempts: 60, base: '50ms', cap: '200ms' };
const capped = kindOf('capped', { retry, limit: { concurrency: LIMIT } });

export const handlers = () => [capped.handle(({ input }) => wait(input.ms))];

/** @param {import('./stage.mjs').Run} run @returns {Promise<import('./stage.mjs').Outcome>} */
export async function concurrency(run) {
  const { quick } = run;
  const random = generator(run.seed + 11);
  const on = await stage(run, 'limits_concurrency');
  // Here the harness kills, not the jobs: one that was hit by chance must not be taken for poison.
  await on.admin.query(`select writ.fn_setting_set('queue.poison.crashes', '10000', 'faults')`);
  const items = Array.from({ length: quick ? 600 : 10_000 }, (_, n) => {
    const group = random.pick(['a', 'a', 'a', 'b', 'b', WITHOUT_KEY]);
    return {
      input: { ms: random.between(0, 10) },
      key: `${group}/${n}`,
      ...(group !== WITHOUT_KEY && { limitKey: group }),
    };
  });
  const slots = await on.workers({
    module: import.meta.url,
    count: 8,
    options: { concurrency: 6, lease: '1500ms', poll: '200ms', grace: '5s' },
    kills: [
      ['claimed', quick ? 1 : 10, quick ? 3 : 30],
      ['started', quick ? 3 : 35, quick ? 20 : 150],
      ['finish_sent', quick ? 1 : 15, quick ? 5 : 60],
    ],
  });
  await inThousands(items, (some) => on.writ.enqueueMany(capped, some));
  await on.rest();
  await slots.stop();

  const rows = await startedOf(on.admin, capped.kind);
  const { rows: unfinished } = await on.admin.query(
    `select job_id, status, attempts from writ.job_queue where job_kind = $1 and status is distinct from 'succeeded'`,
    [capped.kind],
  );
  on.found('lost', 'a job did not succeed', unfinished);
  on.found('wrong', 'no worker was killed', on.killed > 0 ? [] : [{ killed: 0 }]);
  /** @type {Record<string, number>} */
  const most = {};
  for (const [key, group] of grouped(rows, (row) => row.key)) {
    const worst = mostAtOnce(group);
    most[key] = worst.most;
    const shown = {
      key,
      most: worst.most,
      limit: LIMIT,
      at_us: String(worst.at),
      jobs: worst.jobs,
    };
    on.found('wrong', 'more ran at once than the limit allows', worst.most > LIMIT ? [shown] : []);
    on.found('wrong', 'the limit was never reached', worst.most < LIMIT ? [shown] : []);
  }
  return on.over(items.length, { executions: rows.length, killed: on.killed, most_at_once: most });
}
