// @ts-check
// The queue suite: how fast jobs go in, how fast they come out, how long one waits, and whether that
// stays so when tables grow, when a transaction elsewhere stays open, and when the process has run for
// a while. A case is data: which figure of which measurement, in which unit, and the targets it must
// reach. Cases that share a measurement are measured once.
import { fileURLToPath } from 'node:url';
import { few, growth } from '../measurements/growth.mjs';
import { beside, held, noHolder } from '../measurements/held.mjs';
import { memory } from '../measurements/memory.mjs';

/** @typedef {import('../harness/bench.mjs').Bench} Bench */
/** @typedef {import('../harness/bench.mjs').Participant} Participant */

const roleFile = fileURLToPath(new URL('../roles/queue.mjs', import.meta.url));
const writ = { label: 'writ', subject: 'writ' };
const uncoalesced = { label: 'writ, uncoalesced', subject: 'writ', variant: 'uncoalesced' };
const oneTenant = { label: 'writ, one tenant', subject: 'writ', variant: 'plain' };
const graphile = { label: 'graphile-worker', subject: 'graphile-worker' };
const pgBoss = { label: 'pg-boss', subject: 'pg-boss' };
const dbos = { label: 'dbos', subject: 'dbos' };
const raw = { label: 'raw', subject: 'raw' };
const plain = { label: 'graphile-worker, plain', subject: 'graphile-worker', variant: 'plain' };
/** DBOS gets a tenth of the jobs of a drain: its rate is the same and the run ends today. */
const shareOfDrain = new Map([['dbos', 0.1]]);

/**
 * @type {(participants: Participant[], content?: { bytes?: number }) =>
 * import('../harness/bench.mjs').Measurement}
 */
const drain = (participants, { bytes = 0 } = {}) => ({
  participants,
  async measure(bench, { subject, variant }) {
    const jobs = bench.size({ full: 20_000, quick: 10_000 }) * (shareOfDrain.get(subject) ?? 1);
    const template = await prepared(bench, subject, { mode: 'throughput', jobs, bytes, variant });
    return bench.onCopy(
      template,
      ({ url }) => play(bench, subject, 'drain', { url, mode: 'throughput', jobs, variant }),
      subject === 'writ' ? (url) => bench.verify(subject, url, jobs) : undefined,
    );
  },
});

/**
 * @type {(role: string, participants: Participant[], amount: (bench: Bench) => object) =>
 * import('../harness/bench.mjs').Measurement}
 */
const enqueue = (role, participants, amount) => ({
  participants,
  async measure(bench, { subject, variant }) {
    const template = await prepared(bench, subject, { mode: 'throughput', jobs: 5000 });
    return bench.onCopy(template, ({ url }) =>
      play(bench, subject, role, { url, mode: 'throughput', variant, ...amount(bench) }),
    );
  },
});

/** @type {import('../harness/bench.mjs').Measurement} */
const latency = {
  participants: [writ, graphile, plain, pgBoss, dbos],
  async measure(bench, { subject, variant }) {
    const jobs = bench.size({ full: 1000, quick: 200 });
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

const loops = enqueue(
  'enqueueInLoops',
  [writ, uncoalesced, raw, graphile, pgBoss, dbos],
  (bench) => ({
    seconds: bench.size({ full: 4, quick: 1 }),
  }),
);
const bulk = enqueue('enqueueInBulk', [writ, graphile, pgBoss, raw], () => ({ jobs: 10_000 }));
const rate = { unit: 'jobs/s', better: 'higher', figure: 'rate' };
const wait = { unit: 'ms', better: 'lower', measurement: latency };
const everyone = [writ, graphile, pgBoss, dbos];
/** @param {string} variant */
const spread = (variant) => drain([{ ...writ, variant }, oneTenant]);
const heldBatches = held({ full: 1_000_000, quick: 30_000, enqueue: 'batches' });
const heldSingly = held({ full: 100_000, quick: 5_000, enqueue: 'singly' });
const outbox = {
  outboxBatches: 'batches of facts that readers of the outbox cannot see yet',
  outboxSeconds: 'age of the oldest of them, s',
};
/**
 * @param {'reader' | 'dump' | 'writer'} holder @param {import('../harness/bench.mjs').Measurement}
 * measurement
 */
const besideA = (holder, measurement) => ({
  ...rate,
  measurement,
  label: beside[holder].label,
  targets: [{ peer: noHolder.label, ratio: 0.9 }],
  details: outbox,
});

/** @type {import('../harness/bench.mjs').Suite} */
export const suite = {
  name: 'queue',
  ours: 'writ',
  cases: [
    {
      name: 'drain',
      ...rate,
      measurement: drain(everyone),
      targets: [
        { peer: 'graphile-worker', ratio: 1.0 },
        { peer: 'dbos', ratio: 25 },
      ],
    },
    { name: 'drain-500b', ...rate, measurement: drain(everyone, { bytes: 500 }), targets: [] },
    {
      name: 'drain-fair',
      ...rate,
      measurement: spread('fair'),
      targets: [],
      against: oneTenant.label,
    },
    {
      name: 'drain-limited',
      ...rate,
      measurement: spread('limited'),
      targets: [],
      against: oneTenant.label,
    },
    { name: 'enqueue-16', ...rate, measurement: loops, targets: [{ peer: 'raw', ratio: 2.0 }] },
    { name: 'enqueue-bulk', ...rate, measurement: bulk, targets: [{ peer: 'best', ratio: 1.2 }] },
    {
      name: 'latency-p50',
      ...wait,
      figure: 'p50',
      targets: [{ peer: 'graphile-worker', ratio: 1.0 }],
    },
    {
      name: 'latency-p99',
      ...wait,
      figure: 'p99',
      targets: [{ peer: 'graphile-worker', ratio: 1.5 }],
    },
    {
      name: 'growth-1m',
      unit: 'ms',
      better: 'lower',
      figure: 'claimMs',
      measurement: growth,
      targets: [{ peer: few.label, ratio: 1.2 }],
      details: { buffers: 'shared buffers per claim', read: 'of them not in memory' },
    },
    { name: 'held-snapshot-reader', ...besideA('reader', heldBatches) },
    { name: 'held-snapshot-dump', ...besideA('dump', heldBatches) },
    { name: 'held-snapshot-writer', ...besideA('writer', heldBatches) },
    { name: 'held-snapshot-reader-singly', ...besideA('reader', heldSingly) },
    { name: 'held-snapshot-dump-singly', ...besideA('dump', heldSingly) },
    { name: 'held-snapshot-writer-singly', ...besideA('writer', heldSingly) },
    {
      name: 'memory',
      unit: 'MB',
      better: 'lower',
      figure: 'peakMb',
      measurement: memory,
      targets: [{ bound: 150 }],
      details: { drainMb: 'peak after the drain alone, MB' },
    },
  ],
};

/**
 * A template with the subject's schema and, if asked, jobs waiting in it.
 * @param {Bench} bench
 * @param {string} subject
 * @param {{ mode: string, jobs: number, bytes?: number, variant?: string }} content
 */
async function prepared(bench, subject, { mode, jobs, bytes = 0, variant }) {
  const schema = `${subject} ${mode}`;
  const empty = await bench.template(schema, null, (url) =>
    play(bench, subject, 'setup', { url, mode }),
  );
  if (jobs === 0) return empty;
  return bench.template(
    `${schema} ${jobs} ${bytes}${variant ? ` ${variant}` : ''}`,
    schema,
    (url) => play(bench, subject, 'seed', { url, mode, jobs, bytes, variant }),
  );
}

/** @param {Bench} bench @param {string} subject @param {string} role @param {object} options */
const play = (bench, subject, role, options) =>
  bench.start({ subject, roleFile, role, options }).finished;
