// @ts-check
// The governance suite: how long an approved change of five steps takes from its activation until it was audited and is at rest, and how many of them a second;
// and how fast an auditor judges their approvals again.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** @typedef {import('../harness/bench.mjs').Bench} Bench */

const roleFile = fileURLToPath(new URL('../roles/governance.mjs', import.meta.url));
const queueFile = fileURLToPath(new URL('../roles/queue.mjs', import.meta.url));
const subject = 'writ';
const participants = [{ label: subject, subject }];
/** Beside those that are measured: those of the warm-up. */
const spare = 50;

/** @param {Bench} bench @param {string} role @param {object} options @param {string} file */
const play = (bench, role, options, file = roleFile) =>
  bench.start({ subject, roleFile: file, role, options, seconds: 300 }).finished;

/** Who may activate what the template holds; the key is shown once, when it is made. */
let key = '';

/** @param {Bench} bench @param {number} contracts */
async function approved(bench, contracts) {
  await bench.template('writ throughput', null, (url) =>
    play(bench, 'setup', { url, mode: 'throughput' }, queueFile),
  );
  return bench.template('writ governance', 'writ throughput', async (url) => {
    key = (await play(bench, 'approve', { url, contracts })).key;
  });
}

/**
 * @param {string} role @param {{ full: number, quick: number }} sizes @param {object} [options]
 * @returns {import('../harness/bench.mjs').Measurement}
 */
const activating = (role, sizes, options = {}) => ({
  participants,
  async measure(bench) {
    const template = await approved(bench, bench.size({ full: 1_000, quick: 300 }) + spare);
    const jobs = bench.size(sizes);
    return bench.onCopy(
      template,
      ({ url }) => play(bench, role, { url, key, jobs, ...options }),
      async (url) => (await play(bench, 'verifyJobs', { url, jobs: jobs + spare })).missing,
    );
  },
});

/**
 * What the contracts of high risk were approved by. @type {{ key: string, persons: Record<string,
 * string> }}
 */
let high = { key: '', persons: {} };

/** @type {import('../harness/bench.mjs').Measurement} */
const verifying = {
  participants,
  async measure(bench) {
    const contracts = bench.size({ full: 2_000, quick: 300 });
    await bench.template('writ throughput', null, (url) =>
      play(bench, 'setup', { url, mode: 'throughput' }, queueFile),
    );
    const template = await bench.template('writ approvals', 'writ throughput', async (url) => {
      high = await play(bench, 'approve', { url, contracts, risk: 'high' });
    });
    const folder = await mkdtemp(
      join(process.env.WRIT_BENCH_DIR ?? tmpdir(), 'writ-bench-export-'),
    );
    try {
      return await bench.onCopy(template, async ({ url }) => {
        const { key, persons } = high;
        const { deployment } = await play(bench, 'exportChanges', {
          ...{ url, key, folder },
          jobs: contracts - spare,
        });
        return play(bench, 'verifyApprovals', { folder, deployment, persons, contracts });
      });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};

/** @type {import('../harness/bench.mjs').Suite} */
export const suite = {
  name: 'governance',
  ours: subject,
  cases: [
    {
      name: 'activation-p50',
      unit: 'ms',
      better: 'lower',
      figure: 'p50',
      measurement: activating('oneByOne', { full: 300, quick: 100 }),
      targets: [{ bound: 100 }],
      details: { p99: 'the slowest of a hundred, ms' },
    },
    {
      name: 'jobs',
      unit: 'jobs/s',
      better: 'higher',
      figure: 'rate',
      measurement: activating('inParallel', { full: 1_000, quick: 300 }, { atOnce: 64 }),
      targets: [{ bound: 150 }],
      details: { p50: 'of one of 64 at once, ms' },
    },
    {
      name: 'verify-approvals',
      unit: 'signatures/s',
      better: 'higher',
      figure: 'rate',
      measurement: verifying,
      targets: [{ bound: 5_000 }],
      details: {
        wholeRate: 'of the whole verification, with every entry, event and value, signatures/s',
        entryRate: 'entries of the ledger, entries/s',
      },
    },
  ],
};
