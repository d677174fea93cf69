// @ts-check
// Limits, quarantine and fairness, shown by what the database says afterwards: never more at once than a limit allows, never faster than a
// rate, a job that kills its workers put away without harm to others, and nobody waiting behind another's queue. Each scene has a
// database of its own; the scenes that mostly wait are played at the same time.
import { concurrency } from './limits/concurrency.mjs';
import { fairness } from './limits/fairness.mjs';
import { poison } from './limits/poison.mjs';
import { pace } from './limits/rate.mjs';

/** @param {import('./limits/stage.mjs').Run} run */
export async function run(run) {
  const outcomes = {
    concurrency: await concurrency(run),
    ...(await together({ rate: pace(run), poison: poison(run) })),
    fairness: await fairness(run),
  };
  const all = Object.values(outcomes);
  const details = all.flatMap(({ findings }) => findings);
  const count = (/** @type {string} */ verdict) =>
    details.reduce((sum, finding) => sum + (finding.verdict === verdict ? finding.times : 0), 0);
  return {
    operations: all.reduce((sum, { operations }) => sum + operations, 0),
    faults: all.reduce((sum, { faults }) => sum + faults, 0),
    lost: count('lost'),
    repeated: count('repeated'),
    unreceipted: count('unreceipted'),
    stuck: count('stuck'),
    wrong: count('wrong'),
    ...Object.fromEntries(Object.entries(outcomes).map(([scene, { figures }]) => [scene, figures])),
    details,
  };
}

/**
 * Both, or the fault of the first that fails once both have ended. @template T @param
 * {Record<string, Promise<T>>} scenes @returns {Promise<Record<string, T>>}
 */
async function together(scenes) {
  await Promise.allSettled(Object.values(scenes));
  return Object.fromEntries(
    await Promise.all(Object.entries(scenes).map(async ([name, scene]) => [name, await scene])),
  );
}
