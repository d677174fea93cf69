// @ts-check
// A job that kills whoever works on it, among a thousand innocent ones: it ends as a dead letter, quarantined as poison after three crashes in
// which nothing else ran in its process. Every innocent job succeeds, and none is charged for more than one of its crashes.
import { setTimeout as wait } from 'node:timers/promises';
import { alone, crashesOf, grouped, startedOf } from '../../limit-checker.mjs';
import { generator } from '../../plan.mjs';
import { kindOf, stage } from './stage.mjs';

const INNOCENT = 1_000;
const CRASHES_ALONE = 3;
const deadly = kindOf('deadly', { retry: { attempts: 5, base: '50ms', cap: '100ms' } });

export const handlers = () => [
  deadly.handle(async ({ input }) => {
    if (input.kills) process.kill(process.pid, 'SIGKILL');
    await wait(input.ms);
  }),
];

/** @param {import('./stage.mjs').Run} run @returns {Promise<import('./stage.mjs').Outcome>} */
export async function poison(run) {
  const random = generator(run.seed + 13);
  const on = await stage(run, 'limits_poison');
  const place = random.between(200, INNOCENT - 200);
  const items = Array.from({ length: INNOCENT + 1 }, (_, n) =>
    n === place
      ? { input: { kills: true, ms: 0 }, key: 'poison/1' }
      : { input: { kills: false, ms: random.between(0, 8) }, key: `innocent/${n}` },
  );
  await on.writ.enqueueMany(deadly, items);
  const slots = await on.workers({
    module: import.meta.url,
    count: 2,
    // Long enough that a slow machine renews in time: a lease that expires beside a living worker
    // would charge an innocent job.
    options: { concurrency: 5, lease: '6s', poll: '200ms', grace: '5s' },
    kills: [],
    selfKilling: true,
  });
  await on.rest();
  await slots.stop();

  const rows = await startedOf(on.admin, deadly.kind);
  const { rows: jobs } = await on.admin.query(
    `select job_id, split_part(idempotency_key, '/', 1) as key, status, attempts, last_error_code from writ.job_queue where job_kind = $1`,
    [deadly.kind],
  );
  const guilty = jobs.filter(({ key }) => key === 'poison');
  const innocent = jobs.filter(({ key }) => key === 'innocent');
  const crashes = crashesOf(rows, String(guilty[0]?.job_id));
  const shown = crashes.map((crash) => ({
    alone: alone(rows, crash),
    start_us: String(crash.start),
    owner: crash.owner,
  }));
  on.found(
    'wrong',
    'the job that kills is not a dead letter for poison',
    guilty.filter(
      ({ status, last_error_code }) => status !== 'dead_letter' || last_error_code !== 'poison',
    ),
  );
  // The first crash may have had neighbours; from then on it runs alone.
  const asPromised =
    crashes.length <= CRASHES_ALONE + 1 &&
    shown.slice(-CRASHES_ALONE).filter((crash) => crash.alone).length === CRASHES_ALONE;
  on.found(
    'wrong',
    `it was not quarantined after ${CRASHES_ALONE} crashes alone`,
    asPromised ? [] : shown,
  );
  on.found(
    'lost',
    'innocent jobs are missing',
    innocent.length === INNOCENT ? [] : [{ jobs: innocent.length, instead_of: INNOCENT }],
  );
  on.found(
    'lost',
    'an innocent job did not succeed',
    innocent.filter(({ status }) => status !== 'succeeded'),
  );
  const charged = grouped(
    rows.filter(({ key, abortKind }) => key === 'innocent' && abortKind === 'lease_expired'),
    ({ jobId }) => jobId,
  );
  on.found(
    'wrong',
    'an innocent job was charged more than once',
    [...charged]
      .filter(([, of]) => of.length > 1)
      .map(([jobId, of]) => ({ jobId, charged: of.length })),
  );
  on.found(
    'wrong',
    'an innocent job has more attempts than one crash and one success',
    innocent.filter(({ attempts }) => Number(attempts) > 2),
  );
  return on.over(items.length, {
    crashes: crashes.length,
    crashes_alone: shown.filter((crash) => crash.alone).length,
    innocent_charged_once: charged.size,
  });
}
