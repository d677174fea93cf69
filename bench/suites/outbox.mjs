// @ts-check
// The outbox suite: how many events a second get out of the record, into this process and to a webhook on loopback; how long one takes on an idle system; and what it
// costs the queue when nobody relays.
import { fileURLToPath } from 'node:url';

/** @typedef {import('../harness/bench.mjs').Bench} Bench */

const roleFile = fileURLToPath(new URL('../roles/outbox.mjs', import.meta.url));
const queueFile = fileURLToPath(new URL('../roles/queue.mjs', import.meta.url));
const subject = 'writ';
const writ = { label: subject, subject };
const without = { label: 'no destination', subject, variant: 'without' };

/** @param {Bench} bench @param {string} role @param {object} options @param {string} file */
const play = (bench, role, options, file = roleFile) =>
  bench.start({
    subject,
    roleFile: file,
    role,
    options: { mode: 'throughput', ...options },
    seconds: 300,
  }).finished;

/** @param {Bench} bench */
const installed = (bench) =>
  bench.template('writ throughput', null, (url) => play(bench, 'setup', { url }, queueFile));

/**
 * A record with the events of so many runs of ten steps. @param {Bench} bench @param {number} runs
 */
async function withRuns(bench, runs) {
  await installed(bench);
  return bench.template(`writ ${runs} runs told of`, 'writ throughput', (url) =>
    play(bench, 'fillRecord', { url, runs }),
  );
}

/**
 * @param {string} role @param {{ full: number, quick: number }} runs @returns
 * {import('../harness/bench.mjs').Measurement}
 */
const relayed = (role, runs) => ({
  participants: [writ],
  async measure(bench) {
    const amount = bench.size(runs);
    return bench.onCopy(await withRuns(bench, amount), ({ url }) =>
      play(bench, role, { url, runs: amount }),
    );
  },
});

/** @type {import('../harness/bench.mjs').Measurement} */
const latency = {
  participants: [writ],
  async measure(bench) {
    return bench.onCopy(await installed(bench), ({ url }) =>
      play(bench, 'toldWithin', { url, samples: bench.size({ full: 300, quick: 60 }) }),
    );
  },
};

/** @type {import('../harness/bench.mjs').Measurement} */
const drain = {
  participants: [writ, without],
  async measure(bench, { variant }) {
    const jobs = bench.size({ full: 200_000, quick: 60_000 });
    await installed(bench);
    const full = await bench.template(`writ throughput ${jobs}`, 'writ throughput', (url) =>
      play(bench, 'seed', { url, jobs }, queueFile),
    );
    const template = variant
      ? full
      : await bench.template(`writ waiting destination ${jobs}`, `writ throughput ${jobs}`, (url) =>
          play(bench, 'untold', { url }),
        );
    return bench.onCopy(
      template,
      ({ url }) => play(bench, 'drain', { url, jobs }, queueFile),
      (url) => bench.verify(subject, url, jobs),
    );
  },
};

/** @type {import('../harness/bench.mjs').Suite} */
export const suite = {
  name: 'outbox',
  ours: 'writ',
  cases: [
    {
      name: 'stream',
      unit: 'events/s',
      better: 'higher',
      figure: 'rate',
      measurement: relayed('streamed', { full: 5_000, quick: 1_000 }),
      targets: [{ bound: 30_000 }],
    },
    {
      name: 'webhook',
      unit: 'events/s',
      better: 'higher',
      figure: 'rate',
      measurement: relayed('posted', { full: 1_000, quick: 200 }),
      targets: [{ bound: 2_000 }],
    },
    {
      name: 'told-p50',
      unit: 'ms',
      better: 'lower',
      figure: 'p50',
      measurement: latency,
      targets: [{ bound: 20 }],
      details: { p99: '99 % within, ms' },
    },
    {
      name: 'drain-untold',
      unit: 'jobs/s',
      better: 'higher',
      figure: 'rate',
      measurement: drain,
      targets: [{ peer: without.label, ratio: 0.95 }],
    },
  ],
};
