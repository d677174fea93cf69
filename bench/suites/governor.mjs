// @ts-check
// The governor suite: how many signals a second get their receipt, how soon after it arrived one has it, how fast events are decided again, what governors cost that have nothing to do, and how soon an action is done.
import { fileURLToPath } from 'node:url';

/** @typedef {import('../harness/bench.mjs').Bench} Bench */

const roleFile = fileURLToPath(new URL('../roles/governor.mjs', import.meta.url));
const queueFile = fileURLToPath(new URL('../roles/queue.mjs', import.meta.url));
const subject = 'writ';
const participants = [{ label: subject, subject }];

/** @param {Bench} bench @param {string} role @param {object} options @param {string} file */
const play = (bench, role, options, file = roleFile) =>
  bench.start({ subject, roleFile: file, role, options, seconds: 600 }).finished;

/**
 * Governors that have begun and are stable; `acting`: with a policy. @param {Bench} bench @param
 * {number} tenants @param {boolean} [acting]
 */
async function governed(bench, tenants, acting = false) {
  await bench.template('writ throughput', null, (url) =>
    play(bench, 'setup', { url, mode: 'throughput' }, queueFile),
  );
  return bench.template(
    `writ ${tenants} ${acting ? 'acting ' : ''}governors`,
    'writ throughput',
    (url) => play(bench, 'govern', { url, tenants, acting }),
  );
}

const tenantsOf = (/** @type {Bench} */ bench) => bench.size({ full: 2_000, quick: 500 });

/**
 * @param {string} role @param {(bench: Bench) => { signals: number } & Record<string, number>}
 * sizes @returns {import('../harness/bench.mjs').Measurement}
 */
const signalling = (role, sizes) => ({
  participants,
  async measure(bench) {
    const tenants = tenantsOf(bench);
    const template = await governed(bench, tenants);
    const options = { tenants, ...sizes(bench) };
    return bench.onCopy(
      template,
      ({ url }) => play(bench, role, { url, ...options }),
      async (url) => (await play(bench, 'verifySignals', { url, ...options })).missing,
    );
  },
});

/** @type {import('../harness/bench.mjs').Measurement} */
const idle = {
  participants,
  rounds: 3,
  async measure(bench) {
    const many = bench.size({ full: 10_000, quick: 2_000 });
    const seconds = bench.size({ full: 10, quick: 5 });
    const look = async (/** @type {number} */ tenants) =>
      bench.onCopy(await governed(bench, tenants), ({ url }) =>
        play(bench, 'rest', { url, seconds }),
      );
    const few = await look(10);
    const all = await look(many);
    return {
      jobs: many,
      growthMb: all.rss - few.rss,
      commitsOfFew: few.commits,
      commitsOfMany: all.commits,
      commits: all.commits - few.commits,
    };
  },
};

/** @type {import('../harness/bench.mjs').Suite} */
export const suite = {
  name: 'governor',
  ours: subject,
  cases: [
    {
      name: 'signals',
      unit: 'signals/s',
      better: 'higher',
      figure: 'rate',
      measurement: signalling('signals', (bench) => ({
        signals: bench.size({ full: 30_000, quick: 8_000 }),
        atOnce: 256,
      })),
      targets: [{ bound: 3_000 }],
      details: {
        p50: 'from the call to its answer, ms',
        late: 'answered before they were settled',
      },
    },
    {
      name: 'decision',
      unit: 'ms',
      better: 'lower',
      figure: 'p99',
      measurement: signalling('decisions', (bench) => ({
        signals: bench.size({ full: 20_000, quick: 6_000 }),
        perSecond: 1_500,
      })),
      targets: [{ bound: 100 }],
      details: { p50: 'of half of them at most, ms', late: 'not settled after 100 ms' },
    },
    {
      name: 'replay',
      unit: 'events/s',
      better: 'higher',
      figure: 'rate',
      measurement: signalling('decideAgain', (bench) => ({
        signals: bench.size({ full: 30_000, quick: 8_000 }),
        atOnce: 256,
      })),
      targets: [{ bound: 20_000 }],
    },
    {
      name: 'idle',
      unit: 'MB',
      better: 'lower',
      figure: 'growthMb',
      measurement: idle,
      targets: [{ bound: 100 }],
    },
    {
      name: 'idle-commits',
      unit: 'per second',
      better: 'lower',
      figure: 'commits',
      measurement: idle,
      targets: [{ bound: 2 }],
      details: {
        commitsOfFew: 'transactions a second, of 10 governors',
        commitsOfMany: 'of all of them',
      },
    },
    {
      name: 'action',
      unit: 'ms',
      better: 'lower',
      figure: 'p50',
      measurement: {
        participants,
        async measure(bench) {
          const actions = bench.size({ full: 300, quick: 100 });
          return bench.onCopy(await governed(bench, actions, true), ({ url }) =>
            play(bench, 'actions', { url, actions }),
          );
        },
      },
      targets: [],
      details: { p99: 'the slowest of a hundred, ms' },
    },
  ],
};
