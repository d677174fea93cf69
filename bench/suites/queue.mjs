// @ts-check
// The queue suite: how fast jobs go in, how fast they come out, and how long one waits. A case is
// data: which figure of which measurement, in which unit, and the target it must reach. Cases that
// share a measurement are measured once.
import { fileURLToPath } from 'node:url';

/** @typedef {import('../harness/bench.mjs').Bench} Bench */
/** @typedef {import('../harness/bench.mjs').Participant} Participant */

const roleFile = fileURLToPath(new URL('../roles/queue.mjs', import.meta.url));
const writ = { label: 'writ', subject: 'writ' };
const uncoalesced = { label: 'writ, uncoalesced', subject: 'writ', variant: 'uncoalesced' };
const graphile = { label: 'graphile-worker', subject: 'graphile-worker' };
const pgBoss = { label: 'pg-boss', subject: 'pg-boss' };
const dbos = { label: 'dbos', subject: 'dbos' };
const raw = { label: 'raw', subject: 'raw' };
const plain = { label: 'graphile-worker, plain', subject: 'graphile-worker', variant: 'plain' };
/** DBOS gets a tenth of the jobs of a drain: its rate is the same and the run ends today. */
const shareOfDrain = new Map([['dbos', 0.1]]);

/** @type {(bytes: number) => import('../harness/bench.mjs').Measurement} */
const drain = (bytes) => ({
  participants: [writ, graphile, pgBoss, dbos],
  async measure(bench, { subject }) {
    const jobs = bench.size({ full: 20_000, quick: 10_000 }) * (shareOfDrain.get(subject) ?? 1);
    const template = await prepared(bench, subject, { mode: 'throughput', jobs, bytes });
    return bench.onCopy(
      template,
      ({ url }) => play(bench, subject, 'drain', { url, mode: 'throughput', jobs }),
      subject === 'writ' ? (url) => bench.verify(subject, url, jobs) : undefined,
    );
  },
});

/** @type {(role: string, participants: Participant[], amount: (bench: Bench) => object) => import('../harness/bench.mjs').Measurement} */
const enqueue = (role, participants, amount) => ({
  participants,
  async measure(bench, { subject, variant }) {
    const template = await prepared(bench, subject, { mode: 'throughput', jobs: 5000 });
    return bench.onCopy(template, ({ url }) => play(bench, subject, role, { url, mode: 'throughput', variant, ...amount(bench) }));
  },
});

/** @type {import('../harness/bench.mjs').Measurement} */
const latency = {
  participants: [writ, graphile, plain, pgBoss, dbos],
  async measure(bench, { subject, variant }) {
    const jobs = bench.size({ full: 500, quick: 100 });
    const template = await prepared(bench, subject, { mode: 'latency', jobs: 0 });
    return bench.onCopy(template, async ({ url }) => {
      const options = { url, mode: 'latency', jobs, variant };
      const worker = bench.start({ subject, roleFile, role: 'latencyWorker', options });
      try {
        await worker.reported;
        await play(bench, subject, 'latencyProducer', options);
        return await worker.finished;
      } finally {
        worker.kill();
      }
    });
  },
};

const loops = enqueue('enqueueInLoops', [writ, uncoalesced, raw, graphile, pgBoss, dbos], (bench) => ({
  seconds: bench.size({ full: 4, quick: 1 }),
}));
const bulk = enqueue('enqueueInBulk', [writ, graphile, pgBoss, raw], () => ({ jobs: 10_000 }));
const rate = { unit: 'jobs/s', better: 'higher', figure: 'rate' };
const wait = { unit: 'ms', better: 'lower', measurement: latency };

/** @type {import('../harness/bench.mjs').Suite} */
export const suite = {
  name: 'queue',
  ours: 'writ',
  cases: [
    { name: 'drain', ...rate, measurement: drain(0), target: { peer: 'graphile-worker', ratio: 0.7 } },
    { name: 'drain-500b', ...rate, measurement: drain(500), target: null },
    { name: 'enqueue-16', ...rate, measurement: loops, target: { peer: 'raw', ratio: 1.0 } },
    { name: 'enqueue-bulk', ...rate, measurement: bulk, target: null },
    { name: 'latency-p50', ...wait, figure: 'p50', target: { peer: 'graphile-worker', ratio: 1.5 } },
    { name: 'latency-p99', ...wait, figure: 'p99', target: null },
  ],
};

/**
 * A template with the subject's schema and, if asked, jobs waiting in it.
 * @param {Bench} bench
 * @param {string} subject
 * @param {{ mode: string, jobs: number, bytes?: number }} content
 */
async function prepared(bench, subject, { mode, jobs, bytes = 0 }) {
  const schema = `${subject} ${mode}`;
  const empty = await bench.template(schema, null, (url) => play(bench, subject, 'setup', { url, mode }));
  if (jobs === 0) return empty;
  return bench.template(`${schema} ${jobs} ${bytes}`, schema, (url) => play(bench, subject, 'seed', { url, mode, jobs, bytes }));
}

/** @param {Bench} bench @param {string} subject @param {string} role @param {object} options */
const play = (bench, subject, role, options) => bench.start({ subject, roleFile, role, options }).finished;
